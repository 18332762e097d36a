"""How evenly sound leaves on a telephone, with many calls at once."""

import asyncio
import gc
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Annotated

import typer
import uvloop

from app.qa.figures import Figure
from deploy.bench._telephone.pace import LEAD, Pace, deviations
from deploy.bench._telephone.telephone import Door, telephones
from deploy.reporting import percentile, publish
from tests.harness.phone import Phone, calling
from tests.harness.phone_lines import LINES, Place

WORD_MS = 400
"""Long words, so that a greeting lasts."""
GOAL_MS = 2.0
TICK_S = 0.02
BEGUN_S = 0.5
"""After the last call's first packet all are under way."""


def bench(
    json: Annotated[Path | None, typer.Option(help="Write the figures here.")] = None,
    transport: Annotated[Door, typer.Option(help="The telephone that is called on.")] = Door.TWILIO,
    calls: Annotated[int, typer.Option(help="Calls at once.", min=1, max=256)] = 20,
    seconds: Annotated[float, typer.Option(help="How long each listens.", min=1, max=60)] = 4.0,
) -> None:
    """Let greetings be spoken to callers at once: by how much packets are off the pace where they arrive."""
    if transport.native is not None:
        raise typer.BadParameter("a native door has no pace")
    with telephones(WORD_MS) as (_, place), _without_collections():
        heard, ticks = uvloop.run(_listen(place, transport, calls, seconds))
    pace = LEAD[transport]
    begun = max((arrivals[0] for arrivals in heard if arrivals), default=0.0) + BEGUN_S
    off, early = _deviations(heard, pace, begun)
    figures: dict[str, Figure] = {"calls": calls, "packets": sum(map(len, heard)), "packet_ms": pace.packet_ms}
    figures |= {f"off_p{q}_ms": percentile(off, q) for q in (50, 99)} | {"off_max_ms": max(off, default=float("nan"))}
    figures["off_p99_while_others_begin_ms"] = percentile(early, 99)
    figures["listeners_own_p99_ms"] = percentile([abs(b - a - TICK_S) * 1000 for a, b in pairwise(ticks)], 99)
    figures["goal_reached"] = percentile(off, 99) <= GOAL_MS
    publish("pacing", f"{calls} greetings at once on {transport}, as they arrive over loopback", figures, json)


def _deviations(heard: Sequence[Sequence[float]], pace: Pace, begun: float) -> tuple[list[float], list[float]]:
    """By how many ms packets are off, once all calls are under way, and before."""
    timed = [pair for arrivals in heard for pair in deviations(arrivals, pace)]
    return [ms for at, ms in timed if at >= begun], [ms for at, ms in timed if at < begun]


@contextmanager
def _without_collections() -> Iterator[None]:
    """A pause of the listener's own would be taken for one of the service's."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


async def _listen(place: Place, door: Door, calls: int, seconds: float) -> tuple[list[list[float]], list[float]]:
    """When every call's packets came, and when a clock of the listeners' own ticked, every TICK_S."""

    async def one(number: int) -> list[float]:
        await asyncio.sleep(number % 20 * 0.001)  # out of step with each other
        async with LINES[door](place, "alex-morgan") as bridge, calling(bridge, _Listener) as phone:
            await phone.until(lambda: bool(phone.arrivals))
            await asyncio.sleep(seconds)
            return list(phone.arrivals)

    ticks: list[float] = []
    ticking = asyncio.create_task(_tick(ticks))
    heard = list(await asyncio.gather(*(one(number) for number in range(calls))))
    ticking.cancel()
    return heard, ticks


async def _tick(ticks: list[float]) -> None:
    while True:
        ticks.append(time.perf_counter())
        await asyncio.sleep(TICK_S)


class _Listener(Phone):
    """Says nothing: what is measured is what comes."""

    async def speak(self) -> None:
        """Be silent."""

    async def hear(self) -> None:
        """Play nothing: it costs the listener's own pace."""
