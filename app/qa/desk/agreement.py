"""How far two people agree who reviewed the same turns, beyond what chance would give: Cohen's κ."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from app.qa.desk.reviews import Review, ReviewAction, label_key
from app.qa.replay.manifests.manifest import Expectation

FIELDS: Final = ("intent", "route", "decision", "outcome", "reply", "payee", "slots", "money", "transcript")


@dataclass(frozen=True, slots=True)
class Agreement:
    """Of `pairs` of labels the share that is the same, and κ: 1 is agreement throughout, 0 what chance would give.

    `kappa` is None without pairs, or where both people always say one and the same thing, so that chance explains all.
    """

    pairs: int
    same: float | None
    kappa: float | None


def agreement(pairs: Sequence[tuple[str, str]]) -> Agreement:
    """Cohen's κ of pairs of labels, one of the first and one of the second person each."""
    total = len(pairs)
    if not total:
        return Agreement(0, None, None)
    same = sum(1 for one, other in pairs if one == other)
    first, second = Counter(one for one, _ in pairs), Counter(other for _, other in pairs)
    by_chance = sum(first[label] * second[label] for label in first)  # over total², in whole numbers
    spare = total * total - by_chance
    return Agreement(total, same / total, (same * total - by_chance) / spare if spare else None)


Pair = tuple[dict[str, str], dict[str, str]]
"""What two people said of a turn, by field; of each value a hash, since all that counts is whether two are the same."""


def by_field(given: Iterable[Pair]) -> dict[str, Agreement]:
    """The agreement on each field that both people named."""
    pairs: dict[str, list[tuple[str, str]]] = {name: [] for name in FIELDS}
    for one, other in given:
        for name in pairs.keys() & one.keys() & other.keys():
            pairs[name].append((one[name], other[name]))
    return {name: agreement(found) for name, found in pairs.items()}


def pair_of(review: Review) -> Pair | None:
    """What the first person said last, and what the second said, before anything was settled; None of one person."""
    said = [entry for entry in review.entries if entry.action is ReviewAction.REVIEW]
    first = [entry for entry in said if entry.by == review.first]
    second = next((entry for entry in said if entry.by != review.first), None)
    return (_hashed(first[-1].labels), _hashed(second.labels)) if second else None


def _hashed(labels: Expectation) -> dict[str, str]:
    return {name: hashlib.sha256(value.encode()).hexdigest()[:16] for name, value in label_key(labels).items()}
