"""The measuring session, rehearsed against FakeGemma: every step yields a table, and a fault costs only its own."""

import gzip
import json
import os
import tarfile
import time
from pathlib import Path

import pytest

from deploy.vllm.flags import written
from deploy.vllm.gpu import answers, order, ttft
from deploy.vllm.gpu import session as sessions
from deploy.vllm.gpu import steps as measuring
from deploy.vllm.gpu.order import STEPS, Step, needed
from deploy.vllm.gpu.record import GpuSession
from deploy.vllm.gpu.servers import DRAFTED, NAMES, servers, stated
from deploy.vllm.gpu.session import collect, finished, main, started, steps, wait_for
from deploy.vllm.serving import load
from deploy.vllm.sweep.servers import Engine
from tests.fakes.gemma import Body, FakeGemma, Reply, random_weights, stream
from tests.fakes.http import Asked

KNOWN = written("vllm-serve", "0.24.0")
METRICS = """vllm:num_requests_running{m="x"} 0.0
vllm:time_to_first_token_seconds_sum{m="x"} 1.0
vllm:time_to_first_token_seconds_count{m="x"} 10.0
"""


def test_the_servers_are_started_with_flags_vllm_knows(tmp_path: Path) -> None:
    made = servers(tmp_path, tmp_path)
    assert tuple(made) == NAMES
    for profile in made.values():
        assert not [part for part in profile.flags() if part.startswith("--") and part not in KNOWN]
    assert len({profile.port for profile in made.values()}) == len(NAMES)
    assert all("127.0.0.1" in profile.flags() for profile in made.values())


def test_all_servers_fit_on_one_card(tmp_path: Path) -> None:
    """Weights and drafter 14.5 GiB and about 2 of graphs and workspace, as seen, beside each one's cache."""
    made = servers(tmp_path, tmp_path)
    each = [14.5 + 2 + int(str(profile.args["kv-cache-memory-bytes"])) / 1024**3 for profile in made.values()]
    assert sum(each) < 137
    last_one_free = 139 - sum(each[:-1])
    assert all(float(str(p.args["gpu-memory-utilization"])) * 140 < last_one_free for p in made.values())


def test_a_drafted_token_is_accepted_as_stated(tmp_path: Path) -> None:
    """vLLM wants one rate a position, of all before it being accepted as well, and none above the one before."""
    for name, drafted in DRAFTED.items():
        args = servers(tmp_path, tmp_path)[name].args
        drafting = args["speculative-config"]
        assert isinstance(drafting, dict)
        rates = drafting["synthetic_acceptance_rates"]
        assert drafting["num_speculative_tokens"] == len(rates) == drafted
        assert rates == sorted(rates, reverse=True)
        assert rates[0] == 0.8
        graphs = args["compilation-config"]
        assert isinstance(graphs, dict)
        assert set(graphs["cudagraph_capture_sizes"]) >= {batch * (drafted + 1) for batch in (1, 2, 4, 8, 16)}
    assert [round(stated(drafted), 2) for drafted in (0, 1, 2, 3, 4)] == [1, 1.8, 2.44, 2.95, 3.36]


def test_the_older_runner_is_measured_beside_the_shipped_one(tmp_path: Path) -> None:
    made = servers(tmp_path, tmp_path)
    runners = {name: made[name].env.get("VLLM_USE_V2_MODEL_RUNNER") for name in DRAFTED}
    assert runners == {"qna": "1", "qna_v1": "0", "qna3": "1", "qna3_v1": "0"}
    assert made["qna"].args == made["qna_v1"].args
    assert made["qna"].env.items() >= load("qna-h200").env.items()


def test_the_steps_fit_beside_a_cold_start() -> None:
    budget = sessions.options([]).budget_s
    assert sum(step.needs_s for step in STEPS) + sessions.START_S <= budget
    assert set(measuring.RUN) == {step.name for step in STEPS}


def test_only_the_servers_that_the_steps_ask_are_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "engine", lambda name, _: name)
    monkeypatch.setattr(sessions, "APART_S", 0.0)
    assert needed("") == list(NAMES)
    assert needed("warm") == []
    assert list(started(sessions.options(["--only", "qna,decode"]))) == ["extraction", "qna", "qna_v1", "fp8"]
    assert needed("mtp,plain") == ["extraction", "qna", "qna_v1", "qna3", "qna3_v1", "plain"]
    assert list(started(sessions.options(["--only", "mtp", "--servers", "qna3,extraction"]))) == ["qna3", "extraction"]
    for wrong in (["--only", "qna,decide"], ["--servers", "qna4"]):
        with pytest.raises(SystemExit):
            sessions.options(wrong)


async def test_a_rehearsal_fills_every_table(tmp_path: Path) -> None:
    async with FakeGemma(random_weights(5), METRICS) as server:
        session = GpuSession(tmp_path, dict.fromkeys(NAMES, server.url), time.monotonic() + 60, quick=True)
        await steps(session, "latency,adversarial,qna,decode,load,profiler")
    assert not [title for title in session.tables if title.endswith("failed")], session.tables
    written = json.loads((tmp_path / "session.json").read_text())["tables"]
    end_to_end = written["extraction end to end"]
    assert [row["at once"] for row in end_to_end] == [1, 8, 16]
    assert all(row["unoffered"] == 0 and row["readable"] == row["requests"] for row in end_to_end)
    assert written["adversarial"][0]["not of the schema"] == 0
    assert len(written["load and prefix cache"]) == 10
    assert all(row["told"] == row["generated"] > 0 for row in written[answers.SUMMARY])
    said = written["what the weights say unconstrained"]
    assert [row["server"] for row in said] == ["qna", "qna_v1", "extraction"]
    assert all(row["text"] != "''" for row in said)
    paced = next(rows for title, rows in written.items() if title.startswith("decode"))
    assert [row["server"] for row in paced[::2]] == ["extraction", "qna", "fp8"]
    assert "### extraction end to end" in (tmp_path / "session.md").read_text()
    assert json.loads((tmp_path / "session.json").read_text())["done"]


async def test_answers_without_text_have_a_first_token(tmp_path: Path) -> None:
    """Random weights write special tokens on the real prompt: they are timed, and told apart from words."""
    special = stream(*[""] * 48, finish="length", drip_s=0.002)

    def behave(body: Body) -> Reply:
        return special if body.get("stream") else random_weights(5)(body)

    async with FakeGemma(behave, METRICS) as server:
        session = GpuSession(tmp_path, {"extraction": server.url}, time.monotonic() + 60, quick=True)
        await steps(session, "qna")
        assert not session.skipped
        asked = [body for body in server.requests if body.get("max_tokens") == answers.TOKENS]
    prompts = {body["messages"][-1]["content"] for body in asked}
    rows = session.tables[answers.SUMMARY]
    assert [(row["at once"], row["told"]) for row in rows] == [(1, 0), (4, 0), (8, 0)]
    assert all(row["generated"] == row["answers"] > 0 and row["first token p95_ms"] >= 2 for row in rows)
    assert len(prompts) > 1
    assert all(prompt.startswith("[1] (") for prompt in prompts)


async def test_a_cold_start_shows_in_the_first_round_of_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each round asks other questions in a cache of its own; its first question fills that and is not counted."""
    monkeypatch.setattr(answers, "AT_ONCE", (1, 4))
    monkeypatch.setattr(answers, "COUNT", 8)
    cold = iter([0.0, 0.0, 0.25])

    def behave(body: Body) -> Reply:
        drip_s = next(cold, 0.0) if body["cache_salt"] == "round 0 of 4" else 0.0
        return stream(*[""] * 2, finish="length", drip_s=drip_s)

    async with FakeGemma(behave) as server:
        session = GpuSession(tmp_path, {"qna": server.url}, time.monotonic() + 60)
        await answers.measure(session, "fake-gemma")
        asked = [(body["cache_salt"], body["messages"][-1]["content"]) for body in server.requests]
    salts = [f"round {turn} of {at_once}" for turn in range(answers.ROUNDS) for at_once in (1, 4)]
    prompts = [[prompt for own, prompt in asked if own == salt] for salt in salts]
    assert [len(set(own)) for own in prompts] == [9] * len(salts)
    assert len({prompt for own in prompts for prompt in own}) == 9 * answers.ROUNDS
    rows = session.tables[answers.EVERY]
    assert [row["place"] for row in rows] == list(range(8)) * len(salts)
    slow = [(row["round"], row["at once"], row["place"]) for row in rows if row["first token_ms"] >= 250]
    assert slow == [(1, 4, 1)]
    by_number = {row["at once"]: row for row in session.tables[answers.SUMMARY]}
    assert by_number[4]["slowest_ms"] >= 250 > by_number[1]["slowest_ms"]
    assert by_number[4]["first round p95_ms"] > 100 > by_number[4]["later p95_ms"]


async def test_suspects_are_told_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def at_once(_: float) -> None:
        return None

    monkeypatch.setattr(ttft.asyncio, "sleep", at_once)
    async with FakeGemma(random_weights(5), METRICS) as server:
        session = GpuSession(tmp_path, {"extraction": server.url}, time.monotonic() + 60, quick=True)
        await steps(session, "first_token")
    rows = session.tables["time to the first token, one suspect at a time"]
    assert len(rows) >= 14
    assert {row["what"] for row in rows} >= ttft.TELLING
    assert all(row["p50_ms"] > 0 for row in rows)


async def test_a_broken_step_costs_only_itself(tmp_path: Path) -> None:
    def half_broken(body: Body) -> Reply:
        return random_weights(5)(body) if "response_format" in body else Reply([b""], status=500)

    async with FakeGemma(half_broken) as server:
        session = GpuSession(tmp_path, {"extraction": server.url}, time.monotonic() + 60, quick=True)
        await steps(session, "latency,decode")
    assert "decode failed" in session.tables
    assert "extraction end to end" in session.tables


async def test_what_does_not_fit_any_more_is_skipped(tmp_path: Path) -> None:
    session = GpuSession(tmp_path, {"extraction": "http://127.0.0.1:9"}, time.monotonic() + 1)
    await steps(session, "")
    assert session.skipped == [step.name for step in STEPS]


async def test_a_step_whose_servers_are_not_up_is_skipped(tmp_path: Path) -> None:
    session = GpuSession(tmp_path, {"qna": "http://127.0.0.1:9"}, time.monotonic() + 900)
    await steps(session, "plain,profiler,latency")
    assert session.skipped == ["plain", "profiler", "latency"]
    assert not session.tables


def test_a_trace_tells_how_long_the_gpu_was_idle(tmp_path: Path) -> None:
    events = [{"cat": "kernel", "ts": 0, "dur": 1000}, {"cat": "kernel", "ts": 3000, "dur": 1000}, {"cat": "cpu_op"}]
    (tmp_path / "a.pt.trace.json.gz").write_bytes(gzip.compress(json.dumps({"traceEvents": events}).encode()))
    assert ttft.kernels(tmp_path) == {"kernels": 2, "kernels_ms": 2.0, "span_ms": 4.0, "gpu_idle": 0.5}


class Profiled(FakeGemma):
    """A server with torch's profiler: each stop leaves a trace of as many kernels as it was asked requests."""

    def __init__(self, trace: Path) -> None:
        super().__init__(random_weights(5))
        self.trace = trace

    def _route(self, asked: Asked) -> Reply:
        if asked.path == "/start_profile":
            self.requests.clear()
            return Reply([b""])
        if asked.path == "/stop_profile":
            events = [{"cat": "kernel", "ts": 10 * place, "dur": 5} for place in range(len(self.requests))]
            self.trace.write_text(json.dumps({"traceEvents": events}))
            return Reply([b""])
        return super()._route(asked)


async def test_the_profiler_sees_requests_with_the_prefix_cached_and_without(tmp_path: Path) -> None:
    (tmp_path / "trace-extraction").mkdir()
    async with Profiled(tmp_path / "trace-extraction" / "one.json") as server:
        session = GpuSession(tmp_path, {"extraction": server.url}, time.monotonic() + 60)
        await steps(session, "profiler")
        salts = [body.get("cache_salt") for body in server.requests]
    rows = session.tables["five one-token requests under the profiler"]
    assert [(row["prefix cache"], row["kernels"]) for row in rows] == [("on", 5), ("off", 5)]
    assert len(set(salts)) == 5
    assert not server.trace.exists()


def test_an_unknown_option_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SystemExit):
        main(["--nonsense"])


def test_what_is_not_known_is_written_as_nothing(tmp_path: Path) -> None:
    GpuSession(tmp_path, {}, time.monotonic() + 60).add("rows", {"a": float("nan"), "b": 0.806, "c": 22.44})
    assert json.loads((tmp_path / "session.json").read_text())["tables"]["rows"] == [
        {"a": None, "b": 0.806, "c": 22.44}
    ]
    assert "|  | 0.81 | 22.4 |" in (tmp_path / "session.md").read_text()


async def test_a_step_that_takes_too_long_keeps_its_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def slow(session: GpuSession) -> None:
        session.add("rows", {"first": 1})
        await ttft.asyncio.sleep(60)

    monkeypatch.setattr(order, "STEPS", (Step("slow", 0.1, ()),))
    monkeypatch.setattr(measuring, "RUN", {"slow": slow})
    monkeypatch.setattr(sessions, "LEAST_S", 0.2)
    await steps(GpuSession(tmp_path, {}, time.monotonic() + 60), "")
    written = json.loads((tmp_path / "session.json").read_text())["tables"]
    assert written["rows"] == [{"first": 1}]
    assert "TimeoutError" in written["slow failed"][0]["error"]


class Never(Engine):
    """A server that does not come up."""

    def __init__(self) -> None:
        self.stopped = False

    def ready(self, within_s: float = 0.0) -> bool:
        return False

    def stop(self) -> None:
        self.stopped = True


def test_a_server_that_does_not_come_up_is_stopped_and_left_out() -> None:
    absent = Never()
    assert wait_for({"fp8": absent}, time.monotonic()) == {}
    assert absent.stopped


def test_a_session_with_all_its_rows_is_over_while_its_servers_end(tmp_path: Path) -> None:
    (tmp_path / "session.pid").write_text(str(os.getpid()))
    assert not finished(tmp_path)
    session = GpuSession(tmp_path, {}, time.monotonic() + 60)
    session.save()
    assert not finished(tmp_path)
    session.done = True
    session.save()
    assert finished(tmp_path)


def test_a_detached_session_is_collected_while_it_runs_and_when_it_is_over(tmp_path: Path) -> None:
    out, to = tmp_path / "out", tmp_path / "to"
    nobody = "http://127.0.0.1:9"
    assert main(["--out", str(out), "--extraction", nobody, "--quick", "--only", "shapes", "--detach"]) == 0
    assert collect(out, to, 0.0) == 3
    assert collect(out, to, 60.0) == 0
    assert json.loads((to / "session.json").read_text())["done"]
    assert "shapes:" in (to / "session.log").read_text()
    with tarfile.open(to / "logs.tar.gz") as archive:
        assert archive.getnames() == ["session.log"]
    assert len(list(to.iterdir())) == 4
