"""Dates in languages that name their months: "the fifteenth of march", "july twenty second two thousand eight"."""

from typing import Final

from schemas.span import Ambiguity, DateValue, SpanKind
from services.normalization import calendar
from services.normalization.cardinals import TEN, atom, spoken_pair
from services.normalization.dates_weekday import weekday_of_month
from services.normalization.ordinals import ordinal
from services.normalization.scan import Match, Scan, dated, no_such_day
from services.normalization.years import measured, over_comma, year_at

_LONGEST: Final = 31
_TIES: Final = frozenset({"/", "."})


def find_named(scan: Scan, at: int) -> Match | None:
    """A date whose month is named, or a day of a month that is clear."""
    word = scan.words[at]
    if word.month is not None:
        if word.doubtful and scan.words[at - 1].subject:
            return None
        return _month_first(scan, at, word.month)
    if word.boundary is not None:
        return _part_of_month(scan, at, word.boundary)
    return weekday_of_month(scan, at) or _day_first(scan, at) or _year_first(scan, at)


def _month_first(scan: Scan, at: int, month: int) -> Match | None:
    start = at + 1
    if scan.words[start].definite or (scan.text(start) in _TIES and scan.glued(start)):
        start += 1
    found = day_number(scan, start)
    year = year_at(scan, over_comma(scan, at + 1)) if found is None or scan.tokens[start].numeral is None else None
    if found is None or (year is not None and year[1] > _after_year(scan, found[1])):
        return _month_alone(scan, at, month) if year is None else _month_year(at, month, year)
    day, end = found
    return _resolved(scan, at, month, day, end)


def _after_year(scan: Scan, end: int) -> int:
    """Where the date ends if the number behind the month is its day."""
    year = year_at(scan, over_comma(scan, end))
    return year[1] if year is not None else end


def _month_alone(scan: Scan, at: int, month: int) -> Match | None:
    """As in "in january": the current or last one, or the coming one."""
    before = scan.words[at - 1]
    announced = before.during or before.relative is not None
    if scan.today is None or (scan.words[at].doubtful and not announced):
        return None
    relative = before.relative or 0
    begun = month < scan.today.month or (month == scan.today.month and relative >= 0)
    last = scan.today.year if begun else scan.today.year - 1
    years = (last + 1, last) if relative > 0 else (last, last + 1)
    first, other = (calendar.month(year, month) for year in years)
    if first is None or other is None:
        return None
    readings = ((SpanKind.DATE, other),)
    return Match(SpanKind.DATE, first, at, at + 1, "dates.month", Ambiguity.PAST_OR_FUTURE, readings)


def _part_of_month(scan: Scan, at: int, boundary: str) -> Match | None:
    """As in "end of march", "the last day of october 2015"."""
    month = scan.words[at + 1].month
    if month is None or scan.today is None:
        return None
    year = year_at(scan, over_comma(scan, at + 2))
    if year is not None:
        whole = calendar.month(year[0], month)
        return None if whole is None else _part(at, year[1], [calendar.part(whole, boundary)])
    years = (scan.today.year + (month < scan.today.month), scan.today.year - (month >= scan.today.month))
    wholes = [calendar.month(y, month) for y in years]
    return _part(at, at + 2, [calendar.part(whole, boundary) for whole in wholes if whole is not None])


def _part(at: int, end: int, values: list[DateValue]) -> Match:
    readings = tuple((SpanKind.DATE, value) for value in values[1:])
    doubt = Ambiguity.PAST_OR_FUTURE if readings else None
    return Match(SpanKind.DATE, values[0], at, end, "dates.part_of_month", doubt, readings)


def _month_year(at: int, month: int, year: tuple[int, int]) -> Match | None:
    whole = calendar.month(year[0], month)
    return None if whole is None else Match(SpanKind.DATE, whole, at, year[1], "dates.month_year")


def _day_first(scan: Scan, at: int) -> Match | None:
    """As in "the fifteenth of march", "15 June 2016", "20th of next month", "the 22nd"."""
    definite = scan.words[at].definite
    start = at + 1 if definite else at
    found = day_number(scan, start, alone=True)
    if found is None:
        return None
    day, end = found
    link = end + 1 if scan.words[end].of else end
    month = scan.words[link].month
    if month is not None:
        return _resolved(scan, at, month, day, link + 1)
    if link != end:
        monthly = scan.words[link].recurring and scan.words[link + 1].unit == "month"
        found_of = _of_ordinal(scan, at, day, link) or _of_period(scan, at, day, link)
        return _any_month(scan, at, day, end) if monthly else found_of
    return _bare(scan, at, day, end) if ordinal(scan, start) is not None and definite else None


def _year_first(scan: Scan, at: int) -> Match | None:
    """As in "2019-sep-1"."""
    month, year = scan.words[at + 1].month, year_at(scan, at)
    found = day_number(scan, at + 2) if month is not None and year is not None and year[1] == at + 1 else None
    if found is None or month is None or year is None:
        return None
    return dated(at, found[1], "dates.full", calendar.day(year[0], month, found[0]))


def _any_month(scan: Scan, at: int, day: int, end: int) -> Match | None:
    """As in "the fifteenth" of every month."""
    days = calendar.around_month(scan.today, day)[:1] if scan.today is not None else ()
    return dated(at, end, "dates.day_alone", *days)


def _of_ordinal(scan: Scan, at: int, day: int, link: int) -> Match | None:
    """As in "the sixth of the sixth"."""
    month = ordinal(scan, link + 1) if scan.words[link].definite else None
    return _resolved(scan, at, month[0], day, month[1]) if month is not None and month[0] <= calendar.MONTHS else None


def _of_period(scan: Scan, at: int, day: int, link: int) -> Match | None:
    """As in "20th of the next month"."""
    start = link + 1 if scan.words[link].definite else link
    relative, unit = scan.words[start].relative, scan.words[start + 1].unit
    if scan.today is None:
        return None
    if relative is None and start > link and scan.words[start].unit == "month":
        return dated(at, start + 1, "dates.day_of_month", *calendar.around_month(scan.today, day)[:1])
    if relative is None or unit != "month":
        return None
    whole = calendar.period(scan.today, "month", relative)
    if whole is None:
        return None
    return dated(at, start + 2, "dates.day_of_period", calendar.day(whole.start.year, whole.start.month, day))


def _bare(scan: Scan, at: int, day: int, end: int) -> Match | None:
    """As in "the fifteenth" at the end of a clause; low ones are choices ("the second") unless a preposition leads.

    "On the fifteenth" is a day as well with which all begins.
    """
    led = at > 0 and scan.words[at - 1].on
    begins = led and at == 1 and (day > TEN or scan.words[end].ordering)
    if scan.today is None or not (scan.ends(end) or begins) or (day <= TEN and not led):
        return None
    days = calendar.around_month(scan.today, day)
    return dated(at, end, "dates.day_alone", *days, ambiguity=Ambiguity.PAST_OR_FUTURE)


def _resolved(scan: Scan, at: int, month: int, day: int, end: int) -> Match | None:
    year = year_at(scan, over_comma(scan, end))
    if year is not None:
        found = calendar.day(year[0], month, day)
        full = dated(at, year[1], "dates.full", found)
        return full or no_such_day(at, year[1], calendar.month(year[0], month))
    if scan.today is None:
        return None
    days = calendar.around(scan.today, month, day)
    near = dated(at, end, "dates.month_day", *days, ambiguity=Ambiguity.PAST_OR_FUTURE)
    return near or no_such_day(at, end, calendar.coming_month(scan.today, month))


def day_number(scan: Scan, at: int, *, alone: bool = False) -> tuple[int, int] | None:
    """A day from 1 to 31, as an ordinal or a plain number, and the token behind it."""
    said = ordinal(scan, at)
    if said is not None:
        return said if 1 <= said[0] <= _LONGEST else None
    pair = spoken_pair(scan, at)
    single = atom(scan, at) if pair is None else None
    if pair is not None:
        value, end = pair
    elif single is not None:
        value, end = single.value, single.end
    else:
        return None
    if not 1 <= value <= _LONGEST or measured(scan, end):
        return None
    numeral = scan.tokens[at].numeral
    if numeral is not None and len(numeral.text) > len(str(_LONGEST)):
        return None
    if alone and scan.text(end) == "." and scan.glued(end):
        end += 1
    return value, end
