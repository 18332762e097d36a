"""Somebody told from their namesakes by more than a name: the bank they are said to have an account at."""

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Final, NamedTuple

from schemas.payee import MatchOutcome, Payee
from services.payees.decide import Decision
from services.payees.found import Ranked

_NEAR: Final = 0.1
"""A payee of the bank or relationship named is meant when at least so likely, against the likeliest by name."""


class Banked(NamedTuple):
    """An utterance without the bank that it names: `text` is it without `size` characters at `at`."""

    text: str
    at: int
    size: int
    owners: frozenset[int]

    @classmethod
    def without(cls, text: str, found: re.Match[str], owners: frozenset[int]) -> "Banked":
        """`text` without what was `found` in it."""
        return cls(text[: found.start()] + text[found.end() :], found.start(), len(found[0]), owners)


def owners_by_bank(
    payees: Sequence[Payee], names: Callable[[str], Iterable[str]], spoken: Callable[[str], bool]
) -> dict[str, frozenset[int]]:
    """Who has an account at a bank, by each of its `names`; of the banks whose language is the one `spoken`."""
    at: dict[str, list[int]] = {}
    for owner, payee in enumerate(payees):
        at.setdefault(payee.bank, []).append(owner)
    found: dict[str, set[int]] = {}
    for bank, owners in at.items():
        for name in names(bank) if bank.strip() and spoken(bank) else ():
            found.setdefault(name, set()).update(owners)
    return {name: frozenset(owners) for name, owners in found.items()}


def told_by(
    ranked: Ranked, decision: Decision, owners: Collection[int], *, only: bool = False
) -> tuple[Ranked, Decision]:
    """The decision where more than the name was said: a bank or a relationship that `owners` have tells two apart.

    With `only` nobody else can be meant, so that a name at the wrong bank is asked about.
    """
    if decision.outcome is MatchOutcome.NOBODY or not ranked:
        return ranked, decision
    meant = [each for each in ranked if each[0] in owners and each[1] >= _NEAR * ranked[0][1]]
    if not meant:
        return ranked, Decision(MatchOutcome.ASK, max(1, decision.plausible)) if only else decision
    rest = [each for each in ranked if each not in meant]
    clear = len(meant) == 1
    return [*meant, *rest], Decision(MatchOutcome.CLEAR if clear else MatchOutcome.ASK, min(3, len(meant)))
