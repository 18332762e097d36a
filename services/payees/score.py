"""From what was heard to probabilities: retrieve, compare, weigh.

A conditional logit: every candidate has a utility, "somebody who is not in the book" has one too, and probabilities are
their softmax. Its weights are data, fitted on a development set (`tellerline bench payees --fit`).
"""

from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from math import exp, log, log1p
from operator import mul
from typing import Final, NamedTuple

from rapidfuzz.fuzz import ratio

from services.payees.calibration import CANDIDATE, NOBODY, calibration
from services.payees.evidence import ALIKE, NameEvidence, evidence, retrieve
from services.payees.forms import Forms
from services.payees.said import NameHypotheses

MAX_OWNERS: Final = 5
"""Payees considered for one shared part of a name; the rest only thin out the probability."""
_STEEP: Final = 60.0
"""No utility is above this, so that none overflows."""


@lru_cache(maxsize=1)
def _candidate_weights() -> tuple[float, ...]:
    return tuple(calibration().candidate[name] for name in CANDIDATE)


class ScoredPayee(NamedTuple):
    """A payee (position in the book) with its probability and its best evidence."""

    owner: int
    probability: float
    evidence: NameEvidence


def nobody_features(heard: NameHypotheses, forms: Forms) -> tuple[float, ...]:
    """Features of the alternative that nobody in the book is meant; in a large book somebody is alike by chance."""
    literal = [said for said in heard.said if said.literal] or heard.said[:1]
    lead = literal[0]
    others = [ratio(lead.sound, said.sound) / 100.0 for said in literal[1:4]]
    disagreement = 1.0 - (sum(others) / len(others) if others else 1.0)
    length = log(max(2, len(lead.sound)) / 2)
    return 1.0, float(len(lead.tokens) == 1), length, disagreement, forms.breadth


def nobody_utility(heard: NameHypotheses, forms: Forms) -> float:
    """The utility of the alternative that nobody in the book is meant."""
    weights = calibration().nobody
    return sum([weights[name] * value for name, value in zip(NOBODY, nobody_features(heard, forms), strict=True)])


def _weighed(
    heard: NameHypotheses, forms: Forms, favoured: Collection[int], least: float
) -> tuple[dict[int, tuple[float, NameEvidence]], float]:
    """The utility and best evidence of whoever may be meant; and exp(utility) of who else shares a part of a name."""
    weights, favour, near = _candidate_weights(), calibration().favour, calibration().near
    recent, lately = forms.recent, weights[-1]
    best: dict[int, tuple[float, NameEvidence]] = {}
    thinned = 0.0
    found, nearness = evidence(heard, forms, retrieve(heard, forms, least), least)
    for each in found:
        utility = sum(map(mul, weights, each.features))
        owners = forms.owners(each.form)
        if len(owners) > MAX_OWNERS:
            chosen = _first_owners(owners, favoured, nearness)
            left = utility + near * nearness.get(chosen[-1], 0.0)
            thinned += (len(owners) - MAX_OWNERS) * exp(min(left, _STEEP))
            owners = chosen
        for owner in owners:
            value = utility + lately * recent[owner]
            if owner in favoured:
                value += favour
            if nearness and each.part:
                value += near * nearness.get(owner, 0.0)
            best_of = each
            if owner in best:  # a part that was heard alone, and the whole name: both speak for the one who has both
                known, other = best[owner]
                best_of = each if value > known else other
                value = max(value, known) + log1p(exp(-abs(value - known)))
            best[owner] = value, best_of
    return best, thinned


def score(
    heard: NameHypotheses, forms: Forms, favoured: Collection[int] = (), least: float = ALIKE
) -> tuple[list[ScoredPayee], float]:
    """Payees by falling probability, and the probability of nobody."""
    found, thinned = _weighed(heard, forms, favoured, least)
    if not found:
        return [], 1.0
    nobody = exp(min(nobody_utility(heard, forms), _STEEP))
    each = {owner: exp(min(utility, _STEEP)) for owner, (utility, _) in found.items()}
    total = nobody + thinned + sum(each.values())
    ranked = sorted((-odds / total, owner) for owner, odds in each.items())
    return [ScoredPayee(owner, -falling, found[owner][1]) for falling, owner in ranked], nobody / total


def _first_owners(owners: Sequence[int], favoured: Collection[int], nearness: Mapping[int, float]) -> Sequence[int]:
    """The favoured ones, then those whose whole name is nearest, then the recently paid ones."""
    if not (favoured or nearness):
        return owners[:MAX_OWNERS]
    return sorted(owners, key=lambda owner: (owner not in favoured, -nearness.get(owner, -1.0)))[:MAX_OWNERS]
