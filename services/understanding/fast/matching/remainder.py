"""What is left beside a meaning: words that are in no slot, and values in words that nothing else was made of."""

from dataclasses import replace
from typing import Final

from schemas.ids import RuleId
from schemas.intent import MONEY_MOVING, Annotation, Evidence, Intent, Mention, SlotName, Slots, Understood
from schemas.span import SpanKind
from services.understanding.fast.ruleset.grammar import Grammar
from services.understanding.fast.words.hearing import Hearing
from services.understanding.fast.words.reading import UtteranceLattice

_SUMS: Final = frozenset({SpanKind.MONEY, SpanKind.DIGITS, SpanKind.PERCENT})
_UNREAD: Final = RuleId("intents.unread@1")


def words_of(hearing: Hearing, start: int, end: int) -> Evidence:
    """The words of the units from `start` to `end`, which nothing was made of."""
    return hearing.said(start, end, _UNREAD)


def valued(reading: UtteranceLattice, start: int, end: int) -> bool:
    """Whether an amount, a day or a payee's name is among the units."""
    return not reading.taken.isdisjoint(range(start, end))


def names_a_value(hearing: Hearing) -> bool:
    """Whether an amount, a day or a payee is named, or an account, a card or a bill of the caller's."""
    nouns, reading = hearing.nouns, hearing.reading
    return bool(reading.taken) or any(
        nouns.nouns[edge.symbol].id is not None
        for at in range(len(reading.words))
        for edge in nouns.trie.scan(reading.words, at)
    )


def bills_beside(hearing: Hearing, found: Understood) -> tuple[Evidence, ...]:
    """Bills that are named beside a payee or another bill, where the verb comes last: 「花子に三千円と電気代」."""
    if hearing.grammar.spaced or found.intent not in MONEY_MOVING or not (found.slots.payee or found.slots.bill):
        return ()
    nouns, words, taken = hearing.nouns, hearing.reading.words, found.slots.bill
    edges = nouns.trie.edges(words)
    named = [
        e
        for e in edges
        if nouns.nouns[e.symbol].kind == "bill" and not (taken and nouns.nouns[e.symbol].id == taken.value)
    ]
    said = [words_of(hearing, edge.start, edge.end) for edge in named]
    return tuple(one for one in said if not in_a_slot(one, found.slots))[:1]


def part_beside(hearing: Hearing, found: Understood) -> tuple[Evidence, ...]:
    """That a part of a bill is meant, where the verb comes last: 「半分だけ先に払っておくことできる」."""
    if hearing.grammar.spaced or found.intent is not Intent.BILL_PAYMENT or found.slots.portion is not None:
        return ()
    rows = hearing.reading.phrases(hearing.grammar.phrases.relative)
    said = [words_of(hearing, edge.start, edge.end) for edges in rows for edge in edges]
    said += [Evidence(s.start, s.end, s.surface, _UNREAD) for s in hearing.heard.spans if s.kind is SpanKind.PERCENT]
    return tuple(said[:1])


def says(grammar: Grammar, words: Evidence) -> bool:
    """Whether there is more in the words than function words: "i'm" alone says nothing."""
    units = grammar.units(words.surface).words
    return not all(grammar.phrases.not_names.scan((unit,), 0) for unit in units)


def in_a_slot(words: Evidence, slots: Slots) -> bool:
    """Whether the words are those of a slot: a payee or an account may have been found by its name alone."""
    held = [slot.evidence for name in Slots.__slots__ if (slot := getattr(slots, name)) is not None]
    return any(each.start <= words.start and words.end <= each.end for each in held)


def times_beside(heard: Annotation, slots: Slots) -> tuple[Evidence, ...]:
    """Times behind the day of an order, which nothing else was made of: 「今日の三時までに」."""
    day = slots.date.evidence.end if slots.date is not None else len(heard.transcript.text)
    times = (s for s in heard.spans if s.kind is SpanKind.TIME and s.start >= day)
    return tuple(Evidence.of(s) for s in times)


def sums_beside(hearing: Hearing, slots: Slots) -> tuple[Evidence, ...]:
    """Amounts and numbers that are in no slot, and no name either: "fifteen, no, five zero to ann"."""
    units, taken = hearing.reading.units, hearing.reading.taken
    sums = [
        s
        for s in hearing.heard.spans
        if s.kind in _SUMS and (place := units.covering(s.start, s.end)) and place[0] in taken
    ]
    each = [Evidence.of(s) for s in sums]
    return tuple(one for one in each if not in_a_slot(one, slots) and not _said(one, slots))


def _said(words: Evidence, slots: Slots) -> bool:
    """Whether the amount's own words hold these: "fifty, fifty dollars"."""
    amount = slots.amount
    return amount is not None and words.surface.casefold() in amount.evidence.surface.casefold()


def of_the_bill(found: Understood) -> Understood:
    """With a bill read back, "pay thirty dollars" is another amount of it: nobody else was named."""
    named = found.slots.payee or found.slots.target or found.unresolved or found.slots.amount is None
    if found.intent is not Intent.TRANSFER_MONEY or named or found.then is not None:
        return found
    return replace(found, intent=Intent.CORRECT, missing=())


def owned_bill(hearing: Hearing, found: Understood) -> Understood:
    """`found` with a bill that is said to be another's ("her phone bill") as one that the caller does not have."""
    reading, others = hearing.reading, hearing.grammar.words.others
    bill = found.slots.bill
    place = reading.units.covering(bill.evidence.start, bill.evidence.end) if bill is not None else None
    if bill is None or place is None or place[0] == 0 or reading.words[place[0] - 1] not in others:
        return found
    start = reading.units.starts[place[0] - 1]
    said = replace(bill.evidence, start=start, surface=hearing.text[start : bill.evidence.end])
    lacking = (SlotName.BILL,) if found.intent is Intent.BILL_PAYMENT else ()
    return replace(
        found,
        slots=replace(found.slots, bill=None),
        missing=(*found.missing, *lacking),
        unresolved=(*found.unresolved, Mention(SlotName.BILL, said)),
    )


def missing(wants: tuple[str, ...], slots: Slots) -> tuple[SlotName, ...]:
    """`a|b` is there when either is; the first name is the one that is asked for."""
    absent = [want.split("|") for want in wants]
    return tuple(SlotName(names[0]) for names in absent if all(getattr(slots, name) is None for name in names))


def unresolved(mentions: dict[SlotName, Mention], slots: Slots) -> tuple[Mention, ...]:
    """The mentions of slots that were not filled."""
    return tuple(mention for name, mention in mentions.items() if getattr(slots, name.value) is None)
