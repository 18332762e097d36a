"""A payment to somebody whom the caller owes one bill: it is that bill's, where nothing else is said."""

from dataclasses import replace
from typing import Final

from schemas.banking import Bill
from schemas.ids import BillId, RuleId
from schemas.intent import READING, Intent, Route, Slot, SlotName, Slots, Understood
from services.understanding.correction.mentions import Mentions
from services.understanding.correction.merging import said_in
from services.understanding.correction.said import Said
from services.understanding.fast.asides.reasons import VERBS
from services.understanding.fast.freeform.loose import plain
from services.understanding.fast.patterns.lattice import FILLER
from services.understanding.fast.words.hearing import Hearing

_PAYING: Final = ("pay_do", "pay_noun")
_AND_BILL: Final = "bill_payment.and_bill"
_BESIDE: Final = RuleId("intents.bills_besides@1")


def of_its_biller(said: Said, found: Understood) -> Understood | None:
    """The bill's payment ("pay clearbrook tomorrow"); None for what is corrected, told besides, or of no one bill."""
    context, payee = said.context, found.slots.payee
    lacks = found.intent is Intent.TRANSFER_MONEY and found.missing in {(), (SlotName.AMOUNT,)}
    whole = lacks and found.whole and not found.doubted
    if not context.idle or not whole or payee is None or payee.readings:
        return None
    bills = [bill for bill in context.bills if bill.payee_id == payee.value]
    if len(bills) != 1 or not _to_pay(said, found):
        return None
    if not _within(found.slots, bills[0]):
        return replace(found, route=Route.CLARIFY)  # more than its bill: what is due is told, and it is offered
    slots = replace(found.slots, payee=None, bill=Slot(bills[0].id, payee.evidence))
    return replace(found, intent=Intent.BILL_PAYMENT, slots=slots, missing=())


def _to_pay(said: Said, found: Understood) -> bool:
    """Whether it is a bill that is to be paid: "send money to" is of none, nor is 青空電力に五千円払って surely."""
    rules, hearing = said.rules, said.hearing
    words, told = hearing.reading.lattice.said(), bool(found.slots.amount)
    if not rules.spaced:
        pays = not words.isdisjoint(rules.named(_PAYING))
        return pays and not told and words.isdisjoint(rules.named(("transfer_do", "transfer_noun")))
    asked_for = rules.symbols["pay"] in words or (told and words.isdisjoint(rules.named(VERBS)))
    return asked_for and rules.symbols["funds"] not in words and plain(hearing, found.slots)


def asked_alike(said: Said, found: Understood) -> Understood | None:
    """Bills without a verb behind a question are asked about, not paid: "how much is the phone and the water bill"."""
    if found.then is None or (said.rules.spaced and found.intent not in READING):
        return None
    if not said.rules.spaced:  # 「電気代と、普通の残高教えて」
        first = _alike(found) if found.then.intent in READING else found
        return first if first is not found else None
    then = _alike(found.then)
    return replace(found, then=then) if then is not found.then else None


def _alike(then: Understood) -> Understood:
    if then.intent is not Intent.BILL_PAYMENT or not then.by(_AND_BILL) or then.slots.source:
        return then
    return replace(then, intent=Intent.BILL_INQUIRY, missing=(), then=then.then and _alike(then.then))


def for_its_bill(said: Said, found: Understood) -> Understood | None:
    """The bill of whoever is named in its place: 「青空電力の請求を払って」."""
    payee = found.slots.payee
    if found.intent is not Intent.BILL_PAYMENT or payee is None or found.slots.bill is not None or payee.readings:
        return None
    bills = [bill for bill in said.context.bills if bill.payee_id == payee.value]
    if len(bills) != 1:
        return None
    return replace(found, slots=replace(found.slots, payee=None, bill=Slot(bills[0].id, payee.evidence)))


def billed_later(said: Said, found: Understood) -> Understood | None:
    """A later order with the bill that is named behind its payee: 「おとんに一万円、それから大家さんに家賃払って」."""
    then = found.then
    payee = then.slots.payee if then is not None and then.missing == (SlotName.AMOUNT,) else None
    if then is None or payee is None or payee.readings or not (found.moves and then.moves and then.whole):
        return None
    owed = {bill.id for bill in said.context.bills if bill.payee_id == payee.value}
    named = [(due, id_) for due, id_ in Mentions.of_all(said).nouns_of("bill") if due.start >= payee.evidence.end]
    if len(named) != 1 or named[0][1] not in owed:
        return None
    (due, id_), slots = named[0], replace(then.slots, payee=None)
    slots = replace(slots, bill=Slot(BillId(str(id_)), due))
    return replace(found, then=replace(then, intent=Intent.BILL_PAYMENT, slots=slots, missing=()))


def of_whom_it_is(said: Said, found: Understood) -> Understood | None:
    """A bill that is said to be whose it is, without that: 「学校の学費を払って」, to the school."""
    of, bills = said.rules.patterns.names.of, {bill.id: bill.payee_id for bill in said.context.bills}
    if said.rules.spaced or not said.context.idle or found.sure or not bills or found.then is not None:
        return None
    named = Mentions.of_all(said)
    for due, id_ in named.nouns_of("bill"):
        for who, ids in named.everyone:
            between = said.text[who.end : due.start]
            if ids == [bills.get(BillId(str(id_)))] and between == of:
                plain = said.text[: who.start] + "、" * (due.start - who.start) + said.text[due.start :]
                meant = said_in(said.again(plain), said.text)
                return meant if meant.intent is Intent.BILL_PAYMENT and meant.sure and meant.whole else None
    return None


def bills_besides(said: Said, found: Understood) -> Understood | None:
    """A payment with a bill unread that is named behind it and is none of the caller's: "the phone and the gas"."""
    rules, bill = said.rules, found.slots.bill
    pays = found.intent is Intent.BILL_PAYMENT or said.context.asked is SlotName.BILL
    if not rules.spaced or bill is None or not pays or found.route is not Route.FAST or found.then is not None:
        return None
    hearing = said.hearing
    words, nouns, joints = hearing.reading.words, hearing.nouns, {joint.strip() for joint in rules.cues.joined}
    edges = [
        edge for row in hearing.reading.phrases(nouns.trie) for edge in row if nouns.nouns[edge.symbol].kind == "bill"
    ]
    known = {at for edge in edges if nouns.nouns[edge.symbol].id for at in range(edge.start, edge.end)}
    others = [
        edge
        for edge in edges
        if edge.start not in known and not joints.isdisjoint(words[max(0, edge.start - 2) : edge.start])
    ]
    told = [hearing.said(edge.start, edge.end, _BESIDE) for edge in others]
    unread = tuple(
        one for one in told if one.start > bill.evidence.end and one.surface not in {e.surface for e in found.unread}
    )
    return replace(found, unread=(*found.unread, *unread[:1])) if unread else None


def paid_before(said: Said, found: Understood) -> Understood | None:
    """A bill before an order, behind which a word joins two wishes: 「電気代、あと妹に一万円」 is no note of it."""
    if said.rules.spaced or not said.context.idle or found.intent is not Intent.TRANSFER_MONEY or found.then:
        return None
    hearing, conjunctions = said.hearing, said.rules.phrases.conjunctions
    reading, nouns = hearing.reading, hearing.nouns
    for edge in reading.phrases(nouns.trie)[_begins(hearing)]:
        bill, joint = nouns.nouns[edge.symbol], conjunctions.longest(reading.words, edge.end)[0]
        if bill.kind != "bill" or bill.id is None or not edge.end < joint < len(reading.words):
            continue
        order = said.look(reading.units.starts[joint], len(said.text), said.context)
        if order.intent is Intent.TRANSFER_MONEY and order.route is Route.FAST and not (order.missing or order.then):
            slots = Slots(bill=Slot(BillId(bill.id), hearing.said(edge.start, edge.end, _BESIDE)))
            return Understood(Intent.BILL_PAYMENT, slots, (), Route.FAST, order.confidence, _BESIDE, then=order)
    return None


def _begins(hearing: Hearing) -> int:
    """The unit at which more begins than words that say nothing."""
    at, edges = 0, hearing.reading.lattice.edges
    while (end := max((e.end for e in edges(at) if e.symbol == FILLER), default=at)) > at:
        at = end
    return min(at, len(hearing.reading.words) - 1)


def _within(slots: Slots, bill: Bill) -> bool:
    """Whether no more is paid than is due."""
    if slots.amount is None:
        return True
    amount = slots.amount.value
    return (
        not slots.amount.readings
        and amount.currency in {None, bill.due.currency}
        and amount.amount_minor <= bill.due.minor
    )
