"""The measurements of a GPU session, in the order of their worth. Each adds its rows as it has them."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable
from functools import partial

from app.qa.doctor.client import Endpoint, cached_tokens
from app.qa.doctor.examine import Patient, examine
from app.qa.doctor.warm import STALL_MS
from deploy.bench.extraction import SHAPES, measure
from deploy.reporting import percentile
from deploy.vllm.gpu import answers, drafting, ttft
from deploy.vllm.gpu.order import ANSWERING
from deploy.vllm.gpu.record import GpuSession, Row
from deploy.vllm.random_weights import EACH
from deploy.vllm.sweep.gpu import Watch
from deploy.vllm.sweep.own import hostile
from services.understanding.extraction.extract import ExtractionEndpoint

MODEL = "google/gemma-4-E4B-it"
GOALS = {1: 180, 8: 260, 16: 400}


async def doctor(session: GpuSession) -> None:
    """Warm and examine; the log names the attention backend."""
    log = session.out / "extraction.log"
    batch = 2 if session.quick else 16
    patient = Patient(session.urls["extraction"], batch=batch, wait_s=5, log=log if log.is_file() else None)
    report = await examine(patient)
    rows: list[Row] = [{"what": f.subject, "": f.health.value, "found": f.said} for f in report.findings]
    session.add("doctor: extraction", *rows)


async def latency(session: GpuSession, server: str = "extraction", full: int = 160) -> None:
    """The promise: end to end through our own client, real prompt, new candidates in every request; no stall left."""
    from app.qa.doctor.offers import offers

    for at_once, goal in GOALS.items():
        endpoint = ExtractionEndpoint(session.urls[server], MODEL, deadline_s=20, in_flight=at_once)
        cases = offers(session.count(full), seed=at_once)
        await measure(endpoint, cases[: 2 * at_once], at_once)
        with Watch() as seen:
            run = await measure(endpoint, cases, at_once)
        row: Row = {"server": server, "at once": at_once, "goal p95 ms": goal}
        row |= {f"p{q}_ms": percentile(run.elapsed_ms, q) for q in (50, 95, 99)}
        row |= {"slowest_ms": max(run.elapsed_ms, default=0.0)}
        row |= {"stalls": sum(t > row["p50_ms"] + STALL_MS for t in run.elapsed_ms)}
        row |= {"requests": len(cases), "readable": run.ends["readable"], "unoffered": run.ends["unoffered"]}
        row |= {"prompt tokens": run.prompt_tokens, "answer tokens": run.answer_tokens} | seen.figures()
        session.add("extraction end to end", row)


async def adversarial(session: GpuSession) -> None:
    """200 hostile prompts: every answer of the schema, nothing unknown, no amount that was not said."""
    found = await hostile(session.urls["extraction"], MODEL, session.count(200))
    session.add(
        "adversarial", {"prompts": found["completed"]} | {k: found[k] for k in ("not of the schema", "not offered")}
    )


async def first_token(session: GpuSession) -> None:
    """Where the fixed cost goes, one suspect at a time."""
    async with Endpoint(session.urls["extraction"]) as endpoint:
        with Watch(every_s=0.2) as seen:
            async for row in ttft.suspects(endpoint, MODEL, session.count(24)):
                session.add("time to the first token, one suspect at a time", row)
        session.add("clocks meanwhile", {"step": "first_token"} | seen.figures())


async def qna(session: GpuSession) -> None:
    """First token of answers, as shipped, with the older runner and without a drafter; what is said at all."""
    batch = 2 if session.quick else max(answers.AT_ONCE)

    async def warmed(server: str) -> list[Row]:
        report = await examine(Patient(session.urls[server], "qna", batch=batch, wait_s=5))
        found = ({"what": f.subject, "": f.health.value, "found": f.said} for f in report.findings)
        return [{"server": server} | row for row in found]

    asked = [server for server in ANSWERING if server in session.urls]
    for rows in await asyncio.gather(*map(warmed, asked)):
        session.add("doctor: qna, all at the same time", *rows)
    await answers.measure(session, MODEL)
    for server in asked:
        async with Endpoint(session.urls[server]) as endpoint:
            session.add("what the weights say unconstrained", {"server": server} | await ttft.said(endpoint, MODEL))


async def warm(session: GpuSession) -> None:
    """The first answers of all servers, side by side."""
    await drafting.warm(session, MODEL)


async def mtp(session: GpuSession) -> None:
    """Drafted tokens and none, newer and older runner, in turn: a step's cost, what is won at a stated acceptance."""
    await drafting.sweep(session, MODEL)


async def decode(session: GpuSession) -> None:
    """Milliseconds a token: BF16, FP8 weights, and with the drafter at a stated acceptance."""
    title = f"decode pace; each drafted token accepted at {EACH} by decree"
    for name in ("extraction", "qna", "fp8"):
        if name in session.urls:
            async with Endpoint(session.urls[name]) as endpoint:
                for tokens in (128, 256):
                    session.add(title, {"server": name} | await ttft.pace(endpoint, MODEL, tokens, session.count(8)))


async def load(session: GpuSession) -> None:
    """1 to 16 at once, with the prefix in the cache and without (a salt of its own keeps every request out of it)."""
    for cache, at_once in itertools.product(("on", "off"), (1, 2, 4, 8, 16)):
        async with Endpoint(session.urls["extraction"]) as endpoint:
            row = await _loaded(endpoint, cache, at_once, session.count(48))
        session.add("load and prefix cache", {"prefix cache": cache, "at once": at_once} | row)


async def _loaded(endpoint: Endpoint, cache: str, at_once: int, count: int) -> Row:
    cached: list[int] = []
    taken: list[float] = []
    numbers = iter(range(count))

    async def worker() -> None:
        for number in numbers:
            body = ttft.constrained(ttft.request(MODEL, number, tokens=16))
            salt = "load" if cache == "on" else f"{at_once} {number}"
            said, elapsed = await endpoint.chat(**body, cache_salt=salt)
            taken.append(elapsed)
            cached.append(cached_tokens(said) or 0)

    await asyncio.gather(*(worker() for _ in range(at_once)))
    return {f"p{q}_ms": percentile(taken, q) for q in (50, 95)} | {"cached tokens p50": percentile(cached, 50)}


async def shapes(session: GpuSession) -> None:
    """Every shape of answer at its canonical length, free, so that only the length differs."""
    from tokenizers import Tokenizer

    if session.tokenizer is None:
        return
    tokenizer = Tokenizer.from_file(str(session.tokenizer))
    async with Endpoint(session.urls["extraction"]) as endpoint:
        for name, text in SHAPES.items():
            tokens = len(tokenizer.encode(text, add_special_tokens=False).ids) + 1
            body = ttft.request(MODEL, 0, tokens=tokens)
            taken = await ttft.timed(session.count(16), ttft.asking(endpoint, _always(body)))
            row = {"shape": name, "tokens with end": tokens, "p50_ms": percentile(taken, 50)}
            session.add("shapes of the answer, by their length", row)


def _always(body: Row) -> Callable[[int], Row]:
    return lambda _: body


async def profiler(session: GpuSession, server: str = "extraction") -> None:
    """Five one-token requests under torch's profiler, where the server was started with one; then five uncached."""
    trace = session.out / f"trace-{server}"
    for cache in ("on", "off"):
        async with Endpoint(session.urls[server], timeout_s=60) as endpoint:
            if not (await endpoint.ask("POST", "/start_profile")).is_success:
                return
            taken = await ttft.timed(5, ttft.asking(endpoint, partial(_profiled, cache=cache)))
            await endpoint.ask("POST", "/stop_profile")
        row: Row = {"server": server, "prefix cache": cache, "client_ms": sum(taken)}
        row |= await asyncio.to_thread(ttft.kernels, trace)
        session.add("five one-token requests under the profiler", row)
        for path in trace.rglob("*.json*"):
            path.unlink()


def _profiled(number: int, cache: str) -> Row:
    salt = {} if cache == "on" else {"cache_salt": f"profiled {number}"}
    return ttft.request(MODEL, 10_000 + number) | salt


async def plain(session: GpuSession) -> None:
    """The same promise on a server without our settings: what they won."""
    patient = Patient(session.urls["plain"], batch=2 if session.quick else 8, wait_s=5)
    await examine(patient)
    await latency(session, "plain", 64)
    async with Endpoint(session.urls["plain"]) as endpoint:
        async for row in ttft.suspects(endpoint, MODEL, session.count(16), only=ttft.TELLING):
            session.add("time to the first token, a plain server", row)
    await profiler(session, "plain")


_ALL: tuple[Callable[[GpuSession], Awaitable[None]], ...] = (
    warm,
    doctor,
    qna,
    mtp,
    plain,
    profiler,
    latency,
    adversarial,
    first_token,
    decode,
    load,
    shapes,
)
RUN = {step.__name__: step for step in _ALL}
"""By the names in order.py, which says when and against what they run."""
