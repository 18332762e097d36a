"""The same commands at the native door and on a telephone, one right after the other: what the telephone costs."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from app.client import Transport, demo_token
from app.qa.figures import Figure
from deploy.bench._calls.corpus import PlayedUtterance
from deploy.bench._calls.line import Measured, Way, measure
from deploy.bench._calls.rounds import detection, rate
from deploy.bench._telephone.pace import LEAD, deviations
from deploy.bench._telephone.telephone import Door, Rung, narrowed, ring
from deploy.reporting import is_binding, percentile
from schemas.call import Patience
from tests.harness.phone_lines import Place


@dataclass(frozen=True, slots=True)
class Beside:
    """One command, said twice."""

    native: Measured
    rung: Rung

    @property
    def more_ms(self) -> float | None:
        """How much later the telephone's answer was heard than the native door's first event came."""
        if self.native.first_ms is None or self.rung.first_ms is None or self.native.cut or self.rung.cut:
            return None
        return self.rung.first_ms - self.native.first_ms


async def play_beside(
    base: str, place: Place, door: Door, played: Sequence[PlayedUtterance], at_once: int
) -> list[Beside]:
    """Every utterance at both doors, as G.711 leaves it, `at_once` at a time."""
    places, way = asyncio.Semaphore(at_once), Way(detection(Patience()), Transport.CALLS, spoken=False)

    async def one(number: int, said: PlayedUtterance) -> Beside:
        async with places:
            await asyncio.sleep(number % 7 * 0.011)  # out of phase with the frames of the others
            narrow = replace(said, samples=narrowed(said.samples))
            native = await measure(base, await demo_token(base, said.customer), narrow, way)
            return Beside(native, await ring(place, door, narrow))

    return list(await asyncio.gather(*(one(number, said) for number, said in enumerate(played))))


def figures_beside(calls: Sequence[Beside], door: Door) -> dict[str, Figure]:
    """To the first response of whole commands at both doors, and the difference, call by call.

    What can't be undone waits for the end of the answer at either door, and is left out.
    """
    simple = [c for c in calls if not c.native.utterance.pause_s and not any(map(is_binding, c.native.endings))]
    figures: dict[str, Figure] = {"calls": len(calls)}
    columns = {
        "native": [c.native.first_ms for c in simple],
        "telephone": [c.rung.first_ms for c in simple],
        "difference": [c.more_ms for c in simple],
    }
    for name, found in columns.items():
        known = [ms for ms in found if ms is not None]
        figures |= {f"{name}_calls": len(known)} | {f"{name}_p{q}_ms": percentile(known, q) for q in (50, 95)}
    off = [ms for c in calls for _, ms in deviations(c.rung.arrivals, LEAD[door])]
    figures |= {f"pace_off_p{q}_ms": percentile(off, q) for q in (50, 99)}
    figures["native_cutoff_rate"] = rate(c.native.cut for c in calls)
    figures["telephone_cutoff_rate"] = rate(c.rung.cut for c in calls)
    figures["unanswered"] = sum(c.rung.first_ms is None for c in calls)
    return figures
