"""The measuring session, rehearsed against FakeGemma: every step yields a table, and a fault costs only its own."""

import gzip
import json
import time
from pathlib import Path

import pytest

from deploy.vllm.gpu import ttft
from deploy.vllm.gpu.session import STEPS, Session, main, servers, steps
from deploy.vllm.serving import HERE
from tests.fakes.gemma import Body, FakeGemma, Reply, random_weights

KNOWN = set((HERE / "flags" / "vllm-serve-0.24.0.txt").read_text().split())
METRICS = """vllm:num_requests_running{m="x"} 0.0
vllm:time_to_first_token_seconds_sum{m="x"} 1.0
vllm:time_to_first_token_seconds_count{m="x"} 10.0
"""


def test_the_servers_are_started_with_flags_vllm_knows(tmp_path: Path) -> None:
    made = servers(tmp_path, tmp_path)
    assert set(made) == {"extraction", "qna", "fp8"}
    for profile in made.values():
        assert not [part for part in profile.flags() if part.startswith("--") and part not in KNOWN]
    drafting = made["qna"].args["speculative-config"]
    assert isinstance(drafting, dict)
    assert drafting["synthetic_acceptance_length"] == 1.8
    assert len({profile.port for profile in made.values()}) == 3
    assert sum(float(str(p.args["gpu-memory-utilization"])) for p in made.values()) < 0.9


def test_the_steps_fit_into_twelve_minutes_beside_a_cold_start() -> None:
    assert sum(needs for _, _, needs in STEPS) + 360 <= 700


async def test_a_rehearsal_fills_every_table(tmp_path: Path) -> None:
    async with FakeGemma(random_weights(5), METRICS) as server:
        urls = {"extraction": server.url, "qna": server.url, "fp8": server.url}
        session = Session(tmp_path, urls, time.monotonic() + 60, quick=True)
        await steps(session, "latency,adversarial,decode,profiler")
    assert not [title for title in session.tables if title.endswith("failed")], session.tables
    written = json.loads((tmp_path / "session.json").read_text())["tables"]
    end_to_end = written["extraction end to end"]
    assert [row["at once"] for row in end_to_end] == [1, 8, 16]
    assert all(row["unoffered"] == 0 and row["readable"] == row["requests"] for row in end_to_end)
    assert written["adversarial"][0]["not of the schema"] == 0
    assert "### extraction end to end" in (tmp_path / "session.md").read_text()


async def test_suspects_are_told_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def at_once(_: float) -> None:
        return None

    monkeypatch.setattr(ttft.asyncio, "sleep", at_once)
    async with FakeGemma(random_weights(5), METRICS) as server:
        session = Session(tmp_path, {"extraction": server.url}, time.monotonic() + 60, quick=True)
        await steps(session, "first_token")
    rows = session.tables["time to the first token, one suspect at a time"]
    assert len(rows) >= 12
    assert all(row["p50_ms"] > 0 for row in rows)


async def test_a_broken_step_costs_only_itself(tmp_path: Path) -> None:
    def half_broken(body: Body) -> Reply:
        return random_weights(5)(body) if "response_format" in body else Reply([b""], status=500)

    async with FakeGemma(half_broken) as server:
        session = Session(tmp_path, {"extraction": server.url}, time.monotonic() + 60, quick=True)
        await steps(session, "latency,decode")
    assert "decode failed" in session.tables
    assert "extraction end to end" in session.tables


async def test_what_does_not_fit_any_more_is_skipped(tmp_path: Path) -> None:
    session = Session(tmp_path, {"extraction": "http://127.0.0.1:9"}, time.monotonic() + 1)
    await steps(session, "")
    assert session.skipped == [name for name, _, _ in STEPS]


def test_a_trace_tells_how_long_the_gpu_was_idle(tmp_path: Path) -> None:
    events = [{"cat": "kernel", "ts": 0, "dur": 1000}, {"cat": "kernel", "ts": 3000, "dur": 1000}, {"cat": "cpu_op"}]
    (tmp_path / "a.pt.trace.json.gz").write_bytes(gzip.compress(json.dumps({"traceEvents": events}).encode()))
    assert ttft.kernels(tmp_path) == {"kernels": 2, "kernels_ms": 2.0, "span_ms": 4.0, "gpu_idle": 0.5}


def test_without_servers_the_session_says_so(tmp_path: Path) -> None:
    with pytest.raises(SystemExit):
        main(["--nonsense"])
