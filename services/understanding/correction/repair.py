"""Repairs: what a caller corrects within one breath ("fifty, no, sixty to ann"); the later words count.

An utterance is cut at words that announce something anew. Both parts are understood by themselves, as answers too;
where both have a sense, the later one's values take the place of the earlier one's.
"""

from dataclasses import replace
from typing import Final

from schemas.consent import Terms
from schemas.intent import COUNTED, MONEY_MOVING, TOLD_ALONE, Context, Intent, Mention, Route, SlotName, Understood
from schemas.span import NUMBERS, SpanKind
from services.understanding.correction.amounts import points
from services.understanding.correction.component_repairs import another_currency, another_number
from services.understanding.correction.coordinated_repairs import within_two
from services.understanding.correction.date_repairs import another_day
from services.understanding.correction.editing_terms import Cut, last_cuts
from services.understanding.correction.merging import kinds, merged, same, values
from services.understanding.correction.said import Said
from services.understanding.correction.self_repair import (
    SelfRepair,
    beside_words,
    called_off,
    instead,
    put_off,
    refused,
    unsure,
)
from services.understanding.correction.trailing_fragments import no_second_order
from services.understanding.fast.freeform.told import RULE as TOLD
from services.understanding.fast.ruleset.grammar import Grammar

_OPEN: Final = COUNTED | {None, Intent.DENY, Intent.CANCEL, Intent.CONFIRM, Intent.QNA}
"""What an utterance may have been taken for that holds a repair."""


def repaired(said: Said, whole: Understood) -> Understood | None:
    """The meaning with the corrections made, or `whole` with what it left out; None where nothing was corrected."""
    if not may_hold_a_repair(whole):
        return None
    if (both := within_two(said)) is not None:
        return both
    for cut in last_cuts(said):
        found = _mended(said, cut)
        if found is not None:
            return _offered(found, said.context)
    return no_second_order(said, whole)


def may_hold_a_repair(whole: Understood) -> bool:
    """Whether something else may have been meant than it was taken for."""
    told = whole.intent is Intent.QNA and whole.rule is not None  # every word is a question's
    return whole.intent in _OPEN and whole.consent is None and not told and not settled(whole)


def settled(whole: Understood) -> bool:
    """Whether every word has its place: no value was said twice, for then no template would have taken it."""
    taken = whole.intent in COUNTED and whole.rule not in {None, TOLD} and whole.route is Route.FAST
    return taken and whole.whole


def _mended(said: Said, cut: Cut) -> Understood | None:
    one = said.part(0, cut.end)
    if one is None or one.then is not None:
        return _of_the_last(said, one, cut) if one is not None and not said.rules.spaced else None
    parts = SelfRepair(said, one, cut)
    if cut.falters:
        return _faltered(parts)
    if cut.denies:
        return _corrected(parts)
    anew = another_day(parts) or another_number(parts) or another_currency(parts)
    return anew or _corrected(parts)


def _of_the_last(said: Said, one: Understood, cut: Cut) -> Understood | None:
    """Of two orders the last one with another amount or payee: 「一郎に五千円、花子に六千円、いや七千円送って」."""
    two, last = said.part(cut.start, cut.stop), one.then
    if cut.denies or cut.falters or two is None or not two.whole or last is None or last.then is not None:
        return None
    if (
        two.then is not None
        or not {"amount"} <= values(two.slots).keys() <= {"amount", "payee"} & values(last.slots).keys()
    ):
        return None
    return replace(one, then=merged(last, two, said.rules.cues.rule("repair")), rule=said.rules.cues.rule("repair"))


def _corrected(parts: SelfRepair) -> Understood | None:
    """The earlier part with what is meant instead, which the later one tells by itself or beside other words."""
    cut, text, rules = parts.cut, parts.said.text, parts.rules
    if cut.denies:
        two = parts.read(cut.mark, cut.stop) if cut.mark < cut.start else None
        if two is None or not values(two.slots) or two.rule == TOLD or two.rejected:
            return instead(parts) or refused(parts)
    if _adds(rules, text[cut.start :]) or _goes_on(parts):
        return None
    if not cut.denies:
        two = parts.read(cut.start, cut.stop) or parts.read(cut.mark, len(text))
    if _among_three(parts, two) or _passes_over(parts, two):
        return None
    if two is None or two.then is not None or (two.unread and two.rule == TOLD):
        return instead(parts) or beside_words(parts)
    if parts.one.intent is Intent.BILL_PAYMENT and two.intent is Intent.TRANSFER_MONEY and not values(two.slots):
        told = parts.said.heard.evidence(cut.start, len(text), parts.rule("beside"))
        return replace(parts.one, unread=(*parts.one.unread, told))  # "the power, wait, that goes by transfer"
    found = _without_denied(merged(parts.one, two, parts.rule("repair")), parts)
    if found is not None and (parts.one.rule == TOLD or (two.rule == TOLD and put_off(parts)) or called_off(parts)):
        found = unsure(found)  # "maybe send fifty, no, sixty to ann": not all was read
    return _another_of_the_name(found, parts.one, two) if found is not None and cut.denied else found


def _among_three(parts: SelfRepair, two: Understood | None) -> bool:
    """Whether an amount among other words comes after two others, or beside another: "ten, no, a hundred in twelve"."""
    if two is None or two.rule != TOLD or two.slots.amount is None:
        return False
    sums = [s for s in parts.said.heard.spans if s.kind in NUMBERS and not points(parts.said, s)]
    before, behind = (
        {s.surface for s in sums if s.end <= parts.cut.end},
        {s.surface for s in sums if s.start >= parts.cut.start},
    )
    return max(len(before), len(behind)) > 1


def _passes_over(parts: SelfRepair, two: Understood | None) -> bool:
    """Whether an order leaves out a sum that is said in it: 「やっぱり二万、二万円でいいかな、送って」."""
    if two is None or parts.rules.spaced or two.intent not in MONEY_MOVING or "amount" in kinds(two):
        return False
    return any(span.kind is SpanKind.MONEY and span.start >= parts.cut.start for span in parts.said.heard.spans)


def _another_of_the_name(found: Understood, one: Understood, two: Understood) -> Understood:
    """One payee in place of another of the same name is nobody known: 「うちの花子じゃなくて会社の花子」."""
    before, after = one.slots.payee, two.slots.payee
    if before is None or after is None or not same(before, after):
        return found
    slots = replace(found.slots, payee=None)
    if found.intent in TOLD_ALONE:
        return replace(found, intent=Intent.CORRECT, slots=slots, rejected=(SlotName.PAYEE,), payees=None)
    return replace(found, slots=slots, missing=(*found.missing, SlotName.PAYEE), payees=None)


def _without_denied(found: Understood, parts: SelfRepair) -> Understood | None:
    """Without the day that a denial stands behind (今じゃなくて), which is asked for; None for any other value."""
    said = {name: slot for name, slot in values(found.slots).items() if slot.evidence.end == parts.cut.end}
    if not parts.cut.denied or not said:
        return found
    if set(said) != {"date"}:
        return None
    words = parts.said.text[said["date"].evidence.start : parts.cut.start]
    denied = replace(said["date"].evidence, end=parts.cut.start, surface=words)
    unresolved = (*found.unresolved, Mention(SlotName.DATE, denied))
    return replace(found, slots=replace(found.slots, date=None), unresolved=unresolved)


def _faltered(parts: SelfRepair) -> Understood | None:
    """A value behind a hesitation in place of one of its kind; of two amounts it is asked which is meant."""
    two = parts.told(parts.cut.start, parts.cut.stop) if parts.may_name(parts.cut.stop) else None
    if two is None or two.rule == TOLD or not two.whole:
        return None
    said, later = values(parts.one.slots), values(two.slots)
    if not later or not all(name in said and not same(said[name], slot) for name, slot in later.items()):
        return None
    found = merged(parts.one, two, parts.rule("faltered"))
    if found.slots.amount is None or "amount" not in later:
        return found
    both = replace(said["amount"], readings=(*said["amount"].readings, later["amount"].value))
    return replace(found, slots=replace(found.slots, amount=both))


def _offered(found: Understood, context: Context) -> Understood:
    """Values that nothing waits for are an order that is asked about."""
    idle = context.asked is None and not context.confirming and context.terms == Terms()
    if found.intent not in TOLD_ALONE or not idle:
        return found
    if found.slots.bill is not None:
        return replace(found, intent=Intent.BILL_PAYMENT, route=Route.CLARIFY)
    whole = found.slots.amount is not None and found.slots.payee is not None
    return replace(found, intent=Intent.TRANSFER_MONEY, route=Route.CLARIFY) if whole else found


def _adds(rules: Grammar, text: str) -> bool:
    """Whether words announce one thing more, and not another."""
    units = rules.units(text)
    return bool(units.words) and bool(rules.phrases.conjunctions.longest(units.words, 0)[1])


def _goes_on(parts: SelfRepair) -> bool:
    """Whether an amount is to have more added to it, and nothing but hesitations follows: 一万円と、えっと、二千円."""
    marks, cut, text, amount = parts.rules.cues, parts.cut, parts.said.text, parts.one.slots.amount
    if amount is None:
        return False
    behind, between = (
        parts.rules.units(text[a:b]).words for a, b in ((amount.evidence.end, cut.end), (cut.mark, cut.start))
    )
    return marks.joints.covers(behind) and marks.hesitations.covers(between)
