"""Times of day as values: hours on a 12-hour clock resolved, or left open with both readings."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from schemas.span import Ambiguity, SpanKind, TimeValue
from services.normalization.scan import Match

HALF_DAY: Final = 12
DAY_HOURS: Final = 24
SIXTY: Final = 60
_DAY_MINUTES: Final = DAY_HOURS * SIXTY
_SMALL_HOURS: Final = 6
"""At night, hours below are after midnight."""
_LATE_MORNING: Final = 10
"""Around noon, hours from here on are before it."""


@dataclass(frozen=True, slots=True)
class Moment:
    """A time on the clock's face over tokens up to `end`. `exact` says that the half of the day is known."""

    hour: int
    minute: int
    end: int
    second: int | None = None
    exact: bool = False

    @property
    def valid(self) -> bool:
        """Whether a clock can show it."""
        return 0 <= self.hour <= DAY_HOURS and 0 <= self.minute < SIXTY and 0 <= (self.second or 0) < SIXTY


def in_half(moment: Moment, half: str, end: int) -> Moment | None:
    """The moment in a half of the day: am, pm, night or noon. None where it can't be (15:00 am)."""
    hour = moment.hour
    if hour > HALF_DAY:
        fits = half != "am"
        return Moment(hour, moment.minute, end, moment.second, exact=True) if fits else None
    match half:
        case "am":
            hour %= HALF_DAY
        case "pm":
            hour = hour % HALF_DAY + HALF_DAY
        case "night":
            hour %= HALF_DAY
            hour += HALF_DAY if hour >= _SMALL_HOURS else 0
        case _:
            hour += 0 if hour >= _LATE_MORNING else HALF_DAY
    return Moment(hour, moment.minute, end, moment.second, exact=True)


def moved(moment: Moment, minutes: int, end: int) -> Moment:
    """The moment some minutes later or earlier."""
    total = (moment.hour * SIXTY + moment.minute + minutes) % _DAY_MINUTES
    hour, minute = divmod(total, SIXTY)
    if not moment.exact and hour == 0:
        hour = HALF_DAY
    return Moment(hour, minute, end, moment.second, moment.exact)


def timed(start: int, moment: Moment, rule: str, likely: Sequence[int]) -> Match | None:
    """The match of a moment; both halves of the day where it is open, the one within the likely hours first."""
    if not moment.valid:
        return None
    hours = [moment.hour % DAY_HOURS]
    if not moment.exact and 1 <= moment.hour <= HALF_DAY:
        hours = [moment.hour % HALF_DAY, moment.hour % HALF_DAY + HALF_DAY]
        if not likely[0] <= hours[0] <= likely[1]:
            hours.reverse()
    values = [TimeValue.at(_text(hour, moment)) for hour in hours]
    return Match(
        SpanKind.TIME,
        values[0],
        start,
        moment.end,
        rule,
        Ambiguity.HALF_OF_DAY if len(values) > 1 else None,
        tuple((SpanKind.TIME, value) for value in values[1:]),
    )


def _text(hour: int, moment: Moment) -> str:
    text = f"{hour:02d}:{moment.minute:02d}"
    return text if moment.second is None else f"{text}:{moment.second:02d}"
