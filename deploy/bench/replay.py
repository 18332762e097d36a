"""`tellerline bench replay`: how much faster than real time a corpus is replayed, and what it scores."""

import os
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.qa.figures import Figure
from deploy.reporting import publish

if TYPE_CHECKING:
    from app.qa.replay.judging.score import Scores


def bench(
    manifest: Annotated[Path, typer.Argument(help="the corpus")] = Path("tests/data/corpus/manifest.jsonl.xz"),
    jobs: Annotated[int, typer.Option(min=1, help="processes")] = 2,
    json: Annotated[Path | None, typer.Option(help="write the figures here")] = None,
) -> None:
    """Replay the corpus twice: throughput of the first run, equality of both runs' decisions, scores, report."""
    from app.qa.replay.judging.score import score
    from app.qa.replay.manifests import readers
    from app.qa.replay.playing.house import PipelineSpec
    from app.qa.replay.playing.run import replay
    from app.qa.replay.records.journal import DECISIONS, REPORT, read_run
    from app.qa.replay.report.build import write_report
    from app.settings import read_settings

    corpus = readers.load(manifest)
    spec = PipelineSpec.of(read_settings(), corpus)
    with tempfile.TemporaryDirectory() as folder:
        outs = [Path(folder) / name for name in ("first", "second")]
        begin, used = time.perf_counter(), _cpu_s()
        results = replay(corpus, spec, outs[0], jobs=jobs)
        wall_s, cpu_s = time.perf_counter() - begin, _cpu_s() - used
        replay(corpus, spec, outs[1], jobs=jobs)
        same = (outs[0] / DECISIONS).read_bytes() == (outs[1] / DECISIONS).read_bytes()
        begin = time.perf_counter()
        scores = score(results)
        write_report(outs[0] / REPORT, read_run(outs[0]), corpus.base, scores)
        report_s, report_bytes = time.perf_counter() - begin, (outs[0] / REPORT).stat().st_size
    figures: dict[str, Figure] = {
        "audio_s": scores.audio_s,
        "wall_s": wall_s,
        "cpu_s": cpu_s,
        "times_real_time": scores.audio_s / wall_s,
        "audio_s_per_cpu_s": scores.audio_s / cpu_s,
        "decisions_identical": same,
        "report_s": report_s,
        "report_bytes": report_bytes,
        **_scored(scores),
    }
    workload = f"{scores.cases} calls, {scores.turns} turns of {manifest}, {jobs} processes, start and warm-up included"
    publish("replay", workload, figures, json)


def _scored(scores: "Scores") -> dict[str, float]:
    """Every ratio that has a value, and each stage's latency."""
    ratios = {f"{name}_ratio": ratio.value for name, ratio in scores.ratios.items() if ratio.value is not None}
    return ratios | {f"{n}_p{p}_ms": v for n, s in scores.latency.items() for p, v in ((50, s.p50_ms), (95, s.p95_ms))}


def _cpu_s() -> float:
    """Processor seconds of this process and of the children that have ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system
