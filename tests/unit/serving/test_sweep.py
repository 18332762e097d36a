"""The sweep: its plan multiplies out as written, its commands are ones vllm bench knows, its report reads back."""

import asyncio
import csv
import io
import json
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from deploy.vllm.flags import written
from deploy.vllm.sweep import datasets
from deploy.vllm.sweep.plan import LoadJob, jobs, sweep
from deploy.vllm.sweep.plots import as_bars, as_curves
from deploy.vllm.sweep.report import COLUMNS, as_csv, as_table, record
from deploy.vllm.sweep.run import load, main
from tests.fakes.gemma import FakeGemma

SWEEP = sweep()
SVG = "{http://www.w3.org/2000/svg}"
BENCH = written("vllm-bench-serve", "0.24.0")
SERVE = written("vllm-serve", "0.24.0")
EVERY = [job for phase in SWEEP.phases.values() for server in phase.servers for job in jobs(SWEEP.bench, phase, server)]
RAW = {
    "completed": 40, "failed": 0, "total_input_tokens": 100, "total_output_tokens": 200, "output_throughput": 12.5,
    "median_ttft_ms": 50.0, "p50_ttft_ms": 50.0, "p95_ttft_ms": 60.0, "p99_ttft_ms": 70.0,
    "p50_e2el_ms": 80.0, "p95_e2el_ms": 95.5, "p99_e2el_ms": 99.0,
    "spec_decode_acceptance_length": 1.8, "spec_decode_per_position_acceptance_rates": [0.8, 0.0],
}  # fmt: skip


def argv(job: LoadJob) -> list[str]:
    return job.argv("http://127.0.0.1:1", "m", "m", Path("out"), datasets.schemas())


def test_every_phase_of_the_plan_is_there() -> None:
    assert list(SWEEP.phases)[:6] == ["text", "structured", "prompt", "audio", "engines", "qna"]
    assert {"concurrency", "cache", "precision"} <= set(SWEEP.phases)
    text = [job for job in EVERY if job.phase == "text"]
    assert len(text) == 20
    assert {(j.flags["random-input-len"], j.flags["random-output-len"]) for j in text} >= {(128, 16), (4096, 128)}
    drafts = {s.name: s.resolved().args.get("speculative-config") for s in SWEEP.phases["qna"].servers}
    assert drafts["mtp-off"] is None
    assert [drafts[f"mtp-{n}"]["num_speculative_tokens"] for n in (1, 2, 3, 4)] == [1, 2, 3, 4]
    assert {j.flags["max-concurrency"] for j in EVERY if j.phase == "concurrency"} == {1, 2, 4, 8, 16}


def test_every_run_has_a_name_of_its_own() -> None:
    assert len({job.key for job in EVERY}) == len(EVERY)


@pytest.mark.parametrize("job", EVERY, ids=lambda j: j.key)
def test_vllm_bench_knows_every_flag(job: LoadJob) -> None:
    assert not [part for part in argv(job) if part.startswith("--") and part not in BENCH]
    body = json.loads(argv(job)[argv(job).index("--extra-body") + 1])
    assert body["chat_template_kwargs"] == {"enable_thinking": False}
    assert ("response_format" in body) == bool(job.schema_name)


def test_vllm_knows_every_override_of_a_server() -> None:
    for phase in SWEEP.phases.values():
        for server in phase.servers:
            profile = server.resolved()
            if profile.engine == "vllm":
                assert not [part for part in profile.flags() if part.startswith("--") and part not in SERVE]


def test_datasets_are_the_services_own_prompts(tmp_path: Path) -> None:
    datasets.write(tmp_path)
    wanted = {job.dataset for job in EVERY if job.dataset}
    assert wanted <= {path.stem for path in tmp_path.glob("*.jsonl")}
    for name in wanted:
        lines = (tmp_path / f"{name}.jsonl").read_text().splitlines()
        assert len(lines) == datasets.COUNT
        assert json.loads(lines[0])["prompt"].startswith("You ")
    assert len(datasets.schemas()["line"]["enum"]) > 40


def test_a_record_keeps_the_figures_and_the_report_reads_back() -> None:
    row = record(RAW, phase="qna", server="mtp-2", label="answers", varied="custom-output-len=128", attention="FA4")
    (read,) = csv.DictReader(io.StringIO(as_csv([row])))
    assert list(read) == list(COLUMNS)
    assert (read["p95_e2el_ms"], read["acceptance"], read["attention"]) == ("95.5", "0.800 0.000", "FA4")
    assert "| mtp-2 | answers |" in as_table("t", [row])
    svg = ET.fromstring(as_bars("a < b & c", [row, row]))
    assert len(svg.findall(f"{SVG}rect")) == 1 + 4


def measured(server: str, varied: str, p95_ms: float) -> dict[str, Any]:
    return record(RAW | {"p95_e2el_ms": p95_ms}, server=server, label="line", varied=varied)


def test_a_curve_is_drawn_for_each_setting_over_what_was_varied_first() -> None:
    rows = [
        measured("a<b", f"random-input-len={x} random-output-len={y}", x / 10 + y) for x in (512, 128) for y in (16, 32)
    ]
    svg = ET.fromstring(as_curves("t", rows))
    lines = svg.findall(f"{SVG}polyline")
    assert len(lines) == 2
    first, second = ([float(x) for x in point.split(",")] for point in lines[0].attrib["points"].split())
    assert first[0] < second[0], "128 lies left of 512"
    assert first[1] > second[1], "a longer time lies higher"
    told = [text.text for text in svg.findall(f"{SVG}text")]
    assert "a<b line random-output-len=16" in told
    assert {"128", "512"} <= set(told)


@pytest.mark.parametrize("varied", ["", "dataset=x", "max-concurrency=8"])
def test_without_two_points_there_is_no_curve(varied: str) -> None:
    assert not as_curves("t", [measured("s", varied, 5.0)])


LOAD = """
import json, pathlib, sys
given = dict(zip(sys.argv[1:], sys.argv[2:]))
if given["--max-concurrency"] == "4":
    sys.exit("no more sockets")
name = pathlib.Path(given["--result-dir"], given["--result-filename"])
name.write_text(json.dumps(RAW | {"p95_e2el_ms": 10.0 * int(given["--max-concurrency"])}))
"""


async def test_a_phase_is_one_command_and_a_failed_run_costs_only_itself(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = tmp_path / "load.py"
    script.write_text(f"RAW = {RAW!r}\n{LOAD}")
    async with FakeGemma() as server:
        given = ["--url", server.url, "--out", str(tmp_path / "out"), "--bench", f"{sys.executable} {script}"]
        assert await asyncio.to_thread(main, ["concurrency", *given]) == 0
    rows = list(csv.DictReader(io.StringIO((tmp_path / "out" / "concurrency.csv").read_text())))
    assert [row["varied"] for row in rows] == [f"max-concurrency={n}" for n in (1, 2, 8, 16)]
    assert "no more sockets" in capsys.readouterr().err
    assert "| max-concurrency=16 |" in (tmp_path / "out" / "concurrency.md").read_text()
    drawn = {path.name for path in (tmp_path / "out").glob("*.svg")}
    assert drawn >= {"concurrency-e2el.svg", "concurrency-e2el-curves.svg", "concurrency-ttft.svg"}


def test_a_load_that_does_not_end_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deploy.vllm.sweep.run.RUN_S", 0.2)
    assert "did not end" in load([sys.executable, "-c", "import time; time.sleep(30)"])
    monkeypatch.setattr("deploy.vllm.sweep.run.RUN_S", 60)
    assert load([sys.executable, "-c", "pass"]) == ""


def test_the_command_lists_phases(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list"]) == 0
    assert "6: answers with drafting off and on" in capsys.readouterr().out
