"""The calendar: what relative words mean from a given day. No grammar here, and no words."""

from calendar import monthrange
from collections.abc import Callable
from datetime import date, timedelta
from typing import Final

from schemas.span import DateValue

MONTHS: Final = 12
WEEK: Final = 7
_REACH: Final = 8
"""Years searched for a day that most years lack (29 February)."""
_MONTHS_REACH: Final = 3
_MAX_SHIFT: Final = 4_000
"""No relative expression reaches further, in units."""


def day(year: int, month: int, number: int) -> date | None:
    """The day, if it exists."""
    try:
        return date(year, month, number)
    except (ValueError, OverflowError):
        return None


def add_months(start: date, months: int) -> date | None:
    """The same day `months` later, or the last day of a shorter month."""
    year, month = divmod(start.year * MONTHS + start.month - 1 + months, MONTHS)
    if not date.min.year <= year < date.max.year:
        return None
    return date(year, month + 1, min(start.day, monthrange(year, month + 1)[1]))


def shift(start: date, unit: str, count: int) -> date | None:
    """`count` units (day, week, month, year) from a day; None beyond reach or for another unit."""
    if abs(count) > _MAX_SHIFT:
        return None
    match unit:
        case "day":
            days = count
        case "week":
            days = WEEK * count
        case "month":
            return add_months(start, count)
        case "year":
            return add_months(start, MONTHS * count)
        case _:
            return None
    try:
        return start + timedelta(days=days)
    except OverflowError:
        return None


def period(today: date, unit: str, offset: int) -> DateValue | None:
    """The whole week (from Monday), month or year `offset` from the current one."""
    if unit == "weekend":
        week = period(today, "week", offset)
        return DateValue(week.end - timedelta(days=1), week.end) if week is not None else None
    inside = shift(today, unit, offset)
    if inside is None:
        return None
    match unit:
        case "week":
            monday = inside - timedelta(days=inside.weekday())
            return DateValue(monday, monday + timedelta(days=WEEK - 1))
        case "month":
            return month(inside.year, inside.month)
        case "year":
            return DateValue(date(inside.year, 1, 1), date(inside.year, MONTHS, 31))
        case _:
            return DateValue.day(inside)


def fiscal_year(year: int, first_month: int) -> DateValue | None:
    """The twelve months from the first one of a fiscal year, which is named after the year that it begins in."""
    first, behind = day(year, first_month, 1), day(year + 1, first_month, 1)
    return DateValue(first, behind - timedelta(days=1)) if first is not None and behind is not None else None


def month(year: int, number: int) -> DateValue | None:
    """A whole month."""
    first = day(year, number, 1)
    return DateValue(first, date(year, number, monthrange(year, number)[1])) if first is not None else None


def coming_month(today: date, number: int) -> DateValue | None:
    """This month or the next one of that number."""
    return month(today.year + (number < today.month), number)


def part(whole: DateValue, boundary: str) -> DateValue:
    """A part of a period: its start or end day, or its early, mid or late stretch."""
    first, last = whole.start, whole.end
    match boundary:
        case "start":
            return DateValue.day(first)
        case "end":
            return DateValue.day(last)
        case "early":
            return DateValue(first, min(last, first + timedelta(days=9)))
        case "mid":
            return DateValue(first + timedelta(days=10), min(last, first + timedelta(days=19)))
        case _:
            return DateValue(min(last, first + timedelta(days=20)), last)


def around(today: date, month_number: int, number: int) -> tuple[date, ...]:
    """A month's day without a year: the coming one, then the last one."""
    return _both(today, lambda years: day(today.year + years, month_number, number), _REACH)


def around_month(today: date, number: int) -> tuple[date, ...]:
    """A day without a month: the coming one, then the last one."""
    this_month = today.replace(day=1)

    def in_month(months: int) -> date | None:
        first = add_months(this_month, months)
        return day(first.year, first.month, number) if first is not None else None

    return _both(today, in_month, _MONTHS_REACH)


def _both(today: date, at: Callable[[int], date | None], reach: int) -> tuple[date, ...]:
    """The first day from today on and the last one before, of those `at` so many periods from the current one."""
    coming = next((d for n in range(reach + 1) if (d := at(n)) is not None and d >= today), None)
    last = next((d for n in range(reach + 1) if (d := at(-n)) is not None and d < today), None)
    return tuple(d for d in (coming, last) if d is not None)


def weekday(today: date, number: int) -> tuple[date, ...]:
    """A bare weekday: the next one after today, then the latest up to today."""
    ahead = (number - today.weekday() - 1) % WEEK + 1
    coming = today + timedelta(days=ahead)
    return coming, coming - timedelta(days=WEEK)


def weekday_of_week(today: date, number: int, weeks: int) -> date | None:
    """A weekday of the week `weeks` from the current one; weeks start on Monday."""
    return shift(today, "day", number - today.weekday() + WEEK * weeks)


def full_year(two_digits: int, today: date) -> int:
    """The year that two digits mean: at most ten years ahead, else in the past."""
    century = today.year - today.year % 100
    year = century + two_digits
    return year if year <= today.year + 10 else year - 100
