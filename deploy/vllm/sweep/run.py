"""Runs a phase of the sweep: `python -m deploy.vllm.sweep.run PHASE [--out DIR] [--url URL] …`; `list` names them.

Without --url each server of the phase is started from its profile, warmed by `tellerline doctor`, measured and stopped.
With --url the server that runs there is measured, under the name of the phase's first. The load comes from
`vllm bench serve`. DIR gets raw/*.json, PHASE.csv, PHASE.md and PHASE-*.svg: bars of every run, and curves over what
was varied.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from app.qa.doctor.examine import Patient, examine
from app.qa.doctor.findings import Report
from deploy.vllm.sweep import datasets
from deploy.vllm.sweep.gpu import Watch
from deploy.vllm.sweep.plan import LoadJob, Phase, Server, jobs, sweep
from deploy.vllm.sweep.plots import as_bars, as_curves
from deploy.vllm.sweep.report import Record, as_csv, as_table, record
from deploy.vllm.sweep.servers import Engine

RUN_S = 900
Generate = Callable[[list[str]], str]
"""Called with the arguments of `vllm bench serve`; gives the fault, "" where the result was left."""


def options(arguments: list[str]) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("phase")
    parser.add_argument("--out", type=Path, default=Path("out/sweep"))
    parser.add_argument("--url", default="")
    parser.add_argument("--model", default="google/gemma-4-E4B-it", help="the served name")
    parser.add_argument("--tokenizer", default="", help="a folder, where the served name can't be fetched")
    parser.add_argument("--bench", default="vllm bench serve", help="the load generator's command")
    parser.add_argument("--launcher", default="", help="stands in for `vllm serve`")
    parser.add_argument("--weights", default="", help="a local model folder to serve instead of the profile's")
    parser.add_argument("--more", default="", help="further flags of the server, as --load-format dummy")
    parser.add_argument("--prompts", type=int, default=0, help="fewer prompts a run, for a rehearsal")
    parser.add_argument("--only", default="", help="only runs whose name contains this")
    return parser.parse_args(arguments)


def measure(
    job: LoadJob, url: str, about: dict[str, object], given: argparse.Namespace, generate: Generate
) -> Record | None:
    """One `vllm bench serve`; None where it failed, which is told. `generate` runs it and gives its fault."""
    if given.prompts:
        job = job.model_copy(update={"flags": job.flags | {"num-prompts": given.prompts, "num-warmups": 1}})
    model = str(about["model"])
    argv = job.argv(url, model, given.tokenizer or model, given.out, datasets.schemas())
    found = given.out / "raw" / f"{job.key}.json"
    found.unlink(missing_ok=True)
    with Watch() as seen:
        fault = generate(argv)
    if fault or not found.is_file():
        print(f"{job.key}: failed\n{fault or 'it left no result'}", file=sys.stderr)
        return None
    varied = " ".join(f"{key}={value}" for key, value in job.varied.items())
    head = {"phase": job.phase, "server": job.server, "label": job.label, "varied": varied}
    row = record(json.loads(found.read_text(encoding="utf-8")), **head, **about, **seen.figures())
    print(f"{job.key}: e2el p50 {row['p50_e2el_ms']} p95 {row['p95_e2el_ms']} ms", flush=True)
    return row


def load(command: list[str]) -> str:
    """Run the load generator; its last words where it failed or did not end, "" where it did well."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=RUN_S, check=False)
    except subprocess.TimeoutExpired:
        return f"it did not end within {RUN_S} s"
    return done.stderr[-2000:] or f"exit status {done.returncode}" if done.returncode else ""


def examined(url: str, role: str, batch: int, log: Path | None, **about: object) -> dict[str, object]:
    """Warm a running server; what every row of it says of it, `about` among that."""
    report: Report = asyncio.run(examine(Patient(url, role, batch=batch, wait_s=30, log=log)))
    return {"attention": report.figures.get("attention_backend", "")} | about


def on_server(phase: Phase, server: Server, url: str, log: Path | None, given: argparse.Namespace) -> list[Record]:
    """Warm a running server, then every job of the phase."""
    weights = "random" if "dummy" in given.more else "real"
    about = examined(url, server.resolved().role, 4, log, weights=weights, model=given.model)
    every = (job for job in jobs(sweep().bench, phase, server) if given.only in job.key)
    wanted = [job for job in every if job.load == "bench"]  # what our own client asks, `whole` alone does
    rows = [measure(job, url, about, given, lambda argv: load([*shlex.split(given.bench), *argv])) for job in wanted]
    return [row for row in rows if row is not None]


def on_each(phase: Phase, given: argparse.Namespace) -> list[Record]:
    """Every server of the phase, one after another."""
    if given.url:
        return on_server(phase, phase.servers[0], given.url, None, given)
    rows: list[Record] = []
    for server in phase.servers:
        log = given.out / f"{phase.name}-{server.name}.log"
        launcher = given.launcher if server.resolved().engine == "vllm" else ""
        with Engine(server.resolved(), log, launcher=launcher, model=given.weights, more=given.more) as engine:
            if engine.ready():
                rows += on_server(phase, server, engine.url, log, given)
            else:
                print(f"{server.name} did not start: see {log}", file=sys.stderr)
    return rows


def write(phase: Phase, rows: list[Record], out: Path) -> None:
    """CSV, table and plots."""
    (out / f"{phase.name}.csv").write_text(as_csv(rows), encoding="utf-8")
    (out / f"{phase.name}.md").write_text(as_table(phase.title, rows), encoding="utf-8")
    for metric in ("ttft", "tpot", "e2el"):
        (out / f"{phase.name}-{metric}.svg").write_text(as_bars(phase.title, rows, metric), encoding="utf-8")
        if curves := as_curves(phase.title, rows, metric):
            (out / f"{phase.name}-{metric}-curves.svg").write_text(curves, encoding="utf-8")
    print(as_table(phase.title, rows))


def main(arguments: list[str]) -> int:
    """Run; 1 where nothing could be measured."""
    phases = sweep().phases
    if arguments[:1] in (["list"], []):
        print("\n".join(f"{name:12} {phase.title}" for name, phase in phases.items()))
        return 0
    given = options(arguments)
    phase = phases[given.phase]
    (given.out / "raw").mkdir(parents=True, exist_ok=True)
    if phase.command:
        return subprocess.run(shlex.split(phase.command.format(out=given.out)), check=False).returncode
    datasets.write(given.out / "data")
    rows = on_each(phase, given)
    write(phase, rows, given.out)
    return 0 if rows else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
