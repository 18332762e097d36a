"""Days and times that come again: "every friday", "the first of each month", 毎月25日."""

from dataclasses import replace

from schemas.span import Ambiguity, DateValue
from services.normalization.scan import Match, Scan


def recurs(scan: Scan, found: Match) -> bool:
    """Whether words around a date or time repeat it; they stay outside of its span, for others to find."""
    at = found.start - 1
    at -= scan.words[at].of or scan.words[at].on or scan.words[at].at
    named = scan.words[at].unit is not None or scan.words[at].period is not None
    before = scan.words[at].recurring or (named and scan.words[at - 1].recurring)
    behind = scan.words[found.end].of and scan.words[found.end + 1].recurring
    return before or behind


def first_time(scan: Scan, found: Match) -> Match:
    """The match with its first day from today on as its one value."""
    days = [value for value in (found.value, *(v for _, v in found.readings)) if isinstance(value, DateValue)]
    coming = [day for day in days if scan.today is not None and day.end >= scan.today]
    value = min(coming, key=lambda day: day.start) if coming else found.value
    return replace(found, value=value, readings=() if days else found.readings, ambiguity=Ambiguity.RECURRING)
