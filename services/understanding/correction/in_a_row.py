"""Names in a row, in a language with spaces: "to grant harpreet and bob", whether or not somebody bears them."""

from itertools import pairwise
from typing import Final

from schemas.ids import PayeeId
from schemas.intent import Evidence
from services.understanding.correction.named import Mentions
from services.understanding.correction.said import Said
from services.understanding.fast.words.left import unknown

_MOST_WORDS: Final = 3
"""Words of one name, at most."""
_MOST: Final = 10
"""Words that may be names, at most."""
_SURE: Final = 0.99
Named = tuple[Evidence, list[PayeeId]]
"""Where a name stands, and who may be meant: nobody by one that none bears."""


def in_a_row(said: Said) -> list[Named]:
    """All that is named, nobody's names among it; nothing where other words stand between the names."""
    held = {place.start: (place, ids) for place, ids in Mentions.of_all(said).everyone}
    free = {unit for each in unknown(said.hearing) for unit in _units(said, each)}
    places = sorted(free.union(*(_units(said, place) for place, _ in held.values())))
    if not places or places[-1] - places[0] > _MOST:
        return []
    found, at = list[Named](), places[0]
    while at <= places[-1]:
        named = [each for each in (held.get(said.units.starts[at]), _at(said, at)) if each is not None]
        named = named or ([(_place(said, at, 1), [])] if at in free else [])
        found += sorted(named, key=lambda each: each[0].end)[-1:]
        at = max(at, *(_units(said, found[-1][0]) if named else ())) + 1 if named else at + 1
    joins, rows = said.rules.patterns.joined_names, [found[:1]]
    for (one, _), two in pairwise(found):
        if joins.fullmatch(said.text, one.end, two[0].start):
            rows[-1].append(two)
        else:
            rows.append([two])
    rows = [row for row in rows if any(ids for _, ids in row)]
    return rows[0] if len(rows) == 1 else []


def _units(said: Said, place: Evidence) -> range:
    return range(*(said.units.covering(place.start, place.end) or (0, 0)))


def _place(said: Said, at: int, size: int) -> Evidence:
    starts, ends = said.units.starts, said.units.ends
    return said.heard.evidence(starts[at], ends[at + size - 1], said.rules.accounts.rule("apiece"))


def _at(said: Said, at: int) -> Named | None:
    """The longest name of somebody's that begins at a unit."""
    for size in range(min(_MOST_WORDS, len(said.units.words) - at), 0, -1):
        place = _place(said, at, size)
        match = said.called(place.surface)
        whole = match is not None and match.candidates and match.end - match.start >= len(place.surface)
        if match is not None and whole and match.candidates[0].score >= _SURE:
            return place, [match.choice] if match.choice else [each.id for each in match.candidates[: match.plausible]]
    return None
