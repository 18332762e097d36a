"""Whether thousands of short calls leave anything behind in the service: memory, objects, tasks, descriptors, threads.

What a call holds is looked for in the trend, not in one difference: the service is looked at while nobody calls, after
every hundred calls, and the growth of the last half is told a call, beside the noise of that figure.
"""

import asyncio
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Final

import httpx
import numpy as np
import typer
from prometheus_client.parser import text_string_to_metric_families

from app.qa.figures import Figure
from deploy.reporting import publish

WARM_UP: Final = 1300
"""Calls before the first look: every utterance twice in every kind of call. What fills up once must be full by then:
each thread's workspace for the longest sound it meets, the allocator's arenas, connections' pages and statements."""
ROUND: Final = 100
"""Calls between two looks."""
REST_S: Final = 10.0
"""Within this the last calls of a round must have ended."""

Look = dict[str, float]


def bench(
    json: Annotated[Path | None, typer.Option(help="Write the figures here.")] = None,
    calls: Annotated[int, typer.Option(help="Calls after the warm-up.", min=8 * ROUND)] = 2000,
    warm_up: Annotated[int, typer.Option(help="Calls before the first look.", min=0)] = WARM_UP,
    at_once: Annotated[int, typer.Option(help="Calls at a time.", min=1, max=64)] = 8,
) -> None:
    """Play short calls of every kind faster than real time through a service of our own, and look at its process."""
    from app.demo.run import service

    with service() as base:
        looks, kept = asyncio.run(_soak(base, warm_up, calls, at_once))
    made = ROUND * (len(looks) - 1)
    figures: dict[str, Figure] = {"calls": made, "as_expected": kept, **figures_of(looks)}
    workload = "answered, cut short, talked over, dropped, refused or garbled; three customers; faster than real time"
    publish("soak", f"{made} short calls after {warm_up}, {at_once} at once: {workload}", figures, json)


def figures_of(looks: Sequence[Look]) -> dict[str, float]:
    """Out of looks at equal distances of ROUND calls: what there was before and after, and memory's way there."""
    last = len(looks) - 1
    found = {f"rss_mb_at_{percent}_percent": looks[last * percent // 100]["rss_mb"] for percent in (0, 25, 50, 75, 100)}
    for name, scale in (("rss_kb", 1024.0), ("python_blocks", 1.0)):
        values = [look[name.replace("kb", "mb")] * scale for look in looks[last // 2 :]]
        growth, noise = _trend(values)
        found |= {f"last_half_{name}_per_call": growth, f"last_half_{name}_per_call_noise": noise}
    for name in ("python_blocks", "tasks", "fds", "threads"):
        found |= {f"{name}_before": looks[0][name], f"{name}_after": looks[-1][name]}
    return found


def _trend(values: Sequence[float]) -> tuple[float, float]:
    """Least squares: growth a call, and its standard error."""
    (slope, _), covariance = np.polyfit(ROUND * np.arange(len(values)), values, 1, cov=True)
    return float(slope), float(np.sqrt(covariance[0][0]))


async def _soak(base: str, warm_up: int, calls: int, at_once: int) -> tuple[list[Look], int]:
    """The looks, the first one after the warm-up, and how many of the calls after it went as they must."""
    from app.client import demo_token
    from deploy.bench._calls.corpus import load, utterances
    from deploy.bench._calls.hasty import MIX, call_hastily

    said = utterances(load(), "simple")
    customers = {"en-US": ("alex-morgan", "imogen-hartley"), "ja-JP": ("takahashi-misaki",)}
    places, service = asyncio.Semaphore(at_once), _child()

    async def one(number: int) -> bool:
        utterance, how = said[number // len(MIX) % len(said)], MIX[number % len(MIX)]
        those = customers[utterance.locale]
        async with places:
            credential = await demo_token(base, those[number % len(those)])
            return await call_hastily(base, credential, utterance, how)

    async def some(numbers: range) -> int:
        return sum(await asyncio.gather(*(one(number) for number in numbers)))

    await some(range(warm_up))
    looks, kept = [await _look(base, service)], 0
    for start in range(warm_up, warm_up + calls // ROUND * ROUND, ROUND):
        kept += await some(range(start, start + ROUND))
        looks.append(await _look(base, service))
    return looks, kept


async def _look(base: str, service: int) -> Look:
    """What the service holds once nobody calls any more."""
    until = time.monotonic() + REST_S
    async with httpx.AsyncClient(base_url=base) as client:
        while (told := metrics_of((await client.get("/metrics")).text))["tellerline_calls"]:
            if time.monotonic() > until:
                raise SystemExit("calls that are over did not end")
            await asyncio.sleep(0.1)
    return process_of(service) | {"tasks": told["tellerline_tasks"], "python_blocks": told["tellerline_memory_blocks"]}


def metrics_of(text: str) -> dict[str, Any]:
    """The metrics that have no labels."""
    samples = (sample for family in text_string_to_metric_families(text) for sample in family.samples)
    return {sample.name: sample.value for sample in samples if not sample.labels}


def _child() -> int:
    """The service: our only child process."""
    (child,) = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split()
    return int(child)


def process_of(pid: int) -> Look:
    """Resident memory in MB, descriptors and threads of a process."""
    status = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return {
        "rss_mb": int(status["VmRSS"].split()[0]) / 1024,
        "fds": len(list(Path(f"/proc/{pid}/fd").iterdir())),
        "threads": int(status["Threads"]),
    }
