"""Dates that every language says alike: words for days, weekdays and periods, counted distances, written shapes."""

from collections.abc import Sequence
from datetime import date
from typing import Final

from schemas.span import Ambiguity, DateValue, SpanKind
from services.normalization import calendar
from services.normalization.dates_weekday import WEEKS_OF, on_its_day, rolling, weeks_behind
from services.normalization.numbers import number
from services.normalization.scan import Match, Scan, dated
from services.normalization.words import Period

_PERIODS: Final = frozenset({"week", "month", "year", "weekend"})
_DAY_UNITS: Final = frozenset({"day", "week", "month", "year", "fortnight"})


def find_day_word(scan: Scan, at: int) -> Match | None:
    """As in "tomorrow", 明後日."""
    offset = scan.words[at].day
    if offset is None or scan.today is None:
        return None
    found = calendar.shift(scan.today, "day", offset)
    weeks = weeks_behind(scan, at + 1) if offset >= 0 else 0
    if found is not None and weeks:
        return dated(at, at + 2, "dates.week_day", calendar.shift(found, "week", weeks))
    return dated(at, at + 1, "dates.day_word", found)


def find_counted(scan: Scan, at: int) -> Match | None:
    """As in "three weeks ago", "in 7 days", "two days from tomorrow", 二週間後."""
    last = _last_counted(scan, at)
    if last is not None:
        return last
    inside = scan.words[at].inside
    since = _origin(scan, at, scan.today) if scan.today is not None and scan.words[at + 1].to else None
    start = at + 2 if since is not None else at + 1 if inside else at
    counted = _count(scan, start)
    if counted is None or scan.today is None:
        return None
    count, unit, end = counted
    origin, sign, stop = since or scan.today, scan.words[end].direction, end + 1
    if not since and unit == "week" and on_its_day(scan, at, end):
        origin, sign, stop = _origin(scan, end, scan.today) or origin, 1, end + 1
    elif scan.words[end].origin or (scan.words[end].on and unit == "week"):
        named = _origin(scan, stop, scan.today)
        if named is None and not inside:
            return None
        origin, sign, stop = (named, sign or 1, stop + 1) if named else (origin, 1, end)  # "within a week from savings"
    elif sign is None and inside:
        sign, stop = 1, end
    if sign is None and scan.words[at - 1].recurring:
        return Match(SpanKind.DATE, "", at, end, "dates.every", silent=True)  # every two weeks: two is no amount
    day = calendar.shift(origin, unit, sign * count) if sign is not None else None
    return _until(scan, at, stop, day) or dated(at, stop, "dates.counted", day)


def _until(scan: Scan, at: int, end: int, day: date | None) -> Match | None:
    """As in "within three days": any day until then."""
    if day is None or scan.today is None or not scan.words[at].limits or day < scan.today:
        return None
    return Match(SpanKind.DATE, DateValue(scan.today, day), at, end, "dates.window")


def _origin(scan: Scan, at: int, today: date) -> date | None:
    """The day that a distance is counted from: tomorrow, or the coming Friday."""
    offset, weekday = scan.words[at].day, scan.words[at].weekday
    if weekday is not None:
        return calendar.weekday(today, weekday)[0]
    return calendar.shift(today, "day", offset) if offset is not None else None


def _last_counted(scan: Scan, at: int) -> Match | None:
    """As in "the last three months", "next five days", この一週間: a window that ends or starts today."""
    word, today = scan.words[at], scan.today
    relative = -1 if word.relative is None and word.rolling else word.relative
    counted = _count(scan, at + 1 + scan.words[at + 1].of) if relative else None
    if word.relative is None and counted is not None and scan.words[counted[2] - 1].suffix == "day":
        return None  # このN日 is a day of the month
    if counted is None or relative is None or today is None:
        return None
    other = calendar.shift(today, counted[1], relative * counted[0])
    if other is None:
        return None
    return Match(SpanKind.DATE, DateValue(min(today, other), max(today, other)), at, counted[2], "dates.window")


def _count(scan: Scan, at: int) -> tuple[int, str, int] | None:
    """A count of a unit of days or more: (3, week, the token behind)."""
    if scan.words[at].article and scan.words[at + 1].unit is not None:
        count, end = 1, at + 1
    else:
        found = number(scan, at)
        if found is None or found.whole is None or found.whole < 0 or found.ambiguity is not None:
            return None
        count, end = found.whole, found.end
    unit = scan.words[end].unit
    if unit not in _DAY_UNITS:
        return None
    base, times = WEEKS_OF.get(unit, (unit, 1))
    return count * times, base, end + 1


def period_at(scan: Scan, at: int) -> tuple[Period, int] | None:
    """A period's words: 来月, "next month", "the current year"."""
    word = scan.words[at]
    if word.definite and scan.words[at + 1].definite is False:
        inner = period_at(scan, at + 1)
        if inner is not None:
            return inner
        unit = scan.words[at + 1].unit
        return (Period(unit, 0), at + 2) if unit in _PERIODS and _bounded_before(scan, at) else None
    if word.period is not None:
        return word.period, at + 1
    if word.unit in _PERIODS and scan.words[at - 1].boundary is not None and scan.style.language.spaced:
        return Period(word.unit or "", 0), at + 1
    unit = scan.words[at + 1].unit
    if word.relative is not None and unit in _PERIODS:
        return Period(unit, word.relative), at + 2
    return None


def _bounded_before(scan: Scan, at: int) -> bool:
    return scan.words[at - 1].boundary is not None or scan.words[at - 1].of


def find_period(scan: Scan, at: int) -> Match | None:
    """As in "last month", 先月, 月末, "the end of the month"."""
    word, stretch = scan.words[at], rolling(scan, at)
    if stretch is not None:
        return stretch
    before = word.boundary if word.period is None else None
    start = at + 1 if before is not None else at
    found = period_at(scan, start)
    if found is None or scan.today is None:
        return None
    wanted, end = found
    after = scan.words[end].boundary if before is None else None
    boundary = before or after or word.boundary
    if boundary is None and _needs_boundary(scan, start):
        return None
    whole = _whole(scan, scan.today, wanted)
    if whole is None:
        return None
    value = whole if boundary is None else calendar.part(whole, boundary)
    loose = boundary == "start" or (boundary is not None and wanted.unit != "month")
    return Match(
        SpanKind.DATE, value, at, end + 1 if after else end, "dates.period" if boundary is None else "dates.boundary",
        Ambiguity.APPROXIMATE if loose else None,
    )  # fmt: skip


def _whole(scan: Scan, today: date, wanted: Period) -> DateValue | None:
    if wanted.unit != "fiscal_year":
        return calendar.period(today, wanted.unit, wanted.offset)
    first = scan.style.locale.fiscal_month
    return calendar.fiscal_year(today.year - (today.month < first) + wanted.offset, first)


def _needs_boundary(scan: Scan, at: int) -> bool:
    """月 and 年 alone are a period only before 末; so is "the month"."""
    word = scan.words[at]
    return word.suffix is not None or (word.definite and scan.words[at + 1].relative is None)


def find_weekday(scan: Scan, at: int) -> Match | None:
    """As in "next Friday", "Friday next week", "friday"."""
    today, relative, named = scan.today, scan.words[at].relative, scan.words[at].weekday
    if today is None:
        return None
    if relative is not None and scan.words[at + 1].weekday is not None:
        return _relative_weekday(scan, at, relative, today)
    if named is None:
        return _week_then_day(scan, at, today)
    week = period_at(scan, at + 1)
    if week is not None and week[0].unit == "week":
        return dated(at, week[1], "dates.week_day", calendar.weekday_of_week(today, named, week[0].offset))
    days = calendar.weekday(today, named)
    if weeks := weeks_behind(scan, at + 1):
        return dated(at, at + 2, "dates.week_day", calendar.shift(days[0], "week", weeks))
    return dated(at, at + 1, "dates.weekday", *days, ambiguity=Ambiguity.PAST_OR_FUTURE)


def _week_then_day(scan: Scan, at: int, today: date) -> Match | None:
    """As in "next week on Friday", 来週の火曜日."""
    week = period_at(scan, at)
    if week is None or week[0].unit != "week":
        return None
    end = week[1]
    if scan.words[end].on or scan.words[end].of:
        end += 1
    named = scan.words[end].weekday
    if named is None:
        return None
    return dated(at, end + 1, "dates.week_day", calendar.weekday_of_week(today, named, week[0].offset))


def _relative_weekday(scan: Scan, at: int, relative: int, today: date) -> Match | None:
    named = scan.words[at + 1].weekday or 0
    coming, last = calendar.weekday(today, named)
    of_week = calendar.weekday_of_week(today, named, relative)
    if relative == 0:
        return dated(at, at + 2, "dates.weekday", coming)
    near = coming if relative > 0 else last if last != today else calendar.shift(last, "week", -1)
    days = [near, of_week]
    if relative > 0 and (weeks := weeks_behind(scan, at + 2)):  # "next friday week"
        return dated(at, at + 3, "dates.week_day", calendar.shift(coming, "week", weeks))
    if relative > 0 and scan.style.language.next_weekday == "following":
        days.reverse()
    if days[0] == days[1]:
        return dated(at, at + 2, "dates.weekday", days[0])
    return dated(at, at + 2, "dates.weekday", *days, ambiguity=Ambiguity.WHICH_WEEK)


def find_written(scan: Scan, at: int) -> Match | None:
    """As in 2015-03-03, 13.5.2015, 3/4/2026, 2019/sep/01."""
    fields = _fields(scan, at)
    if fields is None:
        return None
    parts, end = fields
    readings = _orders(scan, parts)
    days = [found for y, m, d in readings if (found := calendar.day(y, m, d)) is not None]
    ambiguity = Ambiguity.DAY_OR_MONTH if len(set(days)) > 1 else None
    return dated(at, end, "dates.written", *days, ambiguity=ambiguity) if days else None


def _fields(scan: Scan, at: int) -> tuple[tuple[str, ...], int] | None:
    numeral = scan.tokens[at].numeral if at < len(scan.tokens) else None
    if numeral is None or numeral.shape == "grouped":
        return None
    if numeral.shape == "dotted":
        parts = tuple(numeral.text.split("."))
        full = len(parts) == _THREE and (len(parts[0]) == _FOUR or len(parts[2]) == _FOUR)
        return (parts, at + 1) if full else None
    before = scan.tokens[at - 1].numeral if at else None
    if not numeral.text.isdigit() or before is not None:
        return None
    fields, end = [numeral.text], at + 1
    mark = scan.text(end)
    while (
        mark in {"-", "/"}
        and scan.text(end) == mark
        and scan.glued(end)
        and scan.glued(end + 1)
        and len(fields) < _THREE
    ):
        following = scan.tokens[end + 1]
        month, said = following.word.month, following.numeral
        written = str(month) if month is not None else said.text if said is not None else ""
        if not written.isdigit():
            break
        fields.append(written)
        end += 2
    whole = len(fields) == _THREE or (len(fields) == _TWO and mark == "/")
    return (tuple(fields), end) if whole and not (scan.text(end) in {"-", "/"} and scan.glued(end)) else None


_TWO: Final = 2
_THREE: Final = 3
_FOUR: Final = 4


def _orders(scan: Scan, parts: Sequence[str]) -> list[tuple[int, int, int]]:
    """The (year, month, day) that written fields may mean, the locale's own order first."""
    numbers = [int(part) for part in parts]
    today = scan.today
    if len(numbers) == _TWO:
        if today is None or len(parts[0]) > _TWO or len(parts[1]) > _TWO:
            return []
        pairs = _by_order(scan, numbers[0], numbers[1])
        years = [(calendar.around(today, m, d)[:1], m, d) for m, d in pairs if _plausible(m, d)]
        return [(days[0].year, m, d) for days, m, d in years if days]
    if len(parts[0]) == _FOUR:
        return [(numbers[0], numbers[1], numbers[2])]
    if len(parts[2]) == _TWO and today is not None:
        year = calendar.full_year(numbers[2], today)
    elif len(parts[2]) == _FOUR:
        year = numbers[2]
    else:
        return []
    return [(year, m, d) for m, d in _by_order(scan, numbers[0], numbers[1])]


def _plausible(month: int, day: int) -> bool:
    return 1 <= month <= calendar.MONTHS and 1 <= day <= 31  # noqa: PLR2004 - the longest month


def _by_order(scan: Scan, first: int, second: int) -> list[tuple[int, int]]:
    month_first = [(first, second), (second, first)]
    match scan.style.locale.date_order:
        case "dmy":
            return month_first[::-1]
        case "ymd":
            return month_first[:1]
        case _:
            return month_first
