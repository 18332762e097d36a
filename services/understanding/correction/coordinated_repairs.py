"""A correction inside of one of two wishes: 「本田さんに5千円と電気代、いやガス代払って」.

The words are read again without what is corrected, and are meant so where they are two orders then.
"""

from dataclasses import replace
from typing import Final

from schemas.ids import BillId
from schemas.intent import Evidence, Intent, Route, Slot, SlotName, Slots, Understood
from services.understanding.correction.editing_terms import MAX_CUTS, Cut, announced_cuts
from services.understanding.correction.mentions import Mentions, Values
from services.understanding.correction.merging import set_back
from services.understanding.correction.said import Said

_KINDS: Final = ("payee", "bill", "amount", "date", "source")
_BESIDE: Final = 3
"""Characters behind a value that say what it is to the order, at most: さんに."""


def within_two(said: Said) -> Understood | None:
    """Both orders, with the correction made; None where the words are not two orders without what is corrected."""
    if said.rules.spaced or not said.context.idle:
        return None
    cuts = [each for each in announced_cuts(said) if not each.denies][-MAX_CUTS:]
    named = _named(said) if cuts else {}
    for cut in cuts:
        if (as_well := _as_well(said, cut)) is not None:
            return as_well
        start = _corrected_from(named, cut)
        if start is None:
            continue
        plain = said.text[:start] + said.text[cut.start :]
        found = said.again(plain)
        found = found if found.then is not None else _behind_bill(said, plain, start, cut) or found
        if found.then is not None and _two(found, found.then):
            return set_back(found, said.text, start, cut.start, 0)
    return None


def _as_well(said: Said, cut: Cut) -> Understood | None:
    """An order, and one that is said to be meant as well: 「本田さんに五千円、あ、電気代も払って」."""
    if not said.rules.patterns.refusals.as_well.search(said.text, cut.start, cut.stop):
        return None
    one, two = said.look(0, cut.end, said.context), said.look(cut.start, cut.stop, said.context)
    other = one.slots.payee != two.slots.payee or one.slots.bill != two.slots.bill
    return replace(one, then=two) if other and one.then is None and one.whole and _two(one, two) else None


def transfer_alone(said: Said, found: Understood) -> Understood | None:
    """The transfer, with the bills that are named besides unread, where all was taken for one payment."""
    payee, bill = found.slots.payee, found.slots.bill
    if said.rules.spaced or found.doubted != (SlotName.BILL,) or not (payee and bill and found.slots.amount):
        return None
    slots, left = replace(found.slots, bill=None), (*found.unread, bill.evidence)
    return replace(found, intent=Intent.TRANSFER_MONEY, slots=slots, unread=left, doubted=(), rule=None)


def _behind_bill(said: Said, plain: str, start: int, cut: Cut) -> Understood | None:
    """The payment of a bill that stands first in the words without what is corrected, and the order behind it."""
    bills = Mentions.of_all(said).of(Intent.BILL_PAYMENT)["bill"]
    kept = [(e, bill, e.end - (cut.start - start if e.start >= cut.start else 0)) for e, bill in bills]
    for told, bill, end in [each for each in kept if each[0].end <= start or each[0].start >= cut.start][:1]:
        joint = said.rules.phrases.conjunctions.longest(said.rules.units(plain[end:]).words, 0)[0]
        order = said.again(" " * (end + joint) + plain[end + joint :]) if joint else Understood(None)
        begin = end - len(told.surface)
        if order.then is None and not plain[:begin].strip():
            place = Evidence(begin, end, told.surface, told.rule)
            slots = Slots(bill=Slot(BillId(bill), place))
            return Understood(Intent.BILL_PAYMENT, slots, (), Route.FAST, order.confidence, told.rule, then=order)
    return None


def _corrected_from(named: Values, cut: Cut) -> int | None:
    """Where what is corrected begins; None where no other value of its kind, said once, is behind it."""
    for places in named.values():
        later = next((value for evidence, value in places if evidence.start == cut.start), None)
        before = [each for each in places if each[0].end <= cut.end]
        if later is None or not before:
            continue
        last, value = max(before, key=lambda each: each[0].start)
        if later == value or sum(each == value for _, each in before) > 1:  # 「妹に七千円、妹っていうか大家さんに」
            return None
        dropped = {k for k, others in named.items() if any(last.end <= e.start < cut.end for e, _ in others)}
        anew = {k for k, others in named.items() if any(e.start >= cut.start for e, _ in others)}
        return last.start if cut.end - last.end <= _BESIDE or dropped <= anew else None
    return None


def _named(said: Said) -> Values:
    """The values of each kind that is named, and where they stand."""
    mentions = Mentions.of_all(said)
    each = {**mentions.of(Intent.BILL_PAYMENT), **mentions.of(Intent.TRANSFER_MONEY)}
    return {kind: each[kind] for kind in _KINDS if each[kind]}


def _two(one: Understood, two: Understood) -> bool:
    """Whether each of them is an order that lacks nothing."""
    return two.then is None and all(each.moves and not each.missing for each in (one, two))
