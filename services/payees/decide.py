"""From probabilities to one of three answers: a clear choice, a short list to ask about, nobody."""

from collections.abc import Collection, Sequence
from typing import Final, NamedTuple

from schemas.ids import Locale
from schemas.payee import MatchOutcome, Payee
from services.payees.data import finder_rules
from services.payees.forms import Forms
from services.payees.said import Heard, Said
from services.payees.score import Calibration, Scored, calibration

MAX_ASKED: Final = 3
_NEVER: Final = 2.0


class Decision(NamedTuple):
    """The outcome, and how many of the leading candidates are worth asking about (0 when nobody)."""

    outcome: MatchOutcome
    plausible: int


def decide(
    heard: Heard, scored: Sequence[Scored], nobody: float, forms: Forms, favoured: Collection[int] = ()
) -> Decision:
    """Never a choice on a near tie, between two of one name, or where a stranger may be meant.

    `favoured` payees were meant by more than their name ("my brother john"), which tells two of one name apart.
    """
    rules = calibration()
    if not scored:
        return Decision(MatchOutcome.NOBODY, 0)
    top, plausible = scored[0], _plausible(scored, rules)
    if 1.0 - nobody < rules.somebody:
        alike = top.evidence.same_sound or top.evidence.nickname
        return Decision(MatchOutcome.ASK, plausible) if alike else Decision(MatchOutcome.NOBODY, 0)
    if _twins(scored, forms, favoured):
        return Decision(MatchOutcome.ASK, max(2, plausible))
    if top.probability >= _needed(heard, top, forms, rules):
        return Decision(MatchOutcome.CLEAR, 1)
    return Decision(MatchOutcome.ASK, plausible)


def _needed(heard: Heard, top: Scored, forms: Forms, rules: Calibration) -> float:
    """The probability from which the likeliest is a clear choice; above 1 where it never is."""
    if _certain(heard, top, forms):
        return rules.accept_agreed if len(heard.weights) == 1 else rules.accept_exact
    if top.evidence.part:
        return rules.accept_part if top.evidence.exact else _NEVER
    return _NEVER if _vowels_differ(heard, top, forms) and not top.evidence.exact else rules.accept


def _plausible(scored: Sequence[Scored], rules: Calibration) -> int:
    """The leading candidates worth asking about: one to three."""
    floor = min(rules.ask, rules.ask_ratio * scored[0].probability)
    return max(1, sum(each.probability >= floor for each in scored[:MAX_ASKED]))


def _twins(scored: Sequence[Scored], forms: Forms, favoured: Collection[int]) -> bool:
    """Whether someone else has the very name, or the very sound, of the likeliest."""
    top = scored[0].evidence.form
    alone = scored[0].owner in favoured
    return any(
        forms.spelled[each.evidence.form] == forms.spelled[top] or forms.sounds[each.evidence.form] == forms.sounds[top]
        for each in scored[1:]
        if (each.evidence.form >= forms.full) == (top >= forms.full) and not (alone and each.owner not in favoured)
    )


def _certain(heard: Heard, top: Scored, forms: Forms) -> bool:
    """Whether the best hypothesis is exactly this one's full name, and no other hypothesis is exactly another's."""
    if top.evidence.part:
        return False
    owners = {owner for said in heard.said if said.rank == 0 for owner in _named(said, forms)}
    others = {owner for said in heard.said for owner in _named(said, forms)}
    return owners == {top.owner} == others


def _vowels_differ(heard: Heard, top: Scored, forms: Forms) -> bool:
    """Whether the kana heard differ from the payee's only in long vowels: Ono is not Ōno."""
    lead = heard.said[0]
    return not lead.key.isascii() and lead.spelled == forms.spelled[top.evidence.form]


def _named(said: Said, forms: Forms) -> Sequence[int]:
    return forms.named(said.key, said.spelled) if said.literal and said.readings == 1 else ()


def tell_apart(payee: Payee, among: Sequence[Payee], locale: Locale) -> str:
    """Something speakable that only this one of several payees has: relationship, bank or last digits; else ""."""
    others = [other for other in among if other.id != payee.id]
    if payee.relationship and all(other.relationship != payee.relationship for other in others):
        return payee.relationship
    if payee.bank and all(other.bank != payee.bank for other in others):
        return payee.bank
    if payee.account_last4 and all(other.account_last4 != payee.account_last4 for other in others):
        return finder_rules(locale).ending.format(digits=" ".join(payee.account_last4))
    return ""
