"""From what was heard to probabilities: retrieve, compare, weigh.

A conditional logit: every candidate has a utility, "somebody who is not in the book" has one too, and probabilities are
their softmax. Its weights are data, fitted on a development set (`tellerline bench payees --fit`).
"""

from bisect import bisect_right
from collections.abc import Collection, Sequence
from functools import lru_cache
from itertools import accumulate
from math import exp, log
from typing import Final, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict
from rapidfuzz import process
from rapidfuzz.distance import Levenshtein
from rapidfuzz.fuzz import ratio

from rules.load import RuleFile, load
from services.payees.forms import Forms, exact_key
from services.payees.grams import Grams
from services.payees.phones import consonants
from services.payees.said import Heard, Said

RETRIEVED: Final = 96
"""Forms that are compared in full."""
WEIGHED: Final = 8
"""Forms whose evidence is taken apart."""
MAX_OWNERS: Final = 5
"""Payees considered for one shared part of a name; the rest only thin out the probability."""

CANDIDATE: Final = (
    *("first", "best", "mean", "near", "worst_word", "exact_first", "exact_share", "sound_first"),
    *("part", "part_exact", "part_of_more", "words_exact", "rival_words", "rival_name", "unsure_reading"),
    *("edits", "length", "other_order", "nickname", "consonants_best", "consonants_mean", "recent"),
)
Script = Literal["latin", "japanese"]
"""In which letters a name is compared."""
_NEAR: Final = 0.85
_STEEP: Final = 60.0
"""No utility is above this, so that none overflows."""
NOBODY: Final = ("bias", "one_word", "length", "disagreement", "book")

Floats = npt.NDArray[np.float64]


class Trust(BaseModel):
    """When the likeliest payee is trusted to be the one who is meant."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    weights: dict[str, float]
    accept: float
    """Natural-log odds of being right from which on nobody is asked."""


class Calibration(RuleFile):
    """Fitted weights and the thresholds of the decision, probabilities but for trust."""

    fitted_on: str
    trust_fitted_on: str
    spelled: float
    candidate: dict[str, float]
    nobody: dict[str, float]
    trust: dict[Script, Trust]
    accept_part: float
    lead: float
    favour: float
    ask: float
    ask_ratio: float
    somebody: float


@lru_cache(maxsize=1)
def calibration() -> Calibration:
    """The calibration in force."""
    return load("payees/calibration.json", Calibration)


@lru_cache(maxsize=1)
def _candidate_weights() -> Floats:
    return np.array([calibration().candidate[name] for name in CANDIDATE])


class Evidence(NamedTuple):
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


class Choice(NamedTuple):
    """A payee (position in the book) who may be meant, with the best evidence for it."""

    owner: int
    utility: float
    evidence: Evidence


class Scored(NamedTuple):
    """A payee (position in the book) with its probability and its best evidence."""

    owner: int
    probability: float
    evidence: Evidence


def similarity(heard: Heard, forms: Forms, places: Sequence[int]) -> Floats:
    """Similarity 0 … 1 of every saying (rows) with every form (columns)."""
    share = calibration().spelled
    said = heard.said
    spelled = process.cdist([s.spelled for s in said], [forms.spelled[p] for p in places], scorer=ratio)
    sounds = process.cdist([s.sound for s in said], [forms.sounds[p] for p in places], scorer=ratio)
    return np.asarray((spelled * share + sounds * (1.0 - share)) / 100.0, np.float64)


def retrieve(heard: Heard, forms: Forms, grams: Grams) -> list[int]:
    """Places of the forms worth comparing."""
    wide = (said for said in heard.said if said.wide)
    asked = [(said.sound, heard.weights[said.rank] * (1.0 if said.literal else 0.5)) for said in wide]
    found: list[int] = grams.nearest(asked, min(RETRIEVED, len(forms.spelled))).tolist()
    return found


def evidence(heard: Heard, forms: Forms, places: Sequence[int]) -> list[Evidence]:
    """The evidence for the likeliest forms, best first by a rough order."""
    table = similarity(heard, forms, places)
    starts = [n for n, said in enumerate(heard.said) if not n or said.rank != heard.said[n - 1].rank]
    by_rank = np.maximum.reduceat(table, starts, axis=0)
    weights = np.array([heard.weights[heard.said[start].rank] for start in starts])
    best, mean = by_rank.max(axis=0), (weights / weights.sum()) @ by_rank
    first = by_rank[0]
    rough = 0.5 * best + 0.3 * first + 0.2 * mean
    order = np.argsort(-rough, kind="stable")[:WEIGHED].tolist()
    leaders = table.argmax(axis=0).tolist()
    context = _Context.of(heard, forms)
    bare = np.maximum.reduceat(_consonants_alike(heard, forms, [places[i] for i in order]), starts, axis=0)
    bare_best, bare_mean = bare.max(axis=0).tolist(), ((weights / weights.sum()) @ bare).tolist()
    return [
        _evidence(
            context,
            places[i],
            heard.said[leaders[i]],
            (float(first[i]), float(best[i]), float(mean[i])),
            (bare_best[n], bare_mean[n]),
        )
        for n, i in enumerate(order)
    ]


def _consonants_alike(heard: Heard, forms: Forms, places: Sequence[int]) -> Floats:
    """Similarity 0 … 1 of the kinds of consonants of every saying (rows) with those of some forms (columns)."""
    said, named = [consonants(s.sound) for s in heard.said], [consonants(forms.sounds[p]) for p in places]
    return np.asarray(process.cdist(said, named, scorer=ratio) / 100.0, np.float64)


class _Context(NamedTuple):
    """What the evidence of every form of one search shares."""

    heard: Heard
    forms: Forms
    words: frozenset[str]
    sounds: frozenset[str]
    names: frozenset[str]
    named: frozenset[int]

    @classmethod
    def of(cls, heard: Heard, forms: Forms) -> "_Context":
        first = tuple(said for said in heard.said if said.rank == 0 and said.literal)
        lead = first[0] if first else heard.said[0]
        return cls(
            heard,
            forms,
            frozenset([word for said in heard.said for word in said.tokens]),
            frozenset([said.sound for said in first]),
            frozenset([word for word in lead.tokens if word in forms.parts]),
            frozenset([owner for said in first for owner in forms.named(said.key, said.spelled)]),
        )


def _evidence(
    context: _Context, form: int, leader: Said, likeness: tuple[float, float, float], bare: tuple[float, float]
) -> Evidence:
    heard, forms, best = context.heard, context.forms, likeness[1]
    part = form >= forms.full
    spelled, sound = forms.spelled[form], forms.sounds[form]
    words = forms.words[form].split(" ")
    key = exact_key(words)
    exact = {said.rank for said in heard.said if said.literal and _is_exactly(said, key, spelled)}
    same_sound = sound in context.sounds
    worst, edits = _word_errors(leader.sound, sound, forms.word_lengths(form))
    rivals = context.names.difference(words)
    features = (
        *likeness,
        max(0.0, best - _NEAR),
        worst,
        float(0 in exact),
        sum([heard.weights[rank] for rank in exact]),
        float(same_sound),
        float(part),
        float(part and 0 in exact),
        float(part and len(leader.tokens) > 1),
        sum([word in context.words for word in words]) / len(words),
        float(len(rivals)),
        float(bool(context.named) and (part or forms.owner(form) not in context.named)),
        1.0 - 1.0 / leader.readings,
        edits,
        log(max(2, len(sound)) / 2),
        float(not leader.literal and not leader.wide),
        float(not leader.literal and leader.wide),
        *bare,
    )
    nickname = not leader.literal and leader.wide and leader.readings == 1 and leader.spelled == spelled
    return Evidence(
        form, features, 0 in exact and leader.readings == 1, same_sound, part, nickname, leader.readings > 1
    )


def _is_exactly(said: Said, key: str, spelled: str) -> bool:
    """Letters compare with letters and strict kana with strict kana; romaji, which loses long vowels, loosely."""
    return said.key == key or (said.key.isascii() and said.spelled == spelled)


def _word_errors(heard: str, sound: str, lengths: Sequence[int]) -> tuple[float, float]:
    """How well the worst-heard word of a name fits (0 … 1), and the phones wrong in all."""
    wrong = words_wrong(heard, sound, lengths)
    fits = [1.0 - errors / max(1, length) for errors, length in zip(wrong, lengths, strict=True)]
    return max(0.0, min(fits)), sum(wrong) / 2.0


def words_wrong(heard: str, sound: str, lengths: Sequence[int]) -> list[int]:
    """Edits, two a phone at most, that each word of a name takes to become what was heard."""
    wrong = [0] * len(lengths)
    if heard != sound:
        ends = list(accumulate(lengths))
        for _, _, place in Levenshtein.editops(heard, sound).as_list():
            wrong[min(bisect_right(ends, place), len(ends) - 1)] += 1
    return wrong


def nobody_features(heard: Heard, forms: Forms) -> tuple[float, ...]:
    """Features of the alternative that nobody in the book is meant; in a large book somebody is alike by chance."""
    literal = [said for said in heard.said if said.literal] or heard.said[:1]
    lead = literal[0]
    others = [ratio(lead.sound, said.sound) / 100.0 for said in literal[1:4]]
    disagreement = 1.0 - (sum(others) / len(others) if others else 1.0)
    length = log(max(2, len(lead.sound)) / 2)
    return 1.0, float(len(lead.tokens) == 1), length, disagreement, forms.breadth


def nobody_utility(heard: Heard, forms: Forms) -> float:
    """The utility of the alternative that nobody in the book is meant."""
    weights = calibration().nobody
    return sum(weights[name] * value for name, value in zip(NOBODY, nobody_features(heard, forms), strict=True))


def choices(
    heard: Heard, forms: Forms, grams: Grams, recent: Sequence[float], favoured: Collection[int] = ()
) -> tuple[list[Choice], float]:
    """Who may be meant, in no order; and the weight (exp of utility) of further owners of shared parts left out."""
    found = evidence(heard, forms, retrieve(heard, forms, grams))
    if not found:
        return [], 0.0
    weights = _candidate_weights()
    utilities = (np.array([each.features for each in found]) @ weights[:-1]).tolist()
    best: dict[int, Choice] = {}
    thinned = 0.0
    for each, utility in zip(found, utilities, strict=True):
        owners = forms.owners(each.form)
        thinned += max(0, len(owners) - MAX_OWNERS) * exp(min(utility, _STEEP))
        for owner in _first_owners(owners, favoured):
            value = utility + float(weights[-1]) * recent[owner] + (calibration().favour if owner in favoured else 0.0)
            value = min(value, _STEEP)
            if owner not in best or value > best[owner].utility:
                best[owner] = Choice(owner, value, each)
    return list(best.values()), thinned


def score(
    heard: Heard, forms: Forms, grams: Grams, recent: Sequence[float], favoured: Collection[int] = ()
) -> tuple[list[Scored], float]:
    """Payees by falling probability, and the probability of nobody."""
    found, thinned = choices(heard, forms, grams, recent, favoured)
    nobody = exp(min(nobody_utility(heard, forms), _STEEP))
    total = nobody + thinned + sum([exp(choice.utility) for choice in found])
    scored = [Scored(choice.owner, exp(choice.utility) / total, choice.evidence) for choice in found]
    scored.sort(key=lambda each: (-each.probability, each.owner))
    return scored, nobody / total


def _first_owners(owners: Sequence[int], favoured: Collection[int]) -> Sequence[int]:
    """The favoured ones, then the recently paid ones."""
    if len(owners) <= MAX_OWNERS or not favoured:
        return owners[:MAX_OWNERS]
    return [*(owner for owner in owners if owner in favoured), *owners[:MAX_OWNERS]][:MAX_OWNERS]
