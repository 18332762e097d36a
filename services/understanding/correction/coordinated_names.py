"""Names in a row, in a language with spaces: "to grant harpreet and bob", whether or not somebody bears them."""

from dataclasses import replace
from itertools import pairwise
from typing import Final

from schemas.ids import PayeeId
from schemas.intent import Evidence, Intent, Route, SlotName, Understood
from services.understanding.correction.editing_terms import held_units
from services.understanding.correction.mentions import Mentions
from services.understanding.correction.said import Said
from services.understanding.fast.words.left import unknown

_WORDS: Final = 3  # of one name, at most
_MOST: Final = 10  # words that may be names
_ASKED: Final = 3  # who may be meant
_SURE: Final = 0.99
Named = tuple[Evidence, list[PayeeId]]


def in_a_row(said: Said, *, several: bool = False) -> list[Named]:
    """All that is named, by one that none bears nobody; nothing where other words stand between the names.

    Nor is one name alone looked at where `several` are wanted.
    """
    held = {place.start: (place, ids) for place, ids in Mentions.of_all(said).everyone}
    free = {unit for each in unknown(said.hearing) for unit in _units(said, each)}
    places = sorted(free.union(*(_units(said, place) for place, _ in held.values())))
    if not places or places[-1] - places[0] > _MOST or (several and len(held) == 1 and not free):
        return []
    found, at = list[Named](), places[0]
    while at <= places[-1]:
        named = [each for each in (held.get(said.units.starts[at]), _at(said, at)) if each is not None]
        named = named or ([(_place(said, at, 1), [])] if at in free else [])
        found += sorted(named, key=lambda each: each[0].end)[-1:]
        at = max(at, *(_units(said, found[-1][0]) if named else ())) + 1 if named else at + 1
    rows, joins = [found[:1]], said.rules.patterns.names.joined_names
    for (one, _), two in pairwise(found):
        rows += [] if joins.fullmatch(said.text, one.end, two[0].start) else [[]]
        rows[-1].append(two)
    rows = [row for row in rows if any(ids for _, ids in row)]
    return rows[0] if len(rows) == 1 else []


def beside_others(said: Said, found: Understood) -> Understood:
    """The order, or the question who of several in a row is meant; nobody's name there stays unread."""
    payee = found.slots.payee
    row = in_a_row(said, several=True) if payee is not None else []
    known = list(dict.fromkeys(ids[0] for _, ids in row if ids))
    if payee is None or payee.value not in known:
        return found
    if len(known) == 1:
        joined = said.rules.cues.joined
        unread = [place for place, ids in row if not ids and said.text.endswith(joined, 0, place.start)]
        return replace(found, unread=(*found.unread, *unread))
    asked = replace(found, route=Route.FAST, rule=said.rules.cues.rule("in_a_row"))
    if len(known) > _ASKED or any(len(ids) > 1 for _, ids in row):
        missing = (*found.missing, SlotName.PAYEE)
        return replace(asked, slots=replace(found.slots, payee=None), missing=missing, payees=None)
    slots = replace(found.slots, payee=replace(payee, value=known[0], readings=tuple(known[1:])))
    return replace(asked, slots=slots, doubted=(SlotName.PAYEE,))


def listed(said: Said, found: Understood) -> Understood | None:
    """The order for one of all that are named beside its payee; None where nobody is."""
    open_ = found.intent is Intent.TRANSFER_MONEY and said.context.idle and not (found.then or found.doubted)
    asked = beside_others(said, found) if open_ and said.rules.spaced else found
    return asked if asked.doubted or asked.slots.payee is not found.slots.payee else None


def _units(said: Said, place: Evidence) -> range:
    return range(*(said.units.covering(place.start, place.end) or (0, 0)))


def _place(said: Said, at: int, size: int) -> Evidence:
    starts, ends = said.units.starts, said.units.ends
    return said.heard.evidence(starts[at], ends[at + size - 1], said.rules.cues.rule("in_a_row"))


def _at(said: Said, at: int) -> Named | None:
    """The longest name of somebody's that begins at a unit."""
    if not _may_begin(said, at):
        return None
    for size in range(min(_WORDS, len(said.units.words) - at), 0, -1):
        place = _place(said, at, size)
        match = said.called(place.surface)
        whole = match is not None and match.candidates and match.end - match.start >= len(place.surface)
        if match is not None and whole and match.candidates[0].score >= _SURE:
            return place, [match.choice] if match.choice else [each.id for each in match.candidates[: match.plausible]]
    return None


def _may_begin(said: Said, at: int) -> bool:
    """Whether a word may begin a name: no number, and no "from" or "the" unless somebody in the book is called so."""
    word, rules, own = said.units.words[at], said.rules, said.rules.symbols.get("own")
    if word in said.names or said.hearing.reading.lattice.of({own}, at, at + 1):  # "my accountant"
        return True
    return at not in held_units(said) and not rules.phrases.not_names.begins((word,), 0)
