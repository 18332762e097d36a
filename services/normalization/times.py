"""Times of day: "half past nine", "eleven o six p m", 午後三時半, and parts of the day as windows."""

from decimal import Decimal
from typing import Final

from schemas.span import SpanKind, TimeValue
from services.normalization.cardinals import TEN, atom, spoken_pair
from services.normalization.clock import HALF_DAY, SIXTY, Moment, in_half, moved, timed
from services.normalization.numbers import marked
from services.normalization.numerals import Numeral
from services.normalization.scan import Match, Scan

_FIVE: Final = 5
_CLOCK_DIGITS: Final = (3, 4)


def find_time(scan: Scan, at: int) -> Match | None:
    """The time of day that starts at a place."""
    if scan.style.language.spaced:
        found = _leading_part(scan, at) or _related(scan, at) or _said(scan, at)
    else:
        found = _leading_part(scan, at) or _suffixed(scan, at) or (_said(scan, at) if _written_at(scan, at) else None)
    if found is not None:
        return timed(at, found[0], f"times.{found[1]}", scan.style.locale.likely_hours)
    return _at_hour(scan, at) or _window(scan, at)


def _written_at(scan: Scan, at: int) -> bool:
    return scan.tokens[at].numeral is not None


def _leading_part(scan: Scan, at: int) -> tuple[Moment, str] | None:
    """As in "afternoon at 7", 午後三時半, 朝の8時."""
    word = scan.words[at]
    half = word.half or (word.day_part.half if word.day_part is not None else None)
    if half is None or word.day is not None:
        return None
    start = at + 1
    if scan.words[start].at or scan.words[start].of:
        start += 1
    found = _suffixed(scan, start) or _said(scan, start)
    if found is None:
        hour = _hour(scan, start) if scan.style.language.spaced else None
        if hour is None or not scan.ends(hour.end):
            return None
        found = hour, "part_first"
    moment = in_half(found[0], half, found[0].end)
    return (moment, "part_first") if moment is not None and moment.valid else None


def _related(scan: Scan, at: int) -> tuple[Moment, str] | None:
    """As in "a quarter past eight", "three minutes to eight", "half past 8pm"."""
    start = at + 1 if scan.words[at].article else at
    fraction = scan.words[start].fraction
    if fraction is not None:
        minutes, end = int(fraction * SIXTY), start + 1
    else:
        found = atom(scan, at) if spoken_pair(scan, at) is None else None
        pair = spoken_pair(scan, at)
        if found is None and pair is None:
            return None
        minutes, end = pair if pair is not None else (found.value, found.end) if found is not None else (0, at)
    if fraction is not None and (hour := _half_hour(scan, start, end)) is not None:
        return hour, "half_hour"
    named = scan.words[end].unit == "minute"
    end += named
    direction = scan.words[end].past
    if direction is None or not 0 < minutes < SIXTY:
        return None
    if fraction is None and not named and direction < 0 and minutes % _FIVE:
        return None
    base = _base(scan, end + 1)
    if base is not None and fraction is None and not named and not base.exact and not scan.ends(base.end):
        return None
    return None if base is None else (moved(base, direction * minutes, base.end), "related")


def _half_hour(scan: Scan, at: int, end: int) -> Moment | None:
    """As in "half nine", where a locale says so for half past."""
    if not scan.style.locale.half_hour or scan.words[at].fraction != Decimal("0.5"):
        return None
    hour = _hour(scan, end)
    return Moment(hour.hour, SIXTY // 2, hour.end) if hour is not None and scan.ends(hour.end) else None


def _base(scan: Scan, at: int) -> Moment | None:
    """The hour that minutes are counted from."""
    clock = scan.words[at].clock
    if clock is not None:
        return Moment(int(clock[:2]), int(clock[3:]), at + 1, exact=True)
    said = _said(scan, at)
    if said is not None:
        return said[0] if said[0].minute == 0 else None
    hour = _hour(scan, at)
    if hour is None or scan.quantity(hour.end) or scan.words[hour.end].currency is not None:
        return None
    return hour


def _hour(scan: Scan, at: int) -> Moment | None:
    found = atom(scan, at)
    return Moment(found.value, 0, found.end) if found is not None and 1 <= found.value <= HALF_DAY else None


def _said(scan: Scan, at: int) -> tuple[Moment, str] | None:
    """A clock time that something marks as one: a colon, am or pm, o'clock, a part of the day, noon."""
    clock = scan.words[at].clock
    if clock is not None:
        return Moment(int(clock[:2]), int(clock[3:]), at + 1, exact=True), "clock_word"
    face = _face(scan, at)
    if face is None:
        return None
    moment, marked = face
    end = moment.end
    if scan.words[end].oclock and moment.minute == 0:
        marked, end = True, end + 1
        moment = Moment(moment.hour, 0, end)
    following = scan.words[end].clock
    if following is not None and moment.hour == HALF_DAY:
        return Moment(int(following[:2]), int(following[3:]), end + 1, exact=True), "clock_word"
    word = scan.words[end]
    half = word.half or (
        word.day_part.half if word.day_part is not None and not scan.style.language.positional else None
    )
    if half is not None:
        halved = in_half(moment, half, end + 1)
        return (halved, "half_named") if halved is not None else None
    return (moment, "clock") if marked else None


def _face(scan: Scan, at: int) -> tuple[Moment, bool] | None:
    """Hour and minutes, and whether their form alone makes them a time."""
    if at >= len(scan.tokens):
        return None
    numeral = scan.tokens[at].numeral
    if numeral is not None:
        return _colons(numeral, at) if numeral.shape == "clock" else _written(numeral, at)
    hour = _hour(scan, at)
    if hour is None:
        return None
    minute = spoken_pair(scan, hour.end)
    if minute is not None and minute[0] < SIXTY:
        return Moment(hour.hour, minute[0], minute[1]), False
    zero, unit = scan.words[hour.end].digit, scan.words[hour.end + 1].digit
    if zero == "0" and unit is not None:
        return Moment(hour.hour, int(unit), hour.end + 2), False
    return hour, False


def _colons(numeral: Numeral, at: int) -> tuple[Moment, bool] | None:
    """As in 12:34:25."""
    hour, minute, *second = (int(field) for field in numeral.text.split(":"))
    moment = Moment(hour, minute, at + 1, second[0] if second else None)
    return (moment, True) if moment.valid else None


def _written(numeral: Numeral, at: int) -> tuple[Moment, bool] | None:
    """As in 8, 8.10 or 1140; a time only if a mark follows. What is no single number (2,3 and 1.2.3) is no hour."""
    if numeral.value is None:
        return None
    whole, _, part = numeral.text.partition(".")
    if part:
        fits = len(part) == len("00") and len(whole) <= len("00")
        hour, minute = (int(whole or 0), int(part)) if fits else (SIXTY, 0)
    elif len(numeral.text) in _CLOCK_DIGITS:
        hour, minute = int(numeral.digits[:-2]), int(numeral.digits[-2:])
    else:
        hour, minute = numeral.whole if numeral.whole is not None else SIXTY, 0
    moment = Moment(hour, minute, at + 1)
    return (moment, False) if moment.valid else None


def _at_hour(scan: Scan, at: int) -> Match | None:
    """As in "at four", "at ten thirty", "nine tomorrow morning": where nothing is counted, and a time is due."""
    face = _face(scan, at)
    if face is None or not 1 <= face[0].hour <= HALF_DAY:
        return None
    moment = face[0]
    if moment.minute and moment.minute < TEN and scan.tokens[at].numeral is None and scan.words[at + 1].digit != "0":
        return None
    announced, part = scan.words[at - 1].at, _part_near(scan, at, moment.end)
    if not (announced and scan.ends(moment.end)) and not (part is not None and scan.words[moment.end].day is not None):
        return None
    halved = in_half(moment, part, moment.end) if part is not None else None
    return timed(at, halved or moment, "times.at_hour", scan.style.locale.likely_hours)


def _part_near(scan: Scan, start: int, end: int) -> str | None:
    """The half of the day that is said beside a time: "tonight at eight", "at nine tomorrow morning"."""
    named = scan.words[end].day is not None and scan.words[end].day_part is None
    behind = end + 1 if named else end  # over "tomorrow" to its morning
    for near in (behind, start - 2):
        part = scan.words[near].day_part
        if part is not None:
            return part.half
    return None


def _suffixed(scan: Scan, at: int) -> tuple[Moment, str] | None:
    """As in 三時半, 12時34分45秒, 正午十分過ぎ, 七時五分前."""
    clock = scan.words[at].clock
    if clock is not None:
        return _around(scan, Moment(int(clock[:2]), int(clock[3:]), at + 1, exact=True))
    hour = _marked(scan, at, "hour")
    if hour is None:
        return None
    moment = Moment(hour[0], 0, hour[1])
    if scan.words[hour[1]].half_after:
        moment = Moment(hour[0], SIXTY // 2, hour[1] + 1)
    elif (minute := _marked(scan, hour[1], "minute")) is not None:
        if scan.words[minute[1]].past == -1:
            return moved(moment, -minute[0], minute[1] + 1), "before_hour"
        moment = Moment(hour[0], minute[0], minute[1])
    second = _marked(scan, moment.end, "second")
    if second is not None:
        moment = Moment(moment.hour, moment.minute, second[1], second[0])
    if not moment.valid:
        return None
    return Moment(moment.hour, moment.minute, _sharp(scan, moment.end), moment.second), "suffixed"


def _sharp(scan: Scan, end: int) -> int:
    return end + 1 if scan.words[end].oclock else end


def _around(scan: Scan, noon: Moment) -> tuple[Moment, str]:
    minute = _marked(scan, noon.end, "minute")
    if minute is not None and (direction := scan.words[minute[1]].past) is not None:
        return moved(noon, direction * minute[0], minute[1] + 1), "related"
    return Moment(noon.hour, noon.minute, noon.end, exact=True), "clock_word"


def _marked(scan: Scan, at: int, suffix: str) -> tuple[int, int] | None:
    return marked(scan, at, suffix) if scan.quantity(at) else None


def _window(scan: Scan, at: int) -> Match | None:
    """A part of the day: "tomorrow morning" is a date and the window of its morning."""
    part = scan.words[at].day_part
    if part is None:
        return None
    return Match(SpanKind.TIME, TimeValue(part.start, part.end), at, at + 1, "times.window")
