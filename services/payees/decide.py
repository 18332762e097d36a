"""From probabilities to one of three answers: a clear choice, a short list to ask about, nobody."""

from collections.abc import Collection, Sequence
from typing import Final, NamedTuple

from schemas.ids import Locale
from schemas.payee import MatchOutcome, Payee
from services.payees import kana
from services.payees.calibration import Calibration, calibration
from services.payees.data import finder_rules
from services.payees.forms import Forms
from services.payees.said import NameHypotheses
from services.payees.score import ScoredPayee
from services.payees.trust import heard_first, lead, trusted

MAX_ASKED: Final = 3


class Decision(NamedTuple):
    """The outcome, and how many of the leading candidates are worth asking about (0 when nobody)."""

    outcome: MatchOutcome
    plausible: int


def decide(
    heard: NameHypotheses, scored: Sequence[ScoredPayee], nobody: float, forms: Forms, favoured: Collection[int] = ()
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
    if _chosen(heard, _rivals(scored, favoured), forms, rules):
        return Decision(MatchOutcome.CLEAR, 1)
    return Decision(MatchOutcome.ASK, plausible)


def _rivals(scored: Sequence[ScoredPayee], favoured: Collection[int]) -> Sequence[ScoredPayee]:
    """Those whom a choice must be set apart from, the likeliest first: of favoured ones, only other favoured ones."""
    return [each for each in scored if each.owner in favoured] if scored[0].owner in favoured else scored


def _chosen(heard: NameHypotheses, scored: Sequence[ScoredPayee], forms: Forms, rules: Calibration) -> bool:
    """Whether the likeliest needs no question: surely the one, and nobody else's name is nearly as near."""
    top, ahead = scored[0], lead(heard, scored, forms)
    if top.evidence.part:
        return top.evidence.exact and top.probability >= rules.accept_part and ahead >= rules.lead
    return choosable(heard, scored, forms, ahead) and trusted(heard, scored, forms, ahead)


def choosable(heard: NameHypotheses, scored: Sequence[ScoredPayee], forms: Forms, ahead: float) -> bool:
    """Whether a whole name, `ahead` of the next one (see `lead`), may be chosen at all; else a person would ask.

    Not where kanji were heard that may be read otherwise, where only long vowels differ (Ono is not Ōno), where a
    name of one word was not heard as it sounds (Ally is not Ollie), nor where another payee sounds nearly like it.
    """
    top = scored[0]
    if " " not in forms.words[top.evidence.form] and not heard_first(heard, top.evidence.form, forms):
        return False
    if top.evidence.unsure_reading or (_vowels_differ(heard, top, forms) and not top.evidence.exact):
        return False
    return ahead >= calibration().lead


def _plausible(scored: Sequence[ScoredPayee], rules: Calibration) -> int:
    """The leading candidates worth asking about: one to three."""
    floor = min(rules.ask, rules.ask_ratio * scored[0].probability)
    return max(1, sum(each.probability >= floor for each in scored[:MAX_ASKED]))


def _twins(scored: Sequence[ScoredPayee], forms: Forms, favoured: Collection[int]) -> bool:
    """Whether someone else has the very name, or the very sound, of the likeliest."""
    top = scored[0].evidence.form
    alone = scored[0].owner in favoured
    return any(
        forms.spelled[each.evidence.form] == forms.spelled[top] or forms.sounds[each.evidence.form] == forms.sounds[top]
        for each in scored[1:]
        if (each.evidence.form >= forms.full) == (top >= forms.full) and not (alone and each.owner not in favoured)
    )


def _vowels_differ(heard: NameHypotheses, top: ScoredPayee, forms: Forms) -> bool:
    """Whether the kana heard differ from the payee's only in long vowels, or in how many they have: Ono is not Ōno."""
    lead, form = heard.said[0], top.evidence.form
    if lead.key.isascii():
        return False
    name = kana.strict(forms.words[form].replace(" ", ""))
    return lead.spelled == forms.spelled[form] or lead.key.count(kana.LONG) != name.count(kana.LONG)


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
