"""A question behind an order that it interrupts: "send ann thirty dollars, wait, how much do I have".

It is answered first, and the order waits: nothing is read back until the caller says to go on. Behind a question about
a bill that one may be ordered to be paid: "how much is the phone bill and pay it". What the documents answer leaves an
order said before it as it is: "send ann thirty dollars, and is there a fee".
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from schemas.ids import AccountId, BillId
from schemas.intent import MONEY_MOVING, READING, Intent, Route, Slot, Slots, Understood
from services.understanding.correction.editing_terms import MAX_CUTS, Cut, announced_cuts
from services.understanding.correction.merging import one_after_another, said_in
from services.understanding.correction.said import Said
from services.understanding.fast.asides.vetoes import vetoes_met

MOST_JOINING: Final = 3
"""Units of a word that joins two commands, at most."""
_ASKING: Final = frozenset({"question", "how", "whether"})
"""Vetoes of a question that is about an order, and no part of it."""
MOST_PARTS: Final = 6
"""Places at which an order may end before a question."""
_GOING_ON: Final = str.maketrans("ただ", "てで")
"""What was done, as what is to be."""
_PRONOUN: Final = "pronoun"
_OF_IT: Final = (
    "bill_payment.that_asked",
    "bill_payment.that_asked_amount",
    "bill_payment.that_asked_minimum",
    "bill_payment.that_asked_half",
    "bill_payment.that_asked_full",
)
"""The rules of what is ordered of the bill that was asked about."""
_OF_THAT: Final = ("bill_payment.of_that", "transfer_money.of_that")
"""Those of what is ordered of an account's money."""
_OPEN: Final = MONEY_MOVING | READING | {None, Intent.QNA, Intent.DENY, Intent.CANCEL}
"""What an utterance may have been taken for that holds an order and a question."""


def asked_first(said: Said, found: Understood) -> Understood | None:
    """The question, with the order behind it; None where no question interrupts one."""
    context = said.context
    if not context.idle or context.code or not _may_hold_an_order(found):
        return None
    rules = said.rules
    for cut in reversed([*announced_cuts(said)][-MAX_CUTS:]):
        words = rules.units(said.text[cut.start :]).words
        if cut.denies or not words or rules.phrases.conjunctions.longest(words, 0)[1]:
            continue
        order = said.look(0, cut.end, context)
        if order.intent not in MONEY_MOVING or order.rule is None or order.then is not None:
            continue
        for asked in _questions(said, cut, order):
            if _asks(asked):
                rule = rules.cues.rule("asked_first")
                return replace(asked, then=order, rule=rule)
    return None


def asked_instead(said: Said, found: Understood) -> Understood | None:
    """What is only asked, where an order is denied: "I don't want to pay her, I just want to know when I last did"."""
    each, text, again = said.rules.patterns.inquiries.asked_instead.search(said.text), said.text, said.again
    if each is None or not said.context.idle or said.context.code or found.intent in READING:
        return None
    asked, pronoun = each["asked"], said.rules.patterns.stories.pronoun.search(each["asked"])
    for name in _named(said, each.end("denied")) if pronoun is not None else ("",):
        told = asked if pronoun is None else asked[: pronoun.start()] + name + asked[pronoun.end() :]
        meant = again(told)
        if meant.intent in READING and meant.route is Route.FAST and meant.whole and meant.then is None:
            return said_in(meant, text)
    return None


def _named(said: Said, end: int) -> Iterator[str]:
    """Whom or what the words up to a code point name."""
    match, hearing = said.heard.payees, said.hearing
    if match is not None and match.end <= end:
        yield said.text[match.start : match.end]
    for row in hearing.reading.phrases(hearing.nouns.trie):
        for edge in row:
            if hearing.nouns.nouns[edge.symbol].id is not None and said.units.ends[edge.end - 1] <= end:
                yield f"the {said.text[said.units.starts[edge.start] : said.units.ends[edge.end - 1]]} is"


def asked_besides(said: Said, found: Understood) -> Understood | None:
    """What the documents answer, with the order that is said before it; None where the question tells a part of one."""
    context, units = said.context, said.units
    if not context.idle or context.code or found.route is not Route.QNA or found.then is not None:
        return None
    for end, start in parts(said)[:MOST_PARTS]:
        if not _only_asks(said, start):
            continue
        order, asked = said.look(0, end, context), said.look(units.starts[start], len(said.text), context)
        sure = order.moves and order.rule is not None
        told = order.slots != Slots() and not (order.then or order.unread)
        if sure and told and asked.route is Route.QNA and asked.payees is None and asked.then is None:
            return replace(found, then=order)
    return None


def asked_after(said: Said, found: Understood) -> Understood | None:
    """An order, and what is to be told when it is done: 「妹に一万円送ってから残高教えて」."""
    context, text = said.context, said.text
    if not context.idle or context.code or not _may_hold_an_order(found) or found.then is not None:
        return None
    for each in said.rules.patterns.inquiries.done_then.finditer(text):
        verb = each["done"].translate(_GOING_ON)
        order = said_in(said.again(text[: each.start()] + verb), text)
        plain = order.moves and order.rule is not None
        if not plain or not order.whole or order.then is not None or order.slots == Slots():
            continue
        asked = said.look(each.start("asked"), len(text), context)
        if asked.route is Route.FAST and asked.intent in READING and asked.whole and asked.slots.merchant is None:
            return replace(order, then=asked)
    return None


def _only_asks(said: Said, start: int) -> bool:
    """Whether the words from a unit on name no value of an order, nothing of the caller's and no condition."""
    hearing, size = said.hearing, len(said.units.words)
    names = any(span.start >= said.units.starts[start] for span in said.heard.spans)
    rows = hearing.reading.phrases(hearing.nouns.trie)[start:]
    owns = any(hearing.nouns.nouns[edge.symbol].id for row in rows for edge in row)
    return not names and not owns and vetoes_met(hearing, start, size) <= _ASKING


def parts(said: Said) -> list[tuple[int, int]]:
    """Where what is said before a mark, a word that joins or a clause's end ends; the unit at which more begins."""
    units, rules = said.units, said.rules
    led = set(rules.leads.ends(said.text, units, ())) if rules.leads is not None else set()
    found: list[tuple[int, int]] = []
    for at in range(1, len(units.words)):
        if at in led or said.text[units.ends[at - 1] : units.starts[at]].strip():
            found.append((units.ends[at - 1], at))
        joint = rules.phrases.conjunctions.longest(units.words, at)[0]
        if at < joint < len(units.words):
            found.append((units.ends[at - 1], joint))
    return found


def then_paid(said: Said, found: Understood) -> Understood | None:
    """What is asked about a bill, or an account, and the order behind it to pay that one, or of what is in it."""
    slots, then, units = found.slots, found.then, said.units
    kinds: dict[Intent | None, Slot[Any] | None]
    kinds = {Intent.BILL_INQUIRY: slots.bill, Intent.BALANCE_INQUIRY: slots.account}
    about = kinds.get(found.intent)
    read = then is not None and (then.intent not in {Intent.BILL_PAYMENT, Intent.QNA} or then.slots.bill)
    if not said.rules.spaced or not said.context.idle or about is None:
        return None
    if slots.account is not None and (drawn := _drawn(said, found, slots.account)) is not None:
        return drawn
    if read:
        return None
    joins = [at for at, start in enumerate(units.starts) if start >= about.evidence.end and _joins(said, at)]
    behind = replace(said.context, recent=found.intent, recent_bill=slots.bill.value if slots.bill else None)
    its, name = (_OF_IT, "bill") if slots.bill is not None else (_OF_THAT, "source")
    for at in joins[:MAX_CUTS]:
        order = said.look(units.starts[at], len(said.text), behind)
        of_it = getattr(order.slots, name) is None and order.by(*its) and order.intent in MONEY_MOVING
        if of_it and order.route is Route.FAST and not order.then:
            return replace(found, then=replace(order, slots=replace(order.slots, **{name: about})))
    return None


def _drawn(said: Said, found: Understood, account: Slot[AccountId]) -> Understood | None:
    """The balance, with the orders behind it that its account is to pay: "and pay the gas and the water from it"."""
    text, of_it = said.text, said.rules.patterns.orders.from_it.search(said.text, account.evidence.end)
    if of_it is None:
        return _out_of(said, found, account)
    plain = said_in(said.again(text[: of_it.start("it")].ljust(of_it.end("it")) + text[of_it.end("it") :]), text)
    order, orders = plain.then, [replace(plain, then=None)]
    while order is not None and order.moves and not order.slots.source:
        orders.append(replace(order, slots=replace(order.slots, source=account), then=None))
        order = order.then
    whole = order is None and len(orders) > 1 and (plain.intent, plain.slots) == (found.intent, found.slots)
    return one_after_another(orders) if whole else None


def _out_of(said: Said, found: Understood, account: Slot[AccountId]) -> Understood | None:
    """The balance, with the order behind it whose sum is told as part of that: "and move three hundred of it to …"."""
    order = found.then
    amount = order.slots.amount if order is not None else None
    if order is None or amount is None or order.intent not in MONEY_MOVING or order.slots.source is not None:
        return None
    behind = amount.evidence.start >= account.evidence.end
    if not behind or not said.rules.patterns.orders.of_it.match(said.text, amount.evidence.end):
        return None
    if order.slots.target is not None and order.slots.target.value == account.value:
        return None
    return replace(found, then=replace(order, slots=replace(order.slots, source=account)))


def _joins(said: Said, at: int) -> bool:
    """Whether a clause begins at a unit: behind a mark, or behind a word that joins two commands."""
    units = said.units
    if at == 0 or said.text[units.ends[at - 1] : units.starts[at]].strip():
        return at > 0
    return said.rules.phrases.conjunctions.ends(units.words, at, MOST_JOINING)


def _may_hold_an_order(found: Understood) -> bool:
    """Whether there may be an order in it, and something else."""
    beside = found.then or found.unread or found.rejected or found.rule is None or found.route is not Route.FAST
    return bool(beside) and found.intent in _OPEN


def _asks(found: Understood) -> bool:
    """Whether it is a question, all of it read; a merchant's name may be anything."""
    plain = found.intent in READING and found.route is Route.FAST and found.slots.merchant is None
    return plain and found.whole


def _questions(said: Said, cut: Cut, order: Understood) -> Iterator[Understood]:
    """What the later part asks by itself, and with the order's bill in place of "it", or before it."""
    rules, text = said.rules, said.text
    yield said.look(cut.start, len(text), said.context)
    yield said.look(cut.mark, len(text), said.context)
    bill, later = order.slots.bill, text[cut.start :]
    if bill is None:
        return
    if not rules.spaced:
        yield _about(bill, said.again(bill.evidence.surface + later))
        return
    units = rules.units(later)
    for at in range(len(units.words)):
        if any(e.symbol == rules.symbols[_PRONOUN] and e.end == at + 1 for e in rules.trie.scan(units.words, at)):
            named = text[bill.evidence.start : cut.end]
            yield _about(bill, said.again(later[: units.starts[at]] + named + later[units.ends[at] :]))


def _about(bill: Slot[BillId], found: Understood) -> Understood:
    """What was asked about this bill; nothing that moves or shows anything else."""
    asked = (
        found.intent is Intent.BILL_INQUIRY and found.slots.bill is not None and found.slots.bill.value == bill.value
    )
    return replace(found, slots=Slots(bill=bill)) if asked else Understood(None)
