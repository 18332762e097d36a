"""As much to each of two, or both of two bills: 「五十嵐さんと花子に一万円ずつ送って」 is read back one by one."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, Final

from schemas.banking import Bill
from schemas.ids import BillId, PayeeId, RuleId
from schemas.intent import READING, Evidence, Intent, Mention, Route, Slot, SlotName, Understood
from schemas.span import DateValue
from services.understanding.correction.coordinated_names import in_a_row
from services.understanding.correction.editing_terms import NEAR
from services.understanding.correction.mentions import Mentions
from services.understanding.correction.merging import one_after_another, said_in, with_words
from services.understanding.correction.said import Said
from services.understanding.fast.clauses.clauses import only
from services.understanding.fast.patterns.lattice import FILLER
from services.understanding.fast.ruleset.cue_phrases import CuePhrases

_MORE: Final = 2
"""Values beside the first one, at most."""
_MOST_BILLS: Final = 8
_RULE: Final = RuleId("intents.every_bill@1")
_DOES: Final = ("pay_do", "transfer_do", "repay_do")
_EVERYTHING: Final = "everything"
_ASKED: Final = "bill_payment.every_asked"
_EVERY: Final = ("bill_payment.every", _ASKED)
_DUE_ALL: Final = "bill_payment.due_all"
_DUE_BY: Final = "bill_payment.due_by"
_OF_THOSE: Final = ("bill_payment.some_all", "bill_payment.that_asked_full")
"""Orders for all that were asked about."""
_OPEN: Final = frozenset({None, Intent.QNA, Intent.BILL_PAYMENT})
_SENT: Final = frozenset({None, Intent.QNA, Intent.TRANSFER_MONEY})
_OF: Final = {Intent.TRANSFER_MONEY: SlotName.PAYEE, Intent.BILL_PAYMENT: SlotName.BILL}


def apiece(said: Said, found: Understood) -> Understood | None:
    """An order for each where all that are named are meant; None where one of them is, or more is open."""
    name, amount = _OF.get(found.intent or Intent.QNA), found.slots.amount
    each_has_one = found.rule == said.rules.cues.rule("apiece")
    if name is None or found.doubted != (name,) or not said.context.idle or found.unresolved or each_has_one:
        return None
    named: Slot[Any] | None = getattr(found.slots, name.value)
    alike = amount is not None and not amount.readings if name is SlotName.PAYEE else amount is None
    if not alike or named is None or not 1 <= len(named.readings) <= _MORE:
        return None
    rules, marks, units = said.rules, said.rules.cues, said.units
    places = range(len(units.words))
    told = [at for at in places if marks.apiece.scan(units.words, at)]
    behind = said.text[named.evidence.end :]
    linked = behind.startswith(marks.joined)
    bills = name is SlotName.BILL and linked
    least = rules.symbols.get("minimum") in said.hearing.reading.lattice.said()  # "…, but only the minimum"
    if (bills and (least or not _in_a_row(said, named))) or (not bills and len(named.readings) > 1):
        return None
    verbs = _verbs(said)
    unread = [each for each in found.unread if not any(a <= each.start and each.end <= b for a, b in verbs)]
    joined = bills and not unread
    told = told if linked or not marks.spaced else []  # "pay emily, no, she said kate for the both of them"
    together = not bills and marks.shared.holds(units.words)  # of bills each has its sum
    if not (told or joined) or together or any(_repaired(marks, units.words, at) for at in places):
        return None
    words = {units.words[at] for at in told}
    if any(not words.intersection(rules.units(each.surface).words) for each in unread):
        return None
    return _one_by_one(found, name, named, marks.rule("apiece"))


def each_named(said: Said, found: Understood) -> Understood | None:
    """As much to each of several, "a tenner each to ann and bob", 佐藤さんと妹に; None where not all stand in a row."""
    named = _all_named(said) if _may_be_each(said, found) else []
    if not named:
        return None
    order = said_in(said.again(_for_one(said, named)), said.text)
    if order.intent is not Intent.TRANSFER_MONEY or order.slots.amount is None or order.unread or order.then:
        return None
    rule = said.rules.cues.rule("apiece")
    plain = replace(order, unresolved=_but_payee(order), missing=(), route=Route.FAST, rule=rule)
    return one_after_another([_to_one_of(plain, *each) for each in named])


def _may_be_each(said: Said, found: Understood) -> bool:
    """Whether as much is meant for each, and nobody has read it."""
    marks, words = said.rules.cues, said.units.words
    read = found.intent not in _SENT or found.vetoes or found.then or found.sure
    if not said.context.idle or read:
        return False
    return not marks.shared.holds(words) and any(marks.apiece.begins(words, at) for at in range(len(words)))


def _all_named(said: Said) -> list[tuple[Evidence, list[PayeeId]]]:
    """Everyone who is named, in a row; nobody where each of two is clear, or there are too many."""
    if said.rules.spaced:
        row = in_a_row(said)
        return row if 1 < len(row) <= _MOST_BILLS else []
    named = sorted(Mentions.of_all(said).everyone, key=lambda each: each[0].start)
    between = [said.text[one.end : two.start] for (one, _), (two, _) in pairwise(named)]
    joined = all(said.rules.patterns.names.joined_names.fullmatch(each) for each in between)
    open_ = len(between) > 1 or any(len(ids) > 1 for _, ids in named)
    return named if joined and open_ and 1 <= len(between) <= _MORE else []


def _for_one(said: Said, named: list[tuple[Evidence, list[PayeeId]]]) -> str:
    """The words for one who is named, alone: the last of them whom somebody is called by."""
    first, last = named[0][0], next(place for place, ids in reversed(named) if ids)
    text = with_words(said.text, last.end, named[-1][0].end, "")
    units, marks = said.units, said.rules.cues
    told = [marks.apiece.longest(units.words, at)[0] for at in range(len(units.words))]
    places = [(units.starts[at], units.ends[end - 1]) for at, end in enumerate(told) if end > at]
    for start, end in [(first.start, last.start), *places]:
        text = text[:start] + " " * (end - start) + text[end:]
    return text


def _but_payee(order: Understood) -> tuple[Mention, ...]:
    return tuple(each for each in order.unresolved if each.slot is not SlotName.PAYEE)


def _to_one_of(order: Understood, told: Evidence, ids: Sequence[PayeeId]) -> Understood:
    """The order for who is named, or for one of those, or for whom else, which is asked."""
    if not ids:
        nobody = replace(order, slots=replace(order.slots, payee=None), missing=(SlotName.PAYEE,), payees=None)
        return replace(nobody, unresolved=(Mention(SlotName.PAYEE, told),))
    doubted = (SlotName.PAYEE,) if len(ids) > 1 else ()
    return replace(order, slots=replace(order.slots, payee=Slot(ids[0], told, tuple(ids[1:]))), doubted=doubted)


def _one_by_one(found: Understood, name: SlotName, named: Slot[Any], rule: RuleId) -> Understood:
    """The order for everyone who is named, the first of them first."""
    plain = replace(found, doubted=(), unread=(), rule=rule, confidence=1.0)
    every = [replace(named, value=one, readings=()) for one in (named.value, *named.readings)]
    orders = [replace(plain, slots=replace(found.slots, **{name.value: each})) for each in every]
    return one_after_another(orders)


def _verbs(said: Said) -> list[tuple[int, int]]:
    """Where a verb of paying or sending stands with its ending: 払っちゃいたい is in no list of words."""
    reading, symbols = said.hearing.reading, said.rules.named(_DOES)
    edges = reading.lattice.of(symbols)
    return [(reading.units.starts[edge.start], reading.units.ends[edge.end - 1]) for edge in edges]


def every_bill(said: Said, found: Understood) -> Understood | None:
    """A payment of each bill there is, the first due first; None where not all are meant, or they are too many."""
    context, due_all = said.context, found.by(_DUE_ALL, _DUE_BY)
    if named := _named_asked(said):
        return _each(said, replace(found, unread=(), then=None), named)
    if told := _told_of(said, found):
        return _each(said, replace(found, slots=replace(found.slots, portion=None), then=None), told)
    if found.then is not None and found.intent in READING:  # "tell me my balance and pay all my bills"
        behind = every_bill(said, found.then)
        return behind and replace(found, then=behind)
    of_one = context.recent_bill is not None and found.by(_ASKED)  # "how much is the water", "pay them all"
    every = (found.by(*_EVERY) or due_all) and context.idle and not of_one
    if not (every or _all_asked(said, found)):
        return None
    due, least = _due(said, on_their_days=due_all, until=found.by(_DUE_BY)), 1 if due_all else 2
    months = (said.rules.units(each.evidence.surface).words for each in found.unresolved)
    then = found.then if found.then is not None and found.then.intent in READING else None
    left = (
        found.unread or found.then is not then or not all(said.rules.cues.elapsed.begins(month, 0) for month in months)
    )
    if left or found.slots.amount or not least <= len(due) <= _MOST_BILLS:
        return None
    each = _each(said, replace(found, then=None), [bill.id for bill in due])
    return one_after_another([*_in_turn(each), then]) if then is not None else each


def every_but(said: Said, found: Understood) -> Understood | None:
    """A payment of each bill but those that are named behind all: "every bill but the water"."""
    marks, units = said.rules.cues.all_but, said.units
    if found.intent not in _OPEN or not said.context.idle or not marks.meets(units.words):
        return None
    edges = [edge for at in range(len(units.words)) for edge in marks.scan(units.words, at)]
    first = max(edges, key=lambda edge: (-edge.start, edge.end), default=None)
    kept, end = _named_from(said, first.end) if first is not None else ([], 0)
    due = [bill.id for bill in _due(said, on_their_days=False) if bill.id not in kept]
    if first is None or not kept or not due:
        return None
    begin, stop = units.starts[first.start], units.ends[end - 1]
    plain = said.text[:begin] + said.rules.cues.all_bills.ljust(stop - begin) + said.text[stop:]
    order = said_in(said.again(plain), said.text)
    if not order.by(*_EVERY) or order.slots.amount is not None or len(due) > _MOST_BILLS:
        bills = replace(found, slots=replace(found.slots, bill=None), missing=(SlotName.BILL,), then=None)
        return bills if found.intent is Intent.BILL_PAYMENT else None
    paid = _each(said, replace(order, then=None), due)
    return one_after_another([*_in_turn(paid), *_in_turn(order.then)])


def _in_turn(found: Understood | None) -> Iterator[Understood]:
    while found is not None:
        yield found
        found = found.then


def _due(said: Said, *, on_their_days: bool, until: bool = False) -> list[Bill]:
    """All that is due, or all that is due on the days that are told, or `until` these, the first due first."""
    due = sorted((bill for bill in said.context.bills if bill.due.minor), key=lambda bill: bill.due_on)
    days = [day for span in said.heard.spans for day in span.values if isinstance(day, DateValue)]
    then = [bill for bill in due if any((until or day.start <= bill.due_on) and bill.due_on <= day.end for day in days)]
    return then if on_their_days else due


def _each(said: Said, found: Understood, bills: Sequence[BillId]) -> Understood:
    """The order for each of the bills, one after the other."""
    told = said.heard.whole(_RULE)
    plain = replace(found, intent=Intent.BILL_PAYMENT, missing=(), unresolved=(), route=Route.FAST, confidence=1.0)
    slots = [replace(found.slots, bill=Slot(bill, told), portion=None) for bill in bills]
    return one_after_another([replace(plain, slots=each) for each in slots])


def _told_of(said: Said, found: Understood) -> list[BillId]:
    """The bills that were just asked about, where all of them are to be paid; of a list all that are due."""
    context, rules = said.context, said.rules
    if rules.spaced or context.recent is not Intent.BILL_INQUIRY or not found.by(*_OF_THOSE):
        return []
    plain = not (found.unread or found.unresolved or found.then or found.slots.amount)
    every = rules.symbols.get(_EVERYTHING) in said.hearing.reading.lattice.said()
    asked = list(context.recent_bills)
    if not asked and context.recent_bill is None and found.slots.portion is not None:
        asked = [bill.id for bill in _due(said, on_their_days=False)]
    pair = len(asked) == 2 or found.slots.portion is not None  # noqa: PLR2004 - "both" is of two
    return asked if plain and every and pair and 1 < len(asked) <= _MOST_BILLS else []


def _named_asked(said: Said) -> list[BillId]:
    """The several bills that are named by who is asked which, where nothing else is said: "the phone and the water"."""
    if said.context.asked is not SlotName.BILL:
        return []
    (named, end), size = _named_from(said, 0), len(said.units.words)
    rest = said.text[said.units.ends[end - 1] :] if 0 < end < size else ""
    whole = end == size or said.rules.patterns.names.named_so.fullmatch(rest)
    return named if whole and 1 < len(named) == len(set(named)) else []


def _named_from(said: Said, at: int) -> tuple[list[BillId], int]:
    """The bills that are named one after the other from a unit on, and where the last of them ends."""
    rules, hearing = said.rules, said.hearing
    reading, nouns = hearing.reading, hearing.nouns
    words, named, stop = reading.words, list[BillId](), at
    empty = {FILLER, *(rules.symbols[each] for each in ("own", "bill_word") if each in rules.symbols)}
    joints = {joint.strip() for joint in rules.cues.joined}
    while at < len(words):
        called = [(e.end, nouns.nouns[e.symbol]) for e in nouns.trie.scan(words, at)]
        bills = [(end, noun.id) for end, noun in called if noun.kind == "bill" and noun.id is not None]
        joint = words[at] in joints
        ends = [edge.end for edge in reading.lattice.edges(at) if edge.symbol in empty]
        ends += [at + 1] if joint else []
        if not (bills or ends):
            break
        named += [BillId(bills[-1][1])] if bills else []
        at = bills[-1][0] if bills else max(ends)
        stop = stop if joint and not bills else at
    return named, stop


def _all_asked(said: Said, found: Understood) -> bool:
    """Whether all are meant by who is asked which: 「全部お願いします」; 「全額」 is of one."""
    rules = said.rules
    if said.context.asked is not SlotName.BILL:
        return False
    if rules.spaced:
        return only(rules.cues.every, rules.phrases.asides, said.units.words)
    named = said.hearing.reading.lattice.said()
    return found.slots.portion is not None and rules.symbols.get(_EVERYTHING) in named


def _repaired(marks: CuePhrases, words: tuple[str, ...], at: int) -> bool:
    """Whether words stand there that take something back: not 「だけじゃなくて」, nor a part of it."""
    behind = marks.not_only.ends(words, at, NEAR)
    return not behind and marks.repairs.begins(words, at)


def _in_a_row(said: Said, named: Slot[Any]) -> bool:
    """Whether the bills alone are joined: 「水道とガスと電気」 names one that the caller does not have."""
    rules = said.rules
    if rules.spaced:
        return len(named.readings) == 1
    reading, nouns = said.hearing.reading, said.hearing.nouns
    words, marks, called = reading.words, rules.cues.joined, rules.symbols.get("bill_word")
    edges = nouns.trie.edges(words)
    ends = {e.start: e.end for e in edges if nouns.nouns[e.symbol].kind == "bill" and nouns.nouns[e.symbol].id}
    at, told = min(ends, default=0), 0
    if at and words[at - 1] in marks:
        return False
    while at in ends:
        at, told = ends[at], told + 1
        at = max((edge.end for edge in reading.lattice.edges(at) if edge.symbol == called), default=at)
        if at + 1 < len(words) and words[at] in marks:
            at += 1
    return told == 1 + len(named.readings) and words[at - 1] not in marks
