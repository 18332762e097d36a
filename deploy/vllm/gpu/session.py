"""One session on one H200 that yields every figure the endpoints promise, within 12 minutes.

`python -m deploy.vllm.gpu.session --payload DIR --out DIR` starts three servers side by side on the card from their
profiles (extraction in BF16, extraction with FP8 weights, QnA with drafting), full-size with random weights, waits for
them, and measures in the order of importance until the budget is spent. Tables go to the screen and to session.md,
every figure to session.json after every step, so that a session cut off keeps what it had.

With --extraction URL (and --qna, --fp8) nothing is started and what runs there is measured: that is the rehearsal.
DIR of --payload holds `site` (vLLM's packages), `fa4` and `models`; see README.md.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import shutil
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from app.qa.bench._offers import offers
from app.qa.bench._report import percentile
from app.qa.bench.extraction import SHAPES, measure
from app.qa.doctor.client import Endpoint
from app.qa.doctor.examine import Patient, examine
from deploy.vllm.gpu import ttft
from deploy.vllm.serving import Profile
from deploy.vllm.sweep.gpu import Watch
from deploy.vllm.sweep.plan import Server
from deploy.vllm.sweep.servers import Engine
from schemas.extraction import Fallback
from services.clock import SystemClock
from services.guard.breaker import BreakerLimits, CircuitBreaker
from services.understand.extract import Endpoint as ExtractionEndpoint
from services.understand.extract import GemmaExtractor

MODEL = "google/gemma-4-E4B-it"
ACCEPTANCE = 1.8
GOALS = {1: 180, 8: 260, 16: 400}
Row = dict[str, Any]


@dataclass
class Session:
    """What is measured against, what is left of the time, and what was found."""

    out: Path
    urls: dict[str, str]
    until: float
    quick: bool = False
    tokenizer: Path | None = None
    tables: dict[str, list[Row]] = field(default_factory=dict)
    skipped: list[str] = field(default_factory=list)

    @property
    def left_s(self) -> float:
        """Seconds of the budget that are left."""
        return self.until - time.monotonic()

    def count(self, full: int) -> int:
        """How many requests a step sends; few in a rehearsal."""
        return max(2, full // 20) if self.quick else full

    def save(self) -> None:
        """Write what is known so far."""
        body = {"tables": self.tables, "skipped": self.skipped, "urls": self.urls}
        (self.out / "session.json").write_text(json.dumps(body, indent=1, ensure_ascii=False), encoding="utf-8")
        text = "\n".join(table(title, rows) for title, rows in self.tables.items())
        (self.out / "session.md").write_text(text, encoding="utf-8")


def table(title: str, rows: list[Row]) -> str:
    """A Markdown table of rows that share their keys."""
    columns = list(dict.fromkeys(key for row in rows for key in row))
    lines = [f"### {title}", "", "| " + " | ".join(columns) + " |", "|" + " --- |" * len(columns)]
    for row in rows:
        cells = [f"{v:.1f}" if isinstance(v := row.get(c, ""), float) else str(v) for c in columns]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


async def doctor(session: Session) -> None:
    """Warm and examine; the log names the attention backend."""
    log = session.out / "extraction.log"
    batch = 2 if session.quick else 16
    patient = Patient(session.urls["extraction"], batch=batch, wait_s=5, log=log if log.is_file() else None)
    report = await examine(patient)
    session.tables["doctor: extraction"] = [
        {"what": f.subject, "": f.health.value, "found": f.said} for f in report.findings
    ]


async def latency(session: Session) -> None:
    """The promise: end to end through our own client, real prompt, new candidates in every request."""
    rows = []
    for at_once, goal in GOALS.items():
        endpoint = ExtractionEndpoint(session.urls["extraction"], MODEL, deadline_s=20, in_flight=at_once)
        cases = offers(session.count(160), seed=at_once)
        await measure(endpoint, cases[: 2 * at_once], at_once)
        with Watch() as seen:
            run = await measure(endpoint, cases, at_once)
        row: Row = {"at once": at_once, "goal p95 ms": goal}
        row |= {f"p{q}_ms": percentile(run.elapsed_ms, q) for q in (50, 95, 99)}
        row |= {"requests": len(cases), "readable": run.ends["readable"], "unoffered": run.ends["unoffered"]}
        rows.append(row | {"prompt tokens": run.prompt_tokens, "answer tokens": run.answer_tokens} | seen.figures())
    session.tables["extraction end to end"] = rows


async def adversarial(session: Session) -> None:
    """200 hostile prompts: every answer of the schema, nothing unknown, no amount that was not said."""
    sys.path.insert(0, str(Path(__file__).parents[3]))
    from tests.contract.extractor_suite import CUSTOMER, adversarial_cases, check

    clock = SystemClock()
    endpoint = ExtractionEndpoint(session.urls["extraction"], MODEL, deadline_s=60, in_flight=8)
    extractor = GemmaExtractor(endpoint, CircuitBreaker(clock, BreakerLimits(failures=10**6)), clock)
    cases = adversarial_cases(session.count(200))
    got = await asyncio.gather(*(extractor.extract(CUSTOMER, case.offer) for case in cases[: 8 + 40]))
    for case in cases[48:]:
        got.append(await extractor.extract(CUSTOMER, case.offer))
    await extractor.close()
    for case, extraction in zip(cases, got, strict=True):
        check(case, extraction)
    unreadable = sum(extraction.fallback is Fallback.UNREADABLE for extraction in got)
    session.tables["adversarial"] = [{"prompts": len(got), "not of the schema": unreadable, "not offered": 0}]


async def first_token(session: Session) -> None:
    """Where the fixed cost goes."""
    async with Endpoint(session.urls["extraction"]) as endpoint:
        with Watch(every_s=0.2) as seen:
            rows = await ttft.suspects(endpoint, MODEL, session.count(40))
        session.tables["time to the first token, one suspect at a time"] = rows
        session.tables["clocks meanwhile"] = [dict(seen.figures())]


async def profiler(session: Session) -> None:
    """Five one-token requests under torch's profiler, where the server was started with one."""
    trace = session.out / "trace"
    async with Endpoint(session.urls["extraction"], timeout_s=120) as endpoint:
        if not (await endpoint.ask("POST", "/start_profile")).is_success:
            return
        taken = await ttft.timed(5, lambda n: endpoint.chat(**ttft.request(MODEL, 10_000 + n)))
        await endpoint.ask("POST", "/stop_profile")
    await asyncio.sleep(5)
    session.tables["five one-token requests under the profiler"] = [
        {"client_ms": sum(taken)} | await asyncio.to_thread(ttft.kernels, trace)
    ]
    shutil.rmtree(trace, ignore_errors=True)


async def shapes(session: Session) -> None:
    """Every shape of answer at its canonical length, free, so that only the length differs."""
    from tokenizers import Tokenizer

    if session.tokenizer is None:
        return
    tokenizer = Tokenizer.from_file(str(session.tokenizer))
    rows = []
    async with Endpoint(session.urls["extraction"]) as endpoint:
        for name, text in SHAPES.items():
            tokens = len(tokenizer.encode(text, add_special_tokens=False).ids) + 1
            taken = await ttft.timed(
                session.count(20), lambda n, t=tokens: endpoint.chat(**ttft.request(MODEL, n, tokens=t))
            )
            rows.append({"shape": name, "tokens with end": tokens, "p50_ms": percentile(taken, 50)})
    session.tables["shapes of the answer, by their length"] = rows


async def decode(session: Session) -> None:
    """Milliseconds a token: BF16, FP8 weights, and with the drafter at a stated acceptance; first token of QnA."""
    rows = []
    for name in ("extraction", "fp8", "qna"):
        if name not in session.urls:
            continue
        async with Endpoint(session.urls[name]) as endpoint:
            rows += [await _pace(endpoint, name, tokens, session.count(12)) for tokens in (128, 256)]
    session.tables[f"decode pace; the drafter's acceptance is synthetic, {ACCEPTANCE} tokens a step"] = rows


async def _pace(endpoint: Endpoint, name: str, tokens: int, count: int) -> Row:
    await ttft.timed(2, lambda n: endpoint.chat(**ttft.request(MODEL, n, tokens=tokens)))
    one = await ttft.timed(count, lambda n: endpoint.chat(**ttft.request(MODEL, 500 + n)))
    many = await ttft.timed(count, lambda n: endpoint.chat(**ttft.request(MODEL, 900 + n, tokens=tokens)))
    pace = (percentile(many, 50) - percentile(one, 50)) / (tokens - 1)
    return {
        "server": name,
        "tokens": tokens,
        "first token p50_ms": percentile(one, 50),
        "first token p95_ms": percentile(one, 95),
        "all p50_ms": percentile(many, 50),
        "ms a token": pace,
        "tokens a second": 1000 / pace if pace > 0 else 0.0,
    }


STEPS: tuple[tuple[str, Callable[[Session], Awaitable[None]], float], ...] = (
    ("doctor", doctor, 60),
    ("latency", latency, 40),
    ("adversarial", adversarial, 25),
    ("first_token", first_token, 60),
    ("decode", decode, 60),
    ("shapes", shapes, 20),
    ("profiler", profiler, 45),
)
"""In the order of importance, with the seconds each needs; one that would not fit any more is skipped."""


def servers(payload: Path, out: Path) -> dict[str, Profile]:
    """The three servers. A fixed cache size spares them the memory profiling that would clash on one card."""
    side = {"gpu-memory-utilization": 0.28, "kv-cache-memory-bytes": "8G"}
    trace = {"profiler": "torch", "torch_profiler_dir": str(out / "trace"), "torch_profiler_with_stack": False}
    drafter = {
        "model": str(payload / "models" / "e4b-assistant"),
        "rejection_sample_method": "synthetic",
        "synthetic_acceptance_length": ACCEPTANCE,
    }
    env = {
        "PYTHONPATH": f"{payload}/site:{payload}/fa4/nvidia_cutlass_dsl/python_packages:{payload}/fa4",
        "HF_HUB_OFFLINE": "1",
        "TRANSFORMERS_OFFLINE": "1",
        "VLLM_USE_FLASHINFER_SAMPLER": "0",
        "VLLM_CACHE_ROOT": f"{payload}/cache",
    }
    chosen = (
        Server(name="extraction", profile="extraction-h200", args=side | {"profiler-config": trace}),
        Server(name="qna", profile="qna-h200", args=side, speculative=drafter),
        Server(name="fp8", profile="extraction-h200-fp8", args=side),
    )
    made = {}
    for place, server in enumerate(chosen):
        profile = server.resolved()
        made[server.name] = profile.model_copy(update={"port": 8101 + place, "env": profile.env | env})
    return made


def started(given: argparse.Namespace) -> dict[str, Engine]:
    """The servers, starting side by side, a few seconds apart."""
    payload = Path(given.payload)
    engines = {}
    for name, profile in servers(payload, given.out).items():
        engine = Engine(
            profile,
            given.out / f"{name}.log",
            launcher=f"{given.python} -m vllm.entrypoints.cli.main serve",
            model=str(payload / "models" / "e4b"),
            more="--load-format dummy",
        )
        engines[name] = engine.start()
        time.sleep(5)
    return engines


async def steps(session: Session, only: str) -> None:
    """Every step that fits."""
    for name, step, needs_s in STEPS:
        if only and name not in only.split(","):
            continue
        if session.left_s < needs_s and not session.quick:
            session.skipped.append(name)
            continue
        began = time.monotonic()
        try:
            async with asyncio.timeout(max(needs_s * 2, 30) if not session.quick else 600):
                await step(session)
        except Exception as error:  # noqa: BLE001 - one step's fault must not cost the others' figures
            session.tables[f"{name} failed"] = [{"error": f"{type(error).__name__}: {error}"[:300]}]
        print(f"{name}: {time.monotonic() - began:.0f} s, {session.left_s:.0f} s left", flush=True)
        session.save()


def options(arguments: list[str]) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--payload", default="", help="vLLM's packages and the models, see README.md")
    parser.add_argument("--out", type=Path, default=Path("out/gpu"))
    parser.add_argument("--python", default="python3", help="the interpreter that runs vLLM")
    parser.add_argument("--budget-s", type=float, default=700.0)
    parser.add_argument("--extraction", default="")
    parser.add_argument("--qna", default="")
    parser.add_argument("--fp8", default="")
    parser.add_argument("--tokenizer", type=Path, default=None, help="a tokenizer.json, where --payload has none")
    parser.add_argument("--only", default="", help="steps, comma-separated")
    parser.add_argument("--quick", action="store_true", help="few requests, no skipping: a rehearsal")
    return parser.parse_args(arguments)


def main(arguments: list[str]) -> int:
    """Run the session; 1 where the extraction server could not be measured."""
    given = options(arguments)
    given.out.mkdir(parents=True, exist_ok=True)
    until = time.monotonic() + given.budget_s
    urls = {name: url for name in ("extraction", "qna", "fp8") if (url := getattr(given, name))}
    engines = {} if urls else started(given)
    try:
        for name, engine in engines.items():
            if engine.ready(within_s=max(10.0, until - time.monotonic() - 200)):
                urls[name] = engine.url
            print(
                f"{name}: {'ready' if name in urls else 'not ready'}, {until - time.monotonic():.0f} s left", flush=True
            )
        if "extraction" not in urls:
            print((given.out / "extraction.log").read_text(errors="replace")[-4000:])
            return 1
        tokenizer = given.tokenizer or Path(given.payload) / "models" / "e4b" / "tokenizer.json"
        session = Session(given.out, urls, until, given.quick, tokenizer if tokenizer.is_file() else None)
        asyncio.run(steps(session, given.only))
        print((given.out / "session.md").read_text(encoding="utf-8"))
    finally:
        for engine in engines.values():
            engine.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
