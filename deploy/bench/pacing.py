"""How evenly sound leaves on a telephone, with many calls at once."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from app.qa.figures import Figure
from deploy.bench._figures import percentile, publish
from deploy.bench._pace import LEAD, deviations
from deploy.bench._telephone import Door, telephones
from tests.harness.phone import Phone, calling
from tests.harness.phone_lines import LINES, Place

WORD_MS = 400
"""Long words, so that a greeting lasts."""
GOAL_MS = 2.0


def bench(
    json: Annotated[Path | None, typer.Option(help="Write the figures here.")] = None,
    transport: Annotated[Door, typer.Option(help="The telephone that is called on.")] = Door.TWILIO,
    calls: Annotated[int, typer.Option(help="Calls at once.", min=1, max=256)] = 20,
    seconds: Annotated[float, typer.Option(help="How long each listens.", min=1, max=60)] = 4.0,
) -> None:
    """Let greetings be spoken to callers at once: by how much packets are off the pace where they arrive."""
    if transport.native is not None:
        raise typer.BadParameter("a native door has no pace")
    with telephones(WORD_MS) as (_, place):
        heard = asyncio.run(_listen(place, transport, calls, seconds))
    pace = LEAD[transport]
    off = [ms for arrivals in heard for ms in deviations(arrivals, pace)]
    figures: dict[str, Figure] = {"calls": calls, "packets": sum(map(len, heard)), "packet_ms": pace.packet_ms}
    figures |= {f"off_p{q}_ms": percentile(off, q) for q in (50, 99)} | {"off_max_ms": max(off, default=float("nan"))}
    figures["goal_reached"] = percentile(off, 99) <= GOAL_MS
    publish("pacing", f"{calls} greetings at once on {transport}, as they arrive over loopback", figures, json)


async def _listen(place: Place, door: Door, calls: int, seconds: float) -> list[list[float]]:
    """When every call's packets came."""

    async def one(number: int) -> list[float]:
        await asyncio.sleep(number % 20 * 0.001)  # out of step with each other
        async with LINES[door](place, "alex-morgan") as bridge, calling(bridge, _Listener) as phone:
            await phone.until(lambda: bool(phone.arrivals))
            await asyncio.sleep(seconds)
            return list(phone.arrivals)

    return list(await asyncio.gather(*(one(number) for number in range(calls))))


class _Listener(Phone):
    """Says nothing: what is measured is what comes."""

    async def speak(self) -> None:
        """Be silent."""

    async def hear(self) -> None:
        """Play nothing: it costs the listener's own pace."""
