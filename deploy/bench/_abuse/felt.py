"""What honest callers felt without and with an attack, and when that says more of the machine than of the attack."""

from dataclasses import dataclass, field
from typing import Final

from app.qa.figures import Figure
from deploy.reporting import percentile

MOST_RATIO: Final = 2.0
FLOOR_MS: Final = 10.0
"""A figure without attack that is better than this counts as this: what a machine's own clocks add is about as much."""
RESTLESS: Final = 1.5
"""Figures alone, before and after, that differ by more than this say more of the machine than of the attack."""


@dataclass(slots=True)
class AttackTimes:
    """Milliseconds of each answer, and how often there was none."""

    text: list[float] = field(default_factory=list)
    call: list[float] = field(default_factory=list)
    failed: int = 0

    def p95(self) -> tuple[float, float]:
        """Milliseconds, of requests and of turns."""
        return percentile(self.text, 95), percentile(self.call, 95)

    def add(self, other: "AttackTimes") -> None:
        """What was felt another time."""
        self.text += other.text
        self.call += other.call
        self.failed += other.failed


@dataclass(frozen=True, slots=True)
class AttackRow:
    """One attack once: what was felt without and with it, and cores that the service and its decoders used."""

    alone: AttackTimes
    beside: AttackTimes
    restless: float
    cores: float
    decoders: float

    @property
    def ratio(self) -> float:
        """How much worse it was with it: the worse one of requests and turns."""
        pairs = zip(self.beside.p95(), self.alone.p95(), strict=True)
        return max(beside / max(FLOOR_MS, alone) for beside, alone in pairs)

    @property
    def doubtful(self) -> bool:
        """Whether it is worth another look."""
        return not self.ratio <= MOST_RATIO or self.restless > RESTLESS

    def figures(self) -> dict[str, Figure]:
        """For the report."""
        (text, call), (text_with, call_with) = self.alone.p95(), self.beside.p95()
        shown: dict[str, Figure] = {
            "text_alone_ms": text,
            "text_with_ms": text_with,
            "call_alone_ms": call,
            "call_with_ms": call_with,
        }
        used: dict[str, Figure] = {"cpu": self.cores, "decoders_cpu": self.decoders}
        return shown | used | {"worst_ratio": self.ratio, "failed": self.beside.failed}


def restless(earlier: AttackTimes, later: AttackTimes) -> float:
    """How far two figures alone are from each other."""
    pairs = [sorted(pair) for pair in zip(earlier.p95(), later.p95(), strict=True)]
    return max(worse / max(FLOOR_MS, better) for better, worse in pairs)
