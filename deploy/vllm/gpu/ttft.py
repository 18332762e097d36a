"""Where the time to the first token goes: the same small request with one suspect changed at a time."""

from __future__ import annotations

import asyncio
import gzip
import json
import time
from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.qa.doctor.client import content
from app.qa.doctor.probes import DRAFT_COUNTERS
from deploy.reporting import percentile
from deploy.vllm.sweep.datasets import schemas
from services.understanding.extraction.prompt import prompt_rules

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from app.qa.doctor.client import Endpoint, MetricsPage

Row = dict[str, Any]
Ask = Callable[[int], Awaitable[object]]
TELLING = frozenset(
    {
        "113 token ids, no template",
        "1 token, real prompt, prefix cached",
        "1 token, real prompt, nothing cached",
        "1 token, prompt of 1,200",
        "16 tokens",
        "constrained, new grammar each",
    }
)
"""The suspects that may differ between two ways to serve. With the prefix cached 17 tokens are left to compute, which a
server captures graphs for by itself: graphs for longer prefills show where nothing is cached."""
SERVER_SPLIT = {
    "ttft": "vllm:time_to_first_token_seconds",
    "queue": "vllm:request_queue_time_seconds",
    "prefill": "vllm:request_prefill_time_seconds",
    "decode": "vllm:request_decode_time_seconds",
    "e2e": "vllm:e2e_request_latency_seconds",
}
NO_THINKING = {"chat_template_kwargs": {"enable_thinking": False}}
WORDS = "asked: nothing\nheard: could you get fifty across to ken\namounts: A 50.00 USD\npeople: V Ken Sato\ncode: "


def request(model: str, number: int, *, tokens: int = 1, prompt: str = "", unique: bool = True) -> Row:
    """A request for exactly `tokens` tokens; `unique` keeps its variable part out of the prefix cache."""
    system = prompt or prompt_rules().system
    words = f"{WORDS}{number if unique else ''}"
    messages = [{"role": "system", "content": system}, {"role": "user", "content": words}]
    return {
        "model": model,
        "messages": messages,
        "temperature": 0,
        "max_tokens": tokens,
        "min_tokens": tokens,
    } | NO_THINKING


def constrained(body: Row, *, fresh: int | None = None) -> Row:
    """The request held to a schema; `fresh` makes a grammar the server has not seen."""
    wanted = {"type": "string", "enum": [*schemas()["line"]["enum"], *([f"new {fresh}"] if fresh is not None else [])]}
    form = {"type": "json_schema", "json_schema": {"name": "line", "schema": wanted, "strict": True}}
    held = {key: value for key, value in body.items() if key != "min_tokens"}
    return held | {"response_format": form}


async def timed(count: int, ask: Ask, gap_s: float = 0.0) -> list[float]:
    """Milliseconds of `count` calls, one after another."""
    taken = []
    for number in range(count):
        began = time.perf_counter()
        await ask(number)
        taken.append((time.perf_counter() - began) * 1000)
        await asyncio.sleep(gap_s)
    return taken


@asynccontextmanager
async def heartbeat(endpoint: Endpoint, model: str, every_s: float = 0.05) -> AsyncIterator[None]:
    """A one-token request again and again beside a measurement: does a GPU kept awake answer sooner?"""

    async def beat() -> None:
        number = 0
        while True:
            number += 1
            await endpoint.chat(**request(model, number, prompt="ping"))
            await asyncio.sleep(every_s)

    beating = asyncio.create_task(beat())
    try:
        yield
    finally:
        beating.cancel()
        with suppress(asyncio.CancelledError):
            await beating


def means(before: MetricsPage, after: MetricsPage) -> Row:
    """The server's own mean of each part over a measurement, ms."""
    row: Row = {}
    for name, metric in SERVER_SPLIT.items():
        count = (after.total(f"{metric}_count") or 0) - (before.total(f"{metric}_count") or 0)
        total = (after.total(f"{metric}_sum") or 0) - (before.total(f"{metric}_sum") or 0)
        row[f"server_{name}_ms"] = total / count * 1000 if count else ""
    return row


async def suspects(
    endpoint: Endpoint, model: str, count: int, only: frozenset[str] = frozenset()
) -> AsyncIterator[Row]:
    """One row a suspect: p50 and p95 at the client, and the server's own split."""
    for name, ask, gap_s in _cases(endpoint, model):
        if not only or name in only:
            yield await _row(endpoint, name, ask, min(count, 8) if gap_s >= 1 else count, gap_s)
    if not only:
        async with heartbeat(endpoint, model):
            again = asking(endpoint, lambda n: request(model, n))
            yield await _row(endpoint, "1 token, 200 ms between, GPU kept awake", again, count, 0.2)


async def said(endpoint: Endpoint, model: str, tokens: int = 48) -> Row:
    """What the weights say of themselves: the ids of an answer's tokens, where the server tells, and its text.

    Few distinct ones would mean that greedy decoding runs in a circle.
    """
    found, _ = await endpoint.chat(**request(model, 1, tokens=tokens), return_token_ids=True)
    ids = found["choices"][0].get("token_ids") or []
    row: Row = {"tokens": len(ids), "distinct": len(set(ids))}
    return row | {"token ids": " ".join(map(str, ids)), "text": repr(content(found))}


def asking(endpoint: Endpoint, body: Callable[[int], Row]) -> Ask:
    """Requests with these bodies, by their numbers."""
    return lambda number: endpoint.chat(**body(number))


def _cases(endpoint: Endpoint, model: str) -> list[tuple[str, Ask, float]]:
    """Name, request, seconds between requests."""
    plain = prompt_rules().system

    def ids(number: int) -> Row:
        return {"model": model, "prompt": [2000 + number, *range(1000, 1112)], "max_tokens": 1, "temperature": 0}

    def salted(number: int) -> Row:
        return request(model, number) | {"cache_salt": f"{number}"}

    bodies: dict[str, Callable[[int], Row]] = {
        "1 token, prompt of 60": lambda n: request(model, n, prompt="Label this."),
        "1 token, real prompt, prefix cached": lambda n: request(model, n),
        "1 token, real prompt, wholly cached": lambda n: request(model, n, unique=False),
        "1 token, real prompt, nothing cached": salted,
        "1 token, prompt of 1,200": lambda n: request(model, n, prompt=f"{n} {plain * 3}"),
        "2 tokens": lambda n: request(model, n, tokens=2),
        "8 tokens": lambda n: request(model, n, tokens=8),
        "16 tokens": lambda n: request(model, n, tokens=16),
        "constrained, same grammar": lambda n: constrained(request(model, n)),
        "constrained, new grammar each": lambda n: constrained(request(model, n), fresh=n),
    }
    cases: list[tuple[str, Ask, float]] = [
        ("HTTP hop alone (/health)", lambda _: endpoint.ask("GET", "/health"), 0.0),
        ("template and tokens (/tokenize)", lambda n: endpoint.ask("POST", "/tokenize", _tokenize(model, n)), 0.0),
        ("113 token ids, no template", lambda n: endpoint.ask("POST", "/v1/completions", ids(n)), 0.0),
    ]
    cases += [(name, asking(endpoint, body), 0.0) for name, body in bodies.items()]
    again = asking(endpoint, lambda n: request(model, n))
    return [
        *cases,
        ("1 token, 200 ms between requests", again, 0.2),
        ("1 token, 1 s between requests", again, 1.0),
    ]


async def pace(endpoint: Endpoint, model: str, tokens: int, count: int) -> Row:
    """Milliseconds a token, from answers of `tokens` tokens less answers of one; and how many drafts were accepted."""
    await timed(2, asking(endpoint, lambda n: request(model, n, tokens=tokens)))
    before = await endpoint.metrics()
    one = await timed(count, asking(endpoint, lambda n: request(model, 500 + n)))
    many = await timed(count, asking(endpoint, lambda n: request(model, 900 + n, tokens=tokens)))
    after = await endpoint.metrics()
    each = (percentile(many, 50) - percentile(one, 50)) / (tokens - 1)
    row: Row = {"tokens": tokens, "first token p50_ms": percentile(one, 50), "all p50_ms": percentile(many, 50)}
    row |= {"all least_ms": min(many), "all most_ms": max(many)}
    row |= {"ms a token": each, "tokens a second": 1000 / each if each > 0 else 0.0}
    steps, accepted = drafted(before, after)
    step = 1 + accepted / steps if steps else 1.0
    return row | {"tokens a step": step, "ms a step": each * step}


def drafted(before: MetricsPage, after: MetricsPage) -> tuple[float, float]:
    """The steps between two samples that had drafts, and the drafted tokens that were accepted; 0 without a drafter."""
    steps, accepted = ((after.total(name) or 0) - (before.total(name) or 0) for name in DRAFT_COUNTERS.values())
    return steps, accepted


async def _row(endpoint: Endpoint, name: str, ask: Ask, count: int, gap_s: float) -> Row:
    await timed(2, ask)
    before = await endpoint.metrics()
    taken = await timed(count, ask, gap_s)
    after = await endpoint.metrics()
    return {"what": name, "p50_ms": percentile(taken, 50), "p95_ms": percentile(taken, 95)} | means(before, after)


def _tokenize(model: str, number: int) -> Row:
    body = request(model, number)
    return {"model": model, "messages": body["messages"]}


def kernels(folder: Path) -> Row:
    """From a torch profiler's trace: the milliseconds kernels ran, and the span from the first to the last."""
    for path in sorted(folder.rglob("*.json*")):
        raw = path.read_bytes()
        events = json.loads(gzip.decompress(raw) if path.suffix == ".gz" else raw).get("traceEvents", [])
        ran = [e for e in events if e.get("cat") == "kernel" and "dur" in e]
        if ran:
            span = max(e["ts"] + e["dur"] for e in ran) - min(e["ts"] for e in ran)
            busy = sum(e["dur"] for e in ran)
            return {"kernels": len(ran), "kernels_ms": busy / 1000, "span_ms": span / 1000, "gpu_idle": 1 - busy / span}
    return {}
