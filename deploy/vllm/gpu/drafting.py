"""What drafting wins: the same answers from servers that draft and from one that does not, in turn, each written down.

One server after another within a minute, so that what drifts (clocks, other work on the host's cores) shows
as a drift in all of them, and a pause of a single answer in that answer alone.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import time
from contextlib import AsyncExitStack, suppress
from pathlib import Path

import httpx

from app.qa.doctor.client import Endpoint
from deploy.reporting import percentile
from deploy.vllm.gpu import ttft
from deploy.vllm.gpu.order import BF16, DRAFTING
from deploy.vllm.gpu.record import GpuSession, Row
from deploy.vllm.gpu.servers import DRAFTED, stated
from deploy.vllm.random_weights import EACH
from deploy.vllm.sweep.gpu import Watch

TOKENS = (128, 256)
ROUNDS = 6
EVERY = "drafting: every answer, in the order they were asked for"
SUMMARY = f"drafting: each drafted token accepted at {EACH} by decree, one answer at a time, servers in turn"


async def warm(session: GpuSession, model: str) -> None:
    """Two long answers of every server, all side by side: the first compiles kernels, for some 20 s with a drafter."""

    async def one(name: str) -> Row:
        row: Row = {"server": name}
        try:
            async with Endpoint(session.urls[name], timeout_s=120) as endpoint:
                for nth in ("first", "second"):
                    row[f"{nth}_ms"] = (await endpoint.arrivals(**ttft.request(model, 7000, tokens=max(TOKENS))))[-1]
        except httpx.HTTPError as error:
            row["error"] = f"{type(error).__name__}: {error}"
        return row

    session.add("warmed side by side, answers of 256 tokens", *await asyncio.gather(*map(one, session.urls)))


async def sweep(session: GpuSession, model: str) -> None:
    """ROUNDS answers of each length from every server in turn; the rows are kept by the round."""
    asked = [name for name in DRAFTING if name in session.urls]
    answers: list[Row] = []
    began = time.monotonic()
    async with AsyncExitStack() as stack:
        stack.callback(lambda: session.add(SUMMARY, *summary(answers)))  # of what there is, if it is cut off
        endpoints = {name: await stack.enter_async_context(Endpoint(session.urls[name])) for name in asked}
        for endpoint in endpoints.values():
            await endpoint.arrivals(**ttft.request(model, 7001, tokens=max(TOKENS)))
        with Watch(every_s=2.0) as seen:
            for turn in range(1 if session.quick else ROUNDS):
                order = asked[turn % len(asked) :] + asked[: turn % len(asked)]
                for tokens, name in itertools.product(TOKENS, order):
                    row = await answer(endpoints[name], session.pids.get(name), model, 8000 + turn, tokens)
                    answers.append({"at_s": time.monotonic() - began, "server": name, "tokens": tokens} | row)
                session.add(EVERY, *answers[-len(TOKENS) * len(asked) :])
        session.add("clocks meanwhile", {"step": "mtp"} | seen.figures())


async def answer(endpoint: Endpoint, pid: int | None, model: str, number: int, tokens: int) -> Row:
    """One streamed answer: its pace after the first token, its longest pause, and what its server's processes got."""
    before, spent = await endpoint.metrics(), processor(pid)
    came = await endpoint.arrivals(**ttft.request(model, number, tokens=tokens))
    after, since = await endpoint.metrics(), processor(pid)
    drafts, accepted = ttft.drafted(before, after)
    steps = drafts or tokens - 1
    decoding = came[-1] - came[0]
    row: Row = {"whole_ms": came[-1], "streamed ms a token": decoding / (tokens - 1), "ms a step": decoding / steps}
    row |= {"steps": steps, "accepted": accepted, "first token_ms": came[0], "chunks": len(came)}
    row |= {"longest pause_ms": max((b - a for a, b in itertools.pairwise(came)), default=0.0)}
    if spent and since:
        ran, waited = (1000 * (late - early) / steps for early, late in zip(spent, since, strict=True))
        row |= {"processor_ms a step": ran, "waited for one_ms a step": waited}
    return row | {"load of the host": os.getloadavg()[0]}


def processor(group: int | None, proc: Path = Path("/proc")) -> tuple[float, float] | None:
    """Seconds that a process group's threads ran, and waited for a processor; None where the kernel does not tell."""
    ran = waited = 0
    for process in proc.glob("[0-9]*") if group else ():
        with suppress(OSError, ValueError, IndexError):
            if int((process / "stat").read_text().rpartition(")")[2].split()[2]) == group:
                for thread in process.glob("task/*/schedstat"):
                    run_ns, wait_ns, _ = thread.read_text().split()
                    ran, waited = ran + int(run_ns), waited + int(wait_ns)
    return (ran / 1e9, waited / 1e9) if ran else None


def summary(answers: list[Row]) -> list[Row]:
    """One row for each length and server. A token's time is a whole answer's less the server's usual first token's.

    So it holds even where chunks are handed over late and together. `early` and `late` are the first and last third.
    """
    rows: list[Row] = []
    for name, tokens in dict.fromkeys((row["server"], row["tokens"]) for row in answers):
        mine = [row for row in answers if (row["server"], row["tokens"]) == (name, tokens)]
        first = _middle([row for row in answers if row["server"] == name], "first token_ms")
        whole, third, drafted = _middle(mine, "whole_ms"), max(1, len(mine) // 3), DRAFTED.get(name, 0)
        each = (whole - first) / (tokens - 1)
        step = 1 + sum(r["accepted"] for r in mine) / sum(r["steps"] for r in mine)
        row: Row = {"server": name, "drafted": drafted, "tokens": tokens, "answers": len(mine)}
        row |= {"ms a token": each, "ms a step": each * step, "tokens a step": step, "stated": stated(drafted)}
        row |= {"first token p50_ms": first, "whole p50_ms": whole}
        row |= {"fastest_ms": min(r["whole_ms"] for r in mine), "slowest_ms": max(r["whole_ms"] for r in mine)}
        row |= {"early p50_ms": _middle(mine[:third], "whole_ms"), "late p50_ms": _middle(mine[-third:], "whole_ms")}
        rows.append(row | {key: _middle(mine, key) for key in ("longest pause_ms", "waited for one_ms a step")})
    plain = {row["tokens"]: row["ms a token"] for row in rows if row["server"] == BF16}
    for row in rows:
        row["times BF16"] = plain.get(row["tokens"], float("nan")) / row["ms a token"]
    return sorted(rows, key=lambda row: (row["tokens"], row["drafted"]))


def _middle(rows: list[Row], key: str) -> float:
    """NaN where no row has it."""
    return percentile([row[key] for row in rows if key in row], 50)
