"""Weekdays beside a date, and within a month: "friday march sixth", "thursday the 8th", "the first friday of july".

And weeks counted from a day that stands right beside them: "a week today", "friday fortnight".
"""

from datetime import date, timedelta
from typing import Final

from schemas.span import Ambiguity, DateValue, SpanKind
from services.normalization import calendar
from services.normalization.scan import Match, Scan, dated
from services.normalization.years import over_comma, year_at

WEEKS_OF: Final = {"fortnight": ("week", 2)}


def weekday_of_month(scan: Scan, at: int) -> Match | None:
    """An ordinal or "last", a weekday, and the month they count in."""
    start = at + 1 if scan.words[at].definite else at
    which = scan.words[start].ordinal or scan.words[start].relative
    named = scan.words[start + 1].weekday
    if not which or named is None or not scan.words[start + 2].of or scan.today is None:
        return None
    months, end = _months(scan, start + 3)
    days = [_pick(month, named, which) for month in months]
    doubt = Ambiguity.PAST_OR_FUTURE if len(days) > 1 else None
    return dated(at, end, "dates.weekday_of_month", *days, ambiguity=doubt)


def _months(scan: Scan, at: int) -> tuple[list[DateValue], int]:
    """The months that the words at a place may mean, the preferred first, and where they end."""
    at += scan.words[at].definite
    today, number = scan.today, scan.words[at].month
    if today is None:
        return [], at
    if number is not None:
        year = year_at(scan, over_comma(scan, at + 1))
        coming = today.year + (number < today.month)
        years = [year[0]] if year is not None else [coming, coming - 1]
        wholes = [calendar.month(y, number) for y in years]
        return [whole for whole in wholes if whole is not None], year[1] if year is not None else at + 1
    relative = scan.words[at].relative
    behind = at if relative is None else at + 1
    whole = calendar.period(today, "month", relative or 0) if scan.words[behind].unit == "month" else None
    return ([whole], behind + 1) if whole is not None else ([], at)


def _pick(month: DateValue, weekday: int, which: int) -> date | None:
    """The which-th such weekday of a month, counted from its end where `which` is negative."""
    if which < 0:
        back = (month.end.weekday() - weekday) % calendar.WEEK
        return month.end - timedelta(days=back)
    ahead = (weekday - month.start.weekday()) % calendar.WEEK + calendar.WEEK * (which - 1)
    found = month.start + timedelta(days=ahead)
    return found if found <= month.end else None


def weeks_behind(scan: Scan, at: int) -> int:
    """How many weeks are added to the day before them: "tomorrow week", "friday fortnight"."""
    unit = scan.words[at].unit if scan.style.language.spaced else None
    base, times = WEEKS_OF.get(unit or "", (unit, 1))
    return times if base == "week" else 0


def on_its_day(scan: Scan, at: int, end: int) -> bool:
    """Whether a day tells from when weeks count: "a week today", "a fortnight friday"; not "fifty a week friday"."""
    if scan.words[end].day in {0, 1} and not scan.words[at - 1].recurring:
        return True  # beside a sum as well: none is paid every week today
    before, day = scan.words[at - 1], scan.words[end]
    loose = before.recurring or before.value is not None or before.currency is not None or before.scale is not None
    figure = at > 0 and scan.tokens[at - 1].numeral is not None
    return (day.weekday is not None or (day.day is not None and day.day >= 0)) and not loose and not figure


def rolling(scan: Scan, at: int) -> Match | None:
    """As in "the last month", "past fortnight", "in the next week": a stretch to or from today, not the calendar's."""
    start = at + scan.words[at].definite
    word, unit = scan.words[start], scan.words[start + 1].unit or ""
    base, times = WEEKS_OF.get(unit, (unit, 1))
    closed = start > at or word.direction is not None  # "in the past" is one word
    named = base != unit or (closed and base in {"week", "month", "year"})
    ahead = start > at and word.relative == 1 and scan.words[at - 1].inside
    if not (word.rolling or ahead) or not named or scan.today is None:
        return None
    other = calendar.shift(scan.today, base, times if ahead else -times)
    if other is None:
        return None
    first, last = sorted((other, scan.today))
    return Match(SpanKind.DATE, DateValue(first, last), at, start + 2, "dates.window")
