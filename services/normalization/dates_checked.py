"""Dates said with their weekday: "friday march sixth", "thursday the 8th". The two must agree, or it is asked."""

from dataclasses import replace
from datetime import date

from schemas.span import Ambiguity, DateValue, SpanKind
from services.normalization import calendar
from services.normalization.dates_named import find_named
from services.normalization.ordinals import ordinal
from services.normalization.scan import Match, Scan, dated

_MONTHS = 14
"""Months searched for a day that falls on the weekday said."""


def find_checked(scan: Scan, at: int) -> Match | None:
    """A weekday, and the date that it belongs to."""
    weekday = scan.words[at].weekday
    if weekday is None or scan.today is None:
        return None
    start = at + 2 if scan.text(at + 1) == "," else at + 1
    found = find_named(scan, start)
    if found is not None and found.rule != "dates.day_alone":
        return _agreeing(scan, at, found, weekday)
    day = ordinal(scan, start + scan.words[start].definite)
    if day is None:
        return None
    days = _falling(scan.today, day[0], weekday)
    return dated(at, day[1], "dates.weekday_and_day", *days, ambiguity=Ambiguity.PAST_OR_FUTURE)


def checked_behind(scan: Scan, found: Match) -> Match:
    """A date with the weekday said behind it: "march sixth, friday", 20日(金)."""
    if found.kind is not SpanKind.DATE:
        return found
    at = found.end
    opened = scan.text(at) == "("
    if opened or scan.text(at) in {",", "、"} or scan.words[at].of:
        at += 1
    weekday = scan.words[at].weekday
    if weekday is None and opened and len(scan.text(at)) == 1:
        weekday = _marked(scan, at)
    if weekday is None or scan.today is None or found.rule.startswith("dates.weekday"):
        return found
    agreeing = _agreeing(scan, found.start, found, weekday)
    denied = found.start > 0 and scan.text(found.start - 1) in scan.style.language.denials
    if denied and agreeing is not None and agreeing.ambiguity is Ambiguity.WHICH_WEEK:
        return found  # "not today, thursday": the weekday is meant instead
    end = at + 1 + (opened and scan.text(at + 1) == ")")
    return replace(agreeing, end=end) if agreeing is not None else found


def _marked(scan: Scan, at: int) -> int | None:
    place = scan.style.language.weekday_marks.find(scan.text(at))
    return place if place >= 0 else None


def _agreeing(scan: Scan, at: int, found: Match, weekday: int) -> Match | None:
    """The readings that fall on the weekday; all of them, and the weekday's own day, where none does."""
    values = [value for value in (found.value, *(v for _, v in found.readings)) if isinstance(value, DateValue)]
    days = [value.start for value in values if value.start == value.end]
    right = [day for day in days if day.weekday() == weekday]
    if right:
        return dated(at, found.end, "dates.weekday_and_date", *right, ambiguity=found.ambiguity)
    coming = calendar.weekday(scan.today, weekday)[:1] if scan.today is not None else ()
    return dated(at, found.end, "dates.weekday_against_date", *days, *coming, ambiguity=Ambiguity.WHICH_WEEK)


def _falling(today: date, number: int, weekday: int) -> tuple[date, ...]:
    """The days of that number and weekday: the coming one, then the last one."""
    firsts = [calendar.add_months(today.replace(day=1), months) for months in range(-_MONTHS, _MONTHS + 1)]
    days = [calendar.day(first.year, first.month, number) for first in firsts if first is not None]
    falling = [day for day in days if day is not None and day.weekday() == weekday]
    coming = [day for day in falling if day >= today]
    return (*coming[:1], *[day for day in falling if day < today][-1:])
