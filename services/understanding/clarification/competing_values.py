"""Two values of which one is meant: whoever named two payees, accounts, bills or days is asked which.

Where words of a money command were not surely understood, everything that they name is looked for. Of a slot that
has several values none is taken: no rule tells them apart, and the question offers them all.
"""

import re
from dataclasses import replace
from itertools import pairwise
from typing import Any, Final

from schemas.consent import ORDERS, Awaited
from schemas.intent import MONEY_MOVING, TOLD_ALONE, Context, Evidence, Intent, Route, Slot, SlotName, Slots, Understood
from schemas.span import MoneyValue, overlap
from services.understanding.clarification.adjuncts import BY_CARD
from services.understanding.clarification.third_party_sources import asked_source, lenders, without
from services.understanding.correction.mentions import Mentions, Values
from services.understanding.correction.merging import values
from services.understanding.correction.said import Said
from services.understanding.fast.asides.vetoes import vetoes_met
from services.understanding.fast.freeform.loose import commanded
from services.understanding.fast.freeform.told import RULE as TOLD_BY
from services.understanding.fast.ruleset.cue_phrases import DENIAL
from services.understanding.fast.ruleset.meanings import CARDS
from services.understanding.fast.words.left import unknown

MAX_VALUES: Final = 3
"""Values of one slot that are offered."""
_UNSURE: Final = frozenset({Route.CLARIFY, Route.EXTRACT, Route.QNA})
_STOPS: Final = frozenset({"conditional", "recurring", "trouble"})
"""Vetoes with which two values are no correction."""
_AGAINST: Final = frozenset({"negation", "reported"})
"""The same, where they stand before all that is named, or behind it: a no to it, what somebody else wants."""
_NO_ORDER: Final = frozenset({"question", "past"})
"""The same, where nothing tells of an order but what is named."""
_MARKS: Final = re.compile(r"[,;:.!—–、。！](?!\d)")
_NOTHING: Final = frozenset({SlotName.AMOUNT, SlotName.PAYEE})
"""What a transfer lacks of which nothing is told but the account."""
_THINGS: Final = frozenset({"payee", "source", "target", "bill", "card"})
_NEAR: Final = 2
"""Units between a denial and what it denies, at most."""
_ASKED: Final = frozenset({SlotName.AMOUNT, SlotName.PAYEE, SlotName.DATE, SlotName.SOURCE})
_ABOUT: Final = frozenset({None, Intent.QNA, Intent.DENY})
"""What words may have been taken for that answer a question, or correct what was read back."""


def doubled(utterance: Said, found: Understood) -> Understood | None:
    """What the words hold, with every value of a slot that was named two ways; None where none was."""
    context = utterance.context
    sure = not (_open(found) if context.idle else _unanswered(found, context))
    told = found.intent is Intent.TRANSFER_MONEY and found.slots.topic is not None  # all of one of two accounts
    if told or context.code or found.then is not None or (sure and not found.unread and found.rule != TOLD_BY):
        return None
    said = Mentions.of_all(utterance)
    vetoes = found.stopped - said.corrected_by()
    if vetoes & _STOPS or (sure and not _left_out(said, found)) or _conditional(said, found):
        return None
    return _of_a_command(said, found, vetoes) if context.idle else _answered(said, found, vetoes)


def _conditional(said: Mentions, found: Understood) -> bool:
    """Whether a condition stands behind the first value, with none announced after it: "fifty if she has less than"."""
    if not said.grammar.spaced:  # a condition's values are none of the order's: 「十万円以上あったら花子に五万円」
        return found.by("cue_phrases.besides")
    if found.rule == BY_CARD:  # the card that is to pay is no other bill
        return True
    if not said.context.idle or said.repairs():
        return False
    words, first = said.reading.words, min(said.reading.taken, default=len(said.reading.words))
    return bool(said.grammar.cues.hanging.scan(words, 0)) or "conditional" in vetoes_met(said, first, len(words))


def _of_a_command(said: Mentions, found: Understood, vetoes: frozenset[str]) -> Understood | None:
    """A first command with what was named two ways; a transfer to nobody may be for a bill: 水道代を普通から."""
    if "reported" in vetoes and not said.repairs() and not _MARKS.search(said.text):
        return None
    intent = found.intent if found.intent in MONEY_MOVING | CARDS else None
    if intent is None or (intent is Intent.TRANSFER_MONEY and _NOTHING.issubset(found.missing)):
        intent = _wanted(said, found) or intent
    return _ordered(said, found, intent) if intent is not None else None


def _ordered(said: Mentions, found: Understood, intent: Intent) -> Understood | None:
    """A command with what was named two ways."""
    named, whose = _with(said.of(intent), found), lenders(said) if intent is Intent.TRANSFER_MONEY else []
    if whose:
        found, named = replace(found, slots=replace(found.slots, payee=None)), without(named, whose)
    if intent is Intent.TRANSFER_MONEY and SlotName.PAYEE in _doubted(named) and said.billers(named):
        intent, named = Intent.BILL_PAYMENT, said.of(Intent.BILL_PAYMENT)
        found = replace(found, slots=replace(found.slots, payee=None), unresolved=())
    card = found.slots.card if found.route is Route.FAST else None
    if card is not None and all(number == card.value for _, number in said.numbered("card")):
        return None
    slots, unread = _slots(found, named, sure=bool(whose)), _unread(said, named)
    if slots is not None and not {"payee", "target", "bill", "card"} & values(slots).keys():
        slots = None
    if slots is None and found.intent is Intent.BILL_PAYMENT and unread:
        slots = _one_bill(found, named)
    if slots is None or _against(said, named):
        return None
    missing = (SlotName.AMOUNT,) if intent is Intent.TRANSFER_MONEY and slots.amount is None else ()
    made = replace(_either(said, found, named, intent, slots), missing=missing, unread=unread)
    return asked_source(made, whose) if whose else made


def named_beside(said: Mentions, first: Understood) -> Understood | None:
    """An order that was read of some of the words, with all that is named beside its values; None where nothing is."""
    if first.intent is None:
        return None
    named = _with(said.of(first.intent), first)
    slots = _slots(first, named)
    return _either(said, first, named, first.intent, slots) if slots is not None else None


def _answered(said: Mentions, found: Understood, vetoes: frozenset[str]) -> Understood | None:
    """What nobody understood of an answer, or of what was said to a read-back, and which names two values."""
    if "question" in vetoes and not said.repairs():
        return None
    context = said.context
    named = said.of(Intent.BILL_PAYMENT if context.terms.awaited is Awaited.BILL else Intent.TRANSFER_MONEY)
    slots = _slots(found, named)
    act = Intent.INFORM if context.asked is not None else Intent.CORRECT
    return _either(said, found, named, act, slots) if slots is not None else None


def _either(said: Mentions, found: Understood, named: Values, intent: Intent, slots: Slots) -> Understood:
    rules = said.grammar.cues
    return Understood(
        intent,
        slots,
        route=Route.FAST,
        confidence=found.confidence,
        rule=rules.rule("doubled"),
        payees=found.payees,
        unresolved=tuple(each for each in found.unresolved if not _overlaps(each.evidence, named)),
        doubted=_doubted(named),
    )


def _open(found: Understood) -> bool:
    """Whether something of the words was not surely understood, or may have no place in what was."""
    if found.route in _UNSURE or found.intent in CARDS or (found.slots.amount and found.slots.portion):
        return True
    if found.intent in TOLD_ALONE:
        return True  # values that correct what nobody waits for
    return found.intent in MONEY_MOVING and bool(found.missing or found.unresolved)


def _unanswered(found: Understood, context: Context) -> bool:
    """Whether nobody understood what answers a question, or is said to a read-back."""
    waits = context.terms.awaited in ORDERS or context.asked in _ASKED
    return waits and found.intent in _ABOUT and found.rule is None


def _left_out(said: Mentions, found: Understood) -> bool:
    """Whether words that were read, or an answer taken from them, have no place for the second of two values."""
    each = any(said.grammar.cues.apiece.holds(said.grammar.units(one.surface).words) for one in found.unread)
    loose = found.rule == TOLD_BY or (each and not said.grammar.spaced)  # 「花子、健、一郎に千円ずつ」
    if found.intent not in MONEY_MOVING | TOLD_ALONE or (found.intent in MONEY_MOVING) is not said.context.idle:
        return False
    bill = found.intent is Intent.BILL_PAYMENT or said.context.terms.awaited is Awaited.BILL
    named = said.of(Intent.BILL_PAYMENT if bill else Intent.TRANSFER_MONEY)
    doubts = [evidence for name in _doubted(named) for evidence, _ in named[name]]
    beside = any(overlap(e, d) for e in found.unread for d in doubts)  # "to ann, to bob"
    return beside or (loose and bool(doubts))


def _wanted(said: Mentions, found: Understood) -> Intent | None:
    """What words that no template took ask for, if it moves money or locks a card."""
    rules, reading = said.grammar, said.reading
    size = len(reading.words)
    told = {edge.symbol for at in range(size) for edge in rules.routing.scan(reading.words, at)}
    guess = next((intent for intent, needed in rules.guesses if told.issuperset(needed)), None)
    if guess in MONEY_MOVING | CARDS:
        return guess
    if rules.spaced and commanded(said):
        return Intent.TRANSFER_MONEY
    return _named_alone(said) if found.rule is None or found.intent in TOLD_ALONE else None


def _named_alone(said: Mentions) -> Intent | None:
    """What is ordered by its parts alone, one of them corrected: "ann fifty dollars, no, sixty", "phone, no, water"."""
    bill, order = said.of(Intent.BILL_PAYMENT), said.of(Intent.TRANSFER_MONEY)
    bills, amounts = {id_ for _, id_ in bill["bill"]}, {_key(value) for _, value in bill["amount"]}
    if bills and max(len(bills), len(amounts)) > 1 and _corrected(said, bill):
        return Intent.BILL_PAYMENT
    whole = order["amount"] and (order["payee"] or order.get("target"))
    return Intent.TRANSFER_MONEY if whole and _corrected(said, order) else None


def _corrected(said: Mentions, named: Values) -> bool:
    """Whether nothing around it is asked or told, and words that correct, or a mark, stand between two values."""
    framed = _framed(said, named) & _NO_ORDER
    if framed and not (framed == {"past"} and _wished(said, named)):
        return False
    between = (pairwise(sorted(evidence.start for evidence, _ in named[name])) for name in _doubted(named))
    return said.repairs() or any(_MARKS.search(said.text, a, b) for each in between for a, b in each)


def _wished(said: Mentions, named: Values) -> bool:
    """Whether something is asked for behind all that is named: 八万三千円になったんでした、そちらでお願いします."""
    units, wishes = said.reading.units, said.grammar.cues.wishes
    last = max(evidence.end for each in named.values() for evidence, _ in each)
    return any(wishes.begins(units.words, at) for at, start in enumerate(units.starts) if start >= last)


def _slots(found: Understood, said: Values, *, sure: bool = False) -> Slots | None:
    """Every slot with all of its values; None where no slot has two, unless `sure`, or one has too many."""
    made: dict[str, Any] = values(found.slots)
    for name, told in said.items():
        named = sorted(told, key=lambda each: each[0].start)
        distinct = _distinct(named)
        if not distinct or (len(distinct) == 1 and name in made and _held(made[name], named)):
            continue  # what was read of it has all of its readings
        if len(distinct) > MAX_VALUES:
            return None
        made[name] = Slot(distinct[0], named[0][0], tuple(distinct[1:]))
    doubted = _doubted(said)
    if SlotName.AMOUNT in doubted:
        made.pop("portion", None)
    return Slots(**made) if doubted or sure else None


def _held(slot: Slot[Any], named: list[tuple[Evidence, Any]]) -> bool:
    """Whether a slot was read of words that are of its kind, all that is said considered."""
    return any(overlap(e, slot.evidence) for e, _ in named)


def _with(named: Values, found: Understood) -> Values:
    """What is named, and what was read of other words."""
    read_ = {name: slot for name, slot in values(found.slots).items() if name in named and name in _THINGS}
    others = {name: s for name, s in read_.items() if named[name] and s.value not in {id_ for _, id_ in named[name]}}
    return named | {name: [*named[name], (slot.evidence, slot.value)] for name, slot in others.items()}


def _distinct(named: list[tuple[Evidence, Any]]) -> list[Any]:
    """The values that differ; of too many amounts those with their currency, for the others may be parts of them."""
    distinct = {_key(value): value for _, value in named}
    if len(distinct) > MAX_VALUES:
        distinct = {key: v for key, v in distinct.items() if not isinstance(v, MoneyValue) or v.currency is not None}
    return list(distinct.values())


def _doubted(said: Values) -> tuple[SlotName, ...]:
    """The slots of which several values were said."""
    return tuple(SlotName(name) for name, named in said.items() if len({_key(value) for _, value in named}) > 1)


def _one_bill(found: Understood, said: Values) -> Slots | None:
    """The one bill that was named in words of which some were not read."""
    bills = {id_ for _, id_ in said["bill"]}
    if len(bills) != 1 or found.slots != Slots():
        return None
    return Slots(bill=Slot(said["bill"][0][1], said["bill"][0][0]))


def _key(value: object) -> object:
    """What a value is told from others by: an amount by its size, in any currency."""
    return value.amount_minor if isinstance(value, MoneyValue) else value


def _against(said: Mentions, named: Values) -> bool:
    """Whether there is a no to all of it, or it is what somebody else wants."""
    return bool(_framed(said, named) & _AGAINST)


def _framed(said: Mentions, named: Values) -> set[str]:
    """The vetoes before everything that is named, but for a denial of the first of two values, and behind it."""
    units, size, doubted = said.reading.units, len(said.reading.words), _doubted(named)
    places = [(evidence, name) for name, each in named.items() for evidence, _ in each]
    first, slot = min(places, key=lambda each: each[0].start)
    begin = sum(1 for start in units.starts if start < first.start)
    stop = sum(1 for end in units.ends if end <= max(each.end for each, _ in places))
    stop = said.grammar.cues.tails.longest(said.reading.words, stop)[0] if stop < size else stop
    if slot in doubted:
        begin = next((at for at in range(begin) if begin - _NEAR <= _denial(said, at) <= begin), begin)
    return vetoes_met(said, 0, begin) | vetoes_met(said, stop, size)


def _denial(said: Mentions, at: int) -> int:
    """Where words end that begin at a unit, after which stands what is not meant; 0 where there are none."""
    marks, words = said.grammar.cues, said.reading.words
    end, symbols = marks.repairs.longest(words, at)
    return end if DENIAL in symbols else end if (end := marks.dont.longest(words, at)[0]) > at else 0


def _unread(said: Mentions, named: Values) -> tuple[Evidence, ...]:
    """Words of no rule that stand outside of what is asked about."""
    doubts = [[evidence for evidence, _ in named[name]] for name in _doubted(named)]
    ranges = [(min(e.start for e in each), max(e.end for e in each)) for each in doubts]
    places = [evidence for each in named.values() for evidence, _ in each]
    left = unknown(said)
    names = said.everyone if not said.grammar.spaced and "payee" in named else []  # 「花子と健さんと一郎に」
    free = [evidence for evidence, ids in names if len(ids) > 1]
    free += [e for e in left if not any(a <= e.start and e.end <= b for a, b in ranges)]
    return tuple(e for e in free if not any(overlap(e, p) for p in places))


def _overlaps(evidence: Evidence, said: Values) -> bool:
    return any(overlap(evidence, e) for named in said.values() for e, _ in named)
