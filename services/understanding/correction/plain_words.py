"""Words of a region, or of another hand, as the rules have them: 「予約しといて」, 「払うべ」, 子供 for 子ども."""

import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import lru_cache
from typing import Final

from schemas.consent import ORDERS
from schemas.intent import Route, SlotName, Understood
from schemas.payee import MatchOutcome
from schemas.span import DateValue
from services.understanding.correction.editing_terms import announced_cuts
from services.understanding.correction.merging import set_back
from services.understanding.correction.said import Said

_MOST: Final = 6
"""Places that are put otherwise, at most."""
_DEEPEST: Final = 4
"""Texts that are put otherwise once more."""
_PUT: Final = "put"
"""The group of a pattern that is put otherwise, where not all of it is."""
_WEEK: Final = 7
_SHORT, _LONG = 2, 4
"""Characters of a name that is told by them, at least."""
_TITLE: Final = 3
"""Characters of what stands behind a name and may be a part of it: 翔ちゃん."""


class Rewordings:
    """Texts that are read in the place of others, one within another: none twice, and not for ever."""

    def __init__(self) -> None:
        self._within: list[str] = []

    def read(self, read: Callable[[str], Understood], text: str) -> Understood:
        """What a text means; nothing where it is being read already."""
        if text in self._within or len(self._within) == _DEEPEST:
            return Understood(None)
        self._within.append(text)
        try:
            return read(text)
        finally:
            self._within.pop()


def plainly(said: Said, found: Understood, read: Callable[[str], Understood]) -> Understood | None:
    """What the words surely mean as others would say or write them; nobody agrees by that."""
    if said.context.code or not said.rules.patterns.wordings.plain:
        return None
    in_doubt = found.unresolved or found.unread or found.doubted
    read_all = found.rule is not None and found.route is Route.FAST and not in_doubt
    patterns = said.rules.patterns.wordings
    places = {*_written(said), *_meant(said), *_counted(said), *_spoken(said, patterns.always)}
    places |= {*_told_before(said), *_denied(said)}
    places |= set() if read_all else {*_spoken(said, patterns.plain)} or {*_glued(said, found)}
    text, before = said.text, list[tuple[str, int, int, int]]()
    for start, end, words in sorted(places, reverse=True)[:_MOST]:
        if not before or end <= before[-1][1]:
            before.append((text, start, end, len(words)))
            text = text[:start] + words + text[end:]
    meant = read(text) if text != said.text else None
    if meant is None or meant.intent is None or meant.route is not Route.FAST or meant.consent is not None:
        return None
    for was, start, end, size in reversed(before):
        meant = set_back(meant, was, start, end, size)
    return meant


def _spoken(said: Said, ways: tuple[tuple[re.Pattern[str], str], ...]) -> Iterator[tuple[int, int, str]]:
    """Where something is said as in no rule, and how it would be there."""
    for pattern, words in ways:
        for place in pattern.finditer(said.text):
            put = _PUT if _PUT in pattern.groupindex else 0
            yield place.start(put), place.end(put), words


def _counted(said: Said) -> Iterator[tuple[int, int, str]]:
    """Where a weekday is told by the day of what is read back, or is the one after the next: "the friday after"."""
    rules, terms = said.rules.patterns.orders, said.context.terms
    on, monday = terms.on if terms.awaited in ORDERS else None, said.today - timedelta(days=said.today.weekday())
    for place in rules.after_its_day.finditer(said.text):
        at = place.start("day")
        spans = (span for span in said.heard.spans if span.start <= at < span.end)
        days = [day for span in spans for day in span.values if isinstance(day, DateValue)]
        weekday = days[0].start.weekday() if days else None
        if weekday is not None and place["next"]:
            yield *place.span(), f"{rules.on_day}{monday + timedelta(days=2 * _WEEK + weekday)}"
        elif weekday is not None and on is not None:
            yield *place.span(), f"{rules.on_day}{on + timedelta(days=_ahead(place, weekday - on.weekday()))}"


def _told_before(said: Said) -> Iterator[tuple[int, int, str]]:
    """Where the day on which the bill asked about is due is only said again: "oh, friday? well pay it"."""
    due = next((each.due_on for each in said.context.bills if each.id == said.context.recent_bill), None)
    place = said.rules.patterns.orders.day_again.match(said.text) if due is not None else None
    if place is None or due is None:
        return
    spans = (span for span in said.heard.spans if place.start("day") <= span.start and span.end <= place.end("day"))
    for day in (day for span in spans for day in span.values if isinstance(day, DateValue)):
        weekday = "week" in place.groupdict() and place["week"] and day.start.weekday() == due.weekday()
        if day.start <= due <= day.end or weekday:
            yield *place.span(_PUT), ""


def _denied(said: Said) -> Iterator[tuple[int, int, str]]:
    """Asked which, where behind the one that is meant another is said not to be."""
    place = said.rules.patterns.names.denied_besides.search(said.text) if said.context.choices else None
    if place is not None:
        yield *place.span(), ""


def _glued(said: Said, found: Understood) -> Iterator[tuple[int, int, str]]:
    """Where what money is for stands right before whom it goes to, and was heard as a part of the name."""
    for mention in (each for each in found.unresolved if each.slot is SlotName.PAYEE):
        begin, end = mention.evidence.start, mention.evidence.end
        place = said.rules.patterns.names.purpose_before.match(said.text, begin, end)
        names = (said.text[place.end() : stop] for stop in (end, end + _TITLE)) if place is not None else ()
        outcomes = (match.outcome for match in map(said.called, names) if match is not None)
        if place is not None and MatchOutcome.CLEAR in outcomes:
            yield *place.span(_PUT), ""


def _ahead(place: re.Match[str], days: int) -> int:
    """In how many days from a day the weekday is that is so many away in its week: after it, before it, or there."""
    said = place.groupdict()
    if said.get("same"):
        return days
    return days % -_WEEK or -_WEEK if said.get("before") else (days - 1) % _WEEK + 1


def _meant(said: Said) -> Iterator[tuple[int, int, str]]:
    """What a clause behind a correction has more than what is meant instead: 「いや一郎です、」; it is said without."""
    for cut in announced_cuts(said):
        for pattern, words in said.rules.patterns.wordings.meant:
            place = pattern.match(said.text, cut.start)
            if place is not None:
                yield *place.span(_PUT), words
                break


def _written(said: Said) -> Iterator[tuple[int, int, str]]:
    """Where a word of the caller's own names is written otherwise, or 「の」 stands in one, and how it is in them."""
    names = [each.name for of in (said.context.accounts, said.context.bills, said.context.cards) for each in of]
    of = said.rules.patterns.names.of
    for name in names if of in said.text else [each for each in names if of in each]:
        for place in _loosely(name, of).finditer(said.text):
            if place[0] != name:
                yield place.start(), place.end(), name
    yield from _nicknamed(said)
    for ways in said.rules.patterns.wordings.written:
        other = next((each for each in ways if each in said.text), None)
        if other is None:
            continue
        own = next((each for each in ways for name in names if each in name), None)
        if own is not None and own != other and own not in said.text:
            at = said.text.index(other)
            yield at, at + len(other), own


def _nicknamed(said: Said) -> Iterator[tuple[int, int, str]]:
    """Where money is moved to an own account by a name without what each is called: 「へそくりに移して」."""
    generic = said.rules.nouns.generic.get("account", ())
    for name in (each.name for each in said.context.accounts):
        bare = next((name.removesuffix(end) for end in generic if name.endswith(end)), "")
        begins = len(bare) >= _SHORT and said.text.startswith(bare)
        if begins and said.rules.patterns.wordings.moved_onto.match(said.text, len(bare)):
            yield 0, len(bare), name


@lru_cache(maxsize=1024)
def _loosely(name: str, of: str) -> re.Pattern[str]:
    """A long name with or without 「の」 between its words: 「介護の保険料」."""
    bare = name.replace(of, "")
    return re.compile(f"(?:{of})?".join(map(re.escape, bare)) if len(bare) >= _LONG else "(?!)")
