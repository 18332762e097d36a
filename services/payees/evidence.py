"""Why a form may be meant: how near its spelling and its sounds are to everything that was heard."""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
from rapidfuzz import process
from rapidfuzz.distance import Levenshtein
from rapidfuzz.fuzz import ratio

from services.payees.calibration import calibration
from services.payees.forms import Forms
from services.payees.phones import consonants, features
from services.payees.said import NameHypotheses, QueryForm

RETRIEVED: Final = 96
"""Forms that are compared in full."""
WEIGHED: Final = 8
"""Forms whose evidence is taken apart."""
_NEAR: Final = 0.85
ALIKE: Final = 0.5
"""Of what is less alike than this, spelling and sounds together, nothing is worth weighing: nobody is meant."""
_SHARED: Final = 0.3
"""Of a form that shares less than this of the sounds heard, in pairs, none is surely alike."""
_FURTHER: Final = 3
"""Whole names that are weighed besides, of those who share a part of a name."""
_MAX_SHARING: Final = 300
"""Payees who share a part of a name of whom the whole names are compared."""
SURELY_ALIKE: Final = 0.6
"""The same where a name is taken for one only if somebody is likely called so."""

Floats = npt.NDArray[np.float64]


class NameEvidence(NamedTuple):
    """Why one form may be meant."""

    form: int
    features: tuple[float, ...]
    """The values of `CANDIDATE`, but for `recent`, which is the payee's own."""
    exact: bool
    """The best hypothesis is this very name, letter for letter or kana for kana."""
    same_sound: bool
    part: bool
    nickname: bool
    """Some hypothesis is this very name but for a nickname."""
    unsure_reading: bool
    """The nearest hypothesis is in kanji that may also be read otherwise, and no payee's name is written so."""


def similarity(heard: NameHypotheses, forms: Forms, places: Sequence[int]) -> Floats:
    """Similarity 0 … 1 of every saying (rows) with every form (columns)."""
    share = calibration().spelled
    said = heard.said
    spellings, sounding = (list(map(each.__getitem__, places)) for each in (forms.spelled, forms.sounds))
    spelled = process.cdist([s.spelled for s in said], spellings, scorer=ratio)
    sounds = process.cdist([s.sound for s in said], sounding, scorer=ratio)
    return np.asarray((spelled * share + sounds * (1.0 - share)) / 100.0, np.float64)


def retrieve(heard: NameHypotheses, forms: Forms, least: float = ALIKE) -> list[int]:
    """Places of the forms worth comparing; none where it is clear at once that none is `least` alike."""
    wide = (said for said in heard.said if said.wide)
    asked = [(said.sound, heard.weights[said.rank] * (1.0 if said.literal else 0.5)) for said in wide]
    shared = _SHARED if least > ALIKE and len(heard.weights) == 1 else 0.0
    found: list[int] = forms.grams.nearest(asked, min(RETRIEVED, len(forms.spelled)), shared).tolist()
    return found


class Weighed(NamedTuple):
    """The evidence for the likeliest forms, and how near the whole names are of those who share a part.

    `nearness` is 0 for the nearest one and below it for the others; it is empty where no more than a part was heard.
    """

    evidence: list[NameEvidence]
    nearness: dict[int, float]


def evidence(heard: NameHypotheses, forms: Forms, places: Sequence[int], least: float = ALIKE) -> Weighed:
    """The evidence for the likeliest forms, best first by a rough order; none where no form is `least` alike."""
    if not places:
        return Weighed([], {})
    table = similarity(heard, forms, places)
    if table.max() < least:
        return Weighed([], {})
    ranks = _Ranks.of(heard)
    order = np.argsort(-ranks.rough(table), kind="stable")[:WEIGHED]
    kept, table = [places[i] for i in order.tolist()], table[:, order]
    nearness = _nearness(heard, forms, kept, ranks) if len(heard.weights) > 1 else {}
    if nearness:
        nearest = sorted(nearness, key=lambda owner: -nearness[owner])[:_FURTHER]
        further = [form for form in map(forms.whole, nearest) if form not in kept]
        kept, table = [*kept, *further], np.concatenate((table, similarity(heard, forms, further)), axis=1)
    bare = _features_alike(heard, forms, kept)
    context = _Context.of(heard, forms)
    weighed = [
        _evidence(context, form, heard.said[leader], likeness, features_alike[1:])
        for form, leader, likeness, features_alike in zip(
            kept, table.argmax(axis=0).tolist(), ranks.likeness(table), ranks.likeness(bare), strict=True
        )
    ]
    return Weighed(weighed, nearness)


class _Ranks(NamedTuple):
    """Where the sayings of each hypothesis begin, and how much each hypothesis counts."""

    starts: list[int]
    shares: Floats

    @classmethod
    def of(cls, heard: NameHypotheses) -> "_Ranks":
        if len(heard.weights) == 1:
            return cls([0], np.ones(1))
        starts = [n for n, said in enumerate(heard.said) if not n or said.rank != heard.said[n - 1].rank]
        shares = np.array([heard.weights[heard.said[start].rank] for start in starts])
        return cls(starts, shares / shares.sum())

    def rough(self, table: Floats) -> Floats:
        """What a form is worth looking at, by a table of similarities (sayings, forms)."""
        by_rank = self._by_rank(table)
        if len(by_rank) == 1:
            return np.asarray(by_rank[0])
        return np.asarray(0.5 * by_rank.max(axis=0) + 0.3 * by_rank[0] + 0.2 * (self.shares @ by_rank))

    def likeness(self, table: Floats) -> list[tuple[float, float, float]]:
        """How alike each form is to the best hypothesis, to the nearest and to all of them."""
        by_rank = self._by_rank(table)
        if len(by_rank) == 1:
            return [(alike, alike, alike) for alike in by_rank[0].tolist()]
        found = by_rank[0], by_rank.max(axis=0), self.shares @ by_rank
        return list(zip(*(each.tolist() for each in found), strict=True))

    def _by_rank(self, table: Floats) -> Floats:
        """The nearest saying of each hypothesis."""
        if len(table) == len(self.starts):
            return table
        return np.asarray(np.maximum.reduceat(table, self.starts, axis=0))


def _nearness(heard: NameHypotheses, forms: Forms, kept: Sequence[int], ranks: _Ranks) -> dict[int, float]:
    """How near the whole names are of those who share a part, where some hypothesis has more than a part."""
    if not any(len(said.tokens) > 1 for said in heard.said):
        return {}
    parts = [form for form in kept if form >= forms.full]
    shared = list(dict.fromkeys(owner for form in parts for owner in forms.owners(form)[:_MAX_SHARING]))
    if not shared:
        return {}
    rough = ranks.rough(similarity(heard, forms, [forms.whole(owner) for owner in shared]))
    return dict(zip(shared, (rough - rough.max()).tolist(), strict=True))


def _features_alike(heard: NameHypotheses, forms: Forms, places: Sequence[int]) -> Floats:
    """Similarity 0 … 1 of the features of every saying's sounds (rows) with those of some forms (columns)."""
    taken_apart = features if heard.said[0].key.isascii() else consonants
    said, named = [taken_apart(s.sound) for s in heard.said], [taken_apart(forms.sounds[p]) for p in places]
    return np.asarray(process.cdist(said, named, scorer=ratio) / 100.0, np.float64)


class _Context(NamedTuple):
    """What the evidence of every form of one search shares."""

    heard: NameHypotheses
    forms: Forms
    words: frozenset[str]
    sounds: frozenset[str]
    names: frozenset[str]
    named: frozenset[int]
    exact: dict[str, set[int]]
    """Exact key → the hypotheses that are it."""
    loose: dict[str, set[int]]
    """Spelling → the hypotheses in Latin letters that are spelled so."""

    @classmethod
    def of(cls, heard: NameHypotheses, forms: Forms) -> "_Context":
        first = tuple(said for said in heard.said if said.rank == 0 and said.literal)
        lead = first[0] if first else heard.said[0]
        exact: dict[str, set[int]] = {}
        loose: dict[str, set[int]] = {}
        for said in heard.said:
            if said.literal:
                exact.setdefault(said.key, set()).add(said.rank)
                if said.key.isascii():
                    loose.setdefault(said.spelled, set()).add(said.rank)
        return cls(
            heard,
            forms,
            frozenset([word for said in heard.said for word in said.tokens]),
            frozenset([said.sound for said in first]),
            frozenset([word for word in lead.tokens if word in forms.parts]),
            frozenset([owner for said in first for owner in forms.named(said.key, said.spelled)]),
            exact,
            loose,
        )

    def exactly(self, key: str, spelled: str) -> set[int]:
        """The hypotheses that are a name: letters compare with letters and strict kana with strict kana.

        Romaji, which loses long vowels, compares loosely.
        """
        return self.exact.get(key, set()) | self.loose.get(spelled, set())


def _evidence(
    context: _Context, form: int, leader: QueryForm, likeness: tuple[float, float, float], bare: tuple[float, float]
) -> NameEvidence:
    heard, forms, best = context.heard, context.forms, likeness[1]
    part = form >= forms.full
    spelled, sound = forms.spelled[form], forms.sounds[form]
    words, key, lengths, length = forms.anatomy(form)
    exact = context.exactly(key, spelled)
    same_sound = sound in context.sounds
    worst, edits = _word_errors(leader.sound, sound, lengths)
    rivals = context.names.difference(words)
    values = (
        *likeness,
        max(0.0, best - _NEAR),
        worst,
        0 in exact,
        sum([heard.weights[rank] for rank in exact]),
        same_sound,
        part,
        part and 0 in exact,
        part and len(leader.tokens) > 1,
        sum([word in context.words for word in words]) / len(words),
        len(rivals),
        bool(context.named) and (part or forms.owner(form) not in context.named),
        1.0 - 1.0 / leader.readings,
        edits,
        length,
        not leader.literal and not leader.wide,
        not leader.literal and leader.wide,
        *bare,
    )
    nickname = not leader.literal and leader.wide and leader.readings == 1 and leader.spelled == spelled
    return NameEvidence(
        form, values, 0 in exact and leader.readings == 1, same_sound, part, nickname, leader.readings > 1
    )


def _word_errors(heard: str, sound: str, lengths: Sequence[int]) -> tuple[float, float]:
    """How well the worst-heard word of a name fits (0 … 1), and the phones wrong in all."""
    wrong = words_wrong(heard, sound, lengths)
    if len(wrong) == 1:
        return max(0.0, 1.0 - wrong[0] / max(1, lengths[0])), wrong[0] / 2.0
    fits = [1.0 - errors / max(1, length) for errors, length in zip(wrong, lengths, strict=True)]
    return max(0.0, min(fits)), sum(wrong) / 2.0


def words_wrong(heard: str, sound: str, lengths: Sequence[int]) -> list[int]:
    """Edits, two a phone at most, that each word of a name takes to become what was heard."""
    if heard == sound:
        return [0] * len(lengths)
    if len(lengths) == 1:
        return [Levenshtein.distance(heard, sound)]
    wrong, ends = [0] * len(lengths), list(accumulate(lengths[:-1]))
    for _, _, place in Levenshtein.editops(heard, sound).as_list():
        wrong[bisect_right(ends, place)] += 1
    return wrong
