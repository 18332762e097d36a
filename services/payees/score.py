"""From what was heard to probabilities: retrieve, compare, weigh.

A conditional logit: every candidate has a utility, "somebody who is not in the book" has one too, and probabilities are
their softmax. Its weights are data, fitted on a development set (`tellerline bench payees --fit`).
"""

from collections.abc import Sequence
from functools import lru_cache
from math import exp, log
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
from rapidfuzz import process
from rapidfuzz.distance import Levenshtein
from rapidfuzz.fuzz import ratio

from rules.load import RuleFile, load
from services.payees.forms import Forms, exact_key
from services.payees.grams import Grams
from services.payees.said import Heard, Said

RETRIEVED: Final = 96
"""Forms that are compared in full."""
WEIGHED: Final = 14
"""Forms whose evidence is taken apart."""
MAX_OWNERS: Final = 12
"""Payees considered for one shared part of a name; the rest only thin out the probability."""

CANDIDATE: Final = (
    *("first", "best", "mean", "near", "worst_word", "exact_first", "exact_share", "sound_first"),
    *("part", "part_exact", "part_of_more", "words_exact", "edits", "length", "other_order", "recent"),
)
NOBODY: Final = ("bias", "one_word", "length", "disagreement")

Floats = npt.NDArray[np.float64]


class Calibration(RuleFile):
    """Fitted weights and the thresholds of the decision, all probabilities."""

    fitted_on: str
    spelled: float
    candidate: dict[str, float]
    nobody: dict[str, float]
    accept: float
    accept_part: float
    accept_exact: float
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
    exact: bool
    """The best hypothesis is this very name, letter for letter or kana for kana."""
    same_sound: bool
    part: bool
    literal: bool


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
    asked = [(said.sound, heard.weights[said.rank]) for said in heard.said if said.literal]
    others = [(said.sound, heard.weights[said.rank] / 2) for said in heard.said if not said.literal][:6]
    return [int(place) for place in grams.nearest((*asked, *others), min(RETRIEVED, len(forms.spelled)))]


def evidence(heard: Heard, forms: Forms, places: Sequence[int]) -> list[Evidence]:
    """The evidence for the likeliest forms, best first by a rough order."""
    table = similarity(heard, forms, places)
    ranks = np.fromiter((said.rank for said in heard.said), np.int64, len(heard.said))
    starts = np.flatnonzero(np.diff(ranks, prepend=-1))
    by_rank = np.maximum.reduceat(table, starts, axis=0)
    present = ranks[starts]
    weights = np.array([heard.weights[rank] for rank in present])
    best, mean = by_rank.max(axis=0), (weights / weights.sum()) @ by_rank
    first = by_rank[0]
    rough = 0.5 * best + 0.3 * first + 0.2 * mean
    order = np.argsort(-rough, kind="stable")[:WEIGHED]
    leaders = table.argmax(axis=0)
    return [
        _evidence(heard, forms, places[i], heard.said[leaders[i]], (float(first[i]), float(best[i]), float(mean[i])))
        for i in order
    ]


def _evidence(heard: Heard, forms: Forms, form: int, leader: Said, likeness: tuple[float, float, float]) -> Evidence:
    first, best, mean = likeness
    part = form >= forms.full
    spelled, sound = forms.spelled[form], forms.sounds[form]
    key = exact_key(forms.words[form].split(" "))
    exact_ranks = {said.rank for said in heard.said if said.literal and _is_exactly(said, key, spelled)}
    same_sound = any(said.rank == 0 and said.sound == sound for said in heard.said)
    share = sum(heard.weights[rank] for rank in exact_ranks)
    worst, edits = _word_errors(leader.sound, sound, list(forms.token_sounds(form)))
    words = forms.words[form].split(" ")
    said_words = {word for said in heard.said for word in said.tokens}
    features = (
        first,
        best,
        mean,
        max(0.0, best - 0.85),
        worst,
        float(0 in exact_ranks),
        share,
        float(same_sound),
        float(part),
        float(part and 0 in exact_ranks),
        float(part and len(leader.tokens) > 1),
        sum(word in said_words for word in words) / len(words),
        edits,
        log(max(2, len(sound)) / 2),
        float(not leader.literal),
    )
    return Evidence(form, features, 0 in exact_ranks, same_sound, part, leader.literal)


def _is_exactly(said: Said, key: str, spelled: str) -> bool:
    """Letters compare with letters and strict kana with strict kana; romaji, which loses long vowels, loosely."""
    return said.key == key or (said.key.isascii() and said.spelled == spelled)


def _word_errors(heard: str, sound: str, words: list[str]) -> tuple[float, float]:
    """How well the worst-heard word of a name fits (0 … 1), and the phones wrong in all."""
    wrong, ends, end = [0.0] * len(words), [], 0
    for word in words:
        end += len(word)
        ends.append(end)
    total = 0.0
    for edit in Levenshtein.editops(heard, sound):
        total += 0.5
        for place, limit in enumerate(ends):
            if edit.dest_pos < limit or place == len(ends) - 1:
                wrong[place] += 1.0
                break
    fits = [max(0.0, 1.0 - errors / max(1, len(word))) for errors, word in zip(wrong, words, strict=True)]
    return min(fits, default=0.0), total


def nobody_features(heard: Heard) -> tuple[float, ...]:
    """Features of the alternative that nobody in the book is meant."""
    literal = [said for said in heard.said if said.literal]
    lead = literal[0]
    others = [ratio(lead.sound, said.sound) / 100.0 for said in literal[1:4]]
    disagreement = 1.0 - (sum(others) / len(others) if others else 1.0)
    return 1.0, float(len(lead.tokens) == 1), log(max(2, len(lead.sound)) / 2), disagreement


def nobody_utility(heard: Heard) -> float:
    """The utility of the alternative that nobody in the book is meant."""
    weights = calibration().nobody
    return sum(weights[name] * value for name, value in zip(NOBODY, nobody_features(heard), strict=True))


def score(heard: Heard, forms: Forms, grams: Grams, recent: Sequence[float]) -> tuple[list[Scored], float]:
    """Payees by falling probability, and the probability of nobody."""
    found = evidence(heard, forms, retrieve(heard, forms, grams))
    weights = _candidate_weights()
    fits = np.array([each.features for each in found]) @ weights[:-1]
    best: dict[int, tuple[float, Evidence]] = {}
    thinned = 0.0
    for each, utility in zip(found, fits.tolist(), strict=True):
        owners = forms.owners(each.form)
        thinned += max(0, len(owners) - MAX_OWNERS) * exp(min(utility, 50.0))
        for owner in _first_owners(owners, recent):
            value = utility + float(weights[-1]) * recent[owner]
            if owner not in best or value > best[owner][0]:
                best[owner] = (value, each)
    nobody = exp(min(nobody_utility(heard), 50.0))
    total = nobody + thinned + sum(exp(min(value, 50.0)) for value, _ in best.values())
    scored = [Scored(owner, exp(min(value, 50.0)) / total, each) for owner, (value, each) in best.items()]
    scored.sort(key=lambda s: (-s.probability, s.owner))
    return scored, nobody / total


def _first_owners(owners: Sequence[int], recent: Sequence[float]) -> Sequence[int]:
    if len(owners) <= MAX_OWNERS:
        return owners
    return sorted(owners, key=lambda owner: (-recent[owner], owner))[:MAX_OWNERS]
