"""How evenly packets come: what lies between two, against what they last."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType
from typing import Final

from deploy.bench._telephone.telephone import Door


@dataclass(frozen=True, slots=True)
class Pace:
    """A line's packets: how long they last, and how many leave at once before the pace begins."""

    packet_ms: int
    at_once: int


_USUAL: Final = Pace(20, 6)
LEAD: Final = MappingProxyType(dict.fromkeys(Door, _USUAL) | {Door.AUDIOHOOK: Pace(200, 6)})


def deviations(arrivals: Sequence[float], pace: Pace) -> Iterator[tuple[float, float]]:
    """Of every interval inside a reply, when it ended and by how many ms; packets sent ahead have none."""
    number = 0
    for before, at in pairwise(arrivals):
        gap_ms = (at - before) * 1000
        number = 0 if gap_ms > 2 * pace.packet_ms + 100 else number + 1
        if number > pace.at_once:
            yield at, abs(gap_ms - pace.packet_ms)
