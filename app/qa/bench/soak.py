"""Whether thousands of short calls leave anything behind in the service: memory, descriptors, threads."""

import asyncio
import os
from pathlib import Path
from typing import Annotated, Final

import typer

from app.qa.bench._report import Figure, publish

WARM_UP: Final = 200
"""Calls before the first look: caches and arenas fill."""


def bench(
    json: Annotated[Path | None, typer.Option(help="Write the figures here.")] = None,
    calls: Annotated[int, typer.Option(help="Calls after the warm-up.", min=1)] = 2000,
    at_once: Annotated[int, typer.Option(help="Calls at a time.", min=1, max=64)] = 8,
) -> None:
    """Play short calls faster than real time through a service of our own and look at its process."""
    from app.demo.run import service
    from app.line import demo_token
    from app.qa.bench._corpus import load, utterances
    from app.qa.bench._hasty import call_hastily

    simple = [u for u in utterances(load(), "simple") if u.customer == "alex-morgan"]

    async def round_of(base: str, count: int) -> int:
        credential, places = await demo_token(base, simple[0].customer), asyncio.Semaphore(at_once)

        async def one(number: int) -> bool:
            async with places:
                return await call_hastily(base, credential, simple[number % len(simple)])

        return sum(await asyncio.gather(*(one(n) for n in range(count))))

    with service() as base:
        asyncio.run(round_of(base, WARM_UP))
        before = _process(_child())
        answered = asyncio.run(round_of(base, calls))
        after = _process(_child())
    figures: dict[str, Figure] = {"calls": calls, "answered": answered}
    for name, value in after.items():
        figures |= {f"{name}_before": before[name], f"{name}_after": value, f"{name}_growth": value - before[name]}
    publish("soak", f"{calls} short calls after {WARM_UP}, {at_once} at once, faster than real time", figures, json)


def _child() -> int:
    """The service: our only child process."""
    (child,) = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split()
    return int(child)


def _process(pid: int) -> dict[str, float]:
    """Resident memory in MB, descriptors and threads of a process."""
    status = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return {
        "rss_mb": int(status["VmRSS"].split()[0]) / 1024,
        "fds": len(list(Path(f"/proc/{pid}/fd").iterdir())),
        "threads": int(status["Threads"]),
    }
