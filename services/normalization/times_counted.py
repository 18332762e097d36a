"""Times counted from now: "in an hour", "twenty minutes from now", "in half an hour", 二時間半後."""

from decimal import Decimal
from typing import Final

from schemas.span import SpanKind, TimeValue
from services.normalization.clock import DAY_HOURS, SIXTY
from services.normalization.numbers import number
from services.normalization.scan import Match, Scan

_MINUTES: Final = {"hour": SIXTY, "minute": 1}
_DAY: Final = DAY_HOURS * SIXTY


def find_counted_time(scan: Scan, at: int) -> Match | None:
    """The moment on the clock, if it is today's: a time of day can't say that it is tomorrow's."""
    inside = scan.words[at].inside
    counted = _span(scan, at + 1 if inside else at)
    if counted is None or scan.now is None:
        return None
    minutes, end = counted
    sign, behind = None if scan.words[end].origin else scan.words[end].direction, end + 1
    if sign is None:
        if not inside:
            return None
        sign, behind = 1, end
    moment = scan.now.hour * SIXTY + scan.now.minute + sign * minutes
    if not 0 <= moment < _DAY:
        return None
    hour, minute = divmod(moment, SIXTY)
    return Match(SpanKind.TIME, TimeValue.at(f"{hour:02d}:{minute:02d}"), at, behind, "times.counted")


def _span(scan: Scan, at: int) -> tuple[int, int] | None:
    """Whole minutes said as hours, minutes or both, and the token behind them."""
    total, end = Decimal(0), at
    for unit in _MINUTES:
        start = end + (end > at and scan.words[end].joiner)
        said = _count(scan, start, unit)
        if said is None:
            continue
        total, end = total + said[0] * _MINUTES[unit], said[1]
        half = end + scan.words[end].joiner
        half += half > end and scan.words[half].article
        if scan.words[half].half_after or (half > end and scan.words[half].fraction == Decimal("0.5")):
            total, end = total + Decimal(_MINUTES[unit]) / 2, half + 1
    whole = total == total.to_integral_value() and 0 < total < _DAY
    return (int(total), end) if whole else None


def _count(scan: Scan, at: int, unit: str) -> tuple[Decimal, int] | None:
    """How many of a unit stand at a place: "an hour", "half an hour", "two and a half hours"."""
    found = number(scan, at) if scan.quantity(at) else None
    if found is not None:
        fits = scan.words[found.end].unit == unit and found.value > 0 and found.ambiguity is None
        return (found.value, found.end + 1) if fits else None
    end = at + scan.words[at].article
    share = scan.words[end].fraction
    if share is not None:
        end += 1
        end += scan.words[end].of
        end += scan.words[end].article
    if end == at or scan.words[end].unit != unit:
        return None
    return share or Decimal(1), end + 1
