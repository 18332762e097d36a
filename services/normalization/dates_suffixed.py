"""Dates in languages that mark their numbers: 2026年3月15日, 令和三年八月, 来月五日, 十二日."""

from dataclasses import dataclass
from typing import Final

from schemas.span import Ambiguity, SpanKind
from services.normalization import calendar
from services.normalization.numbers import marked, number
from services.normalization.scan import Match, Scan, dated, no_such_day

_NO_DAY: Final = 100
"""Numbers from here on are no days, not even such as no month has."""
_TENS: Final = (10, 20, 30)
_YEARS: Final = range(1800, 2200)


@dataclass(slots=True)
class _Parts:
    """What has been said so far, and where the words end."""

    end: int
    year: int | None = None
    month: int | None = None
    day: int | None = None
    months: int | None = None  # a month named from the current one: 来月


def find_suffixed(scan: Scan, at: int) -> Match | None:
    """Year, month and day in this order, each may be missing."""
    parts = _Parts(at)
    if not (_period_part(scan, parts) or _year(scan, parts)):
        parts.end = at
    if parts.months is None:
        _month(scan, parts)
    _day(scan, parts)
    if parts.end == at or (parts.day is None and parts.month is None):
        return _year_alone(scan, at, parts)
    return _resolved(scan, at, parts)


def _marked(scan: Scan, at: int, suffix: str) -> tuple[int, int] | None:
    return marked(scan, at + 1 if scan.words[at].of else at, suffix)


def _period_part(scan: Scan, parts: _Parts) -> bool:
    """来月, 去年: a period that a month or day follows."""
    period = scan.words[parts.end].period
    if period is None or scan.today is None or scan.words[parts.end].suffix is not None:
        return False
    if period.unit == "year":
        parts.year = scan.today.year + period.offset
    elif period.unit == "month":
        parts.months = period.offset
    else:
        return False
    parts.end += 1
    return True


def _year(scan: Scan, parts: _Parts) -> bool:
    era = scan.words[parts.end].era
    start = parts.end + 1 if era is not None else parts.end
    if era is not None and scan.words[start].first_year and scan.words[start + 1].suffix == "year":
        parts.year, parts.end = era + 1, start + 2
        return True
    found = _marked(scan, start, "year") or _marked(scan, start, "fiscal_year")
    if found is None:
        return False
    year = found[0] + (era or 0)
    if year not in _YEARS:
        return False
    parts.year, parts.end = year, found[1]
    return True


def _month(scan: Scan, parts: _Parts) -> None:
    found = _marked(scan, parts.end, "month")
    if found is not None and 1 <= found[0] <= calendar.MONTHS:
        parts.month, parts.end = found


def _day(scan: Scan, parts: _Parts) -> None:
    start = parts.end + 1 if scan.words[parts.end].of else parts.end
    named = scan.words[start].day_of_month
    if named is not None:
        parts.day, parts.end = named, start + 1
        return
    found = _marked(scan, parts.end, "day") or _tens_and_first(scan, parts.end)
    if found is not None and 1 <= found[0] < _NO_DAY:
        parts.day, parts.end = found


def _tens_and_first(scan: Scan, at: int) -> tuple[int, int] | None:
    """二十一日: the name of the first, 一日, is no day of its own behind tens."""
    found = number(scan, at + 1 if scan.words[at].of else at)
    if found is None or found.whole not in _TENS or scan.words[found.end].day_of_month != 1:
        return None
    return found.whole + 1, found.end + 1


def _resolved(scan: Scan, at: int, parts: _Parts) -> Match | None:
    if parts.months is not None:
        return _of_period(scan, at, parts, parts.months)
    if parts.year is not None and parts.month is not None:
        if parts.day is None:
            return _whole_month(at, parts.end, parts.year, parts.month)
        full = dated(at, parts.end, "dates.full", calendar.day(parts.year, parts.month, parts.day))
        return full or no_such_day(at, parts.end, calendar.month(parts.year, parts.month))
    return _without_year(scan, at, parts) if parts.year is None else None


def _of_period(scan: Scan, at: int, parts: _Parts, months: int) -> Match | None:
    """As in 来月五日."""
    whole = calendar.period(scan.today, "month", months) if scan.today is not None else None
    if whole is None or parts.day is None:
        return None
    day = calendar.day(whole.start.year, whole.start.month, parts.day)
    return dated(at, parts.end, "dates.day_of_period", day) or no_such_day(at, parts.end, whole)


def _without_year(scan: Scan, at: int, parts: _Parts) -> Match | None:
    """As in 三月十五日, 十二日, 八月."""
    today = scan.today
    if today is None:
        return None
    if parts.month is None:
        days, rule = calendar.around_month(today, parts.day or 0), "dates.day_alone"
        if not days:
            return no_such_day(at, parts.end, calendar.period(today, "month", 0))
    elif parts.day is None:
        return _whole_month(at, parts.end, today.year, parts.month)
    else:
        days, rule = calendar.around(today, parts.month, parts.day), "dates.month_day"
        if not days:
            return no_such_day(at, parts.end, calendar.coming_month(today, parts.month))
    return dated(at, parts.end, rule, *days, ambiguity=Ambiguity.PAST_OR_FUTURE)


def _whole_month(at: int, end: int, year: int, month: int) -> Match | None:
    whole = calendar.month(year, month)
    return None if whole is None else Match(SpanKind.DATE, whole, at, end, "dates.month_year")


def _year_alone(scan: Scan, at: int, parts: _Parts) -> Match | None:
    """As in 二〇二四年, 2025年末, 令和七年度."""
    suffix = scan.words[parts.end - 1].suffix
    if parts.year is None or parts.end == at or suffix not in {"year", "fiscal_year"}:
        return None
    whole = calendar.fiscal_year(parts.year, scan.style.locale.fiscal_month if suffix == "fiscal_year" else 1)
    boundary = scan.words[parts.end].boundary
    if whole is None:
        return None
    if boundary is None:
        return Match(SpanKind.DATE, whole, at, parts.end, "dates.year")
    return Match(SpanKind.DATE, calendar.part(whole, boundary), at, parts.end + 1, "dates.boundary")
