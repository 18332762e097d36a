"""An order in words of no template: a verb of sending that the caller asks for, and what goes with it, in any order.

Only where every part of it is told once: one amount, one payee or own account, and no word that would turn it around.
Clauses that tell a reason and hold no part of an order are left out.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from schemas.ids import BillId, PayeeId, RuleId
from schemas.intent import Annotation, Context, Evidence, Intent, Route, Slot, SlotName, Slots, Understood
from schemas.payee import PayeeMatch
from schemas.span import MoneyValue, Span, SpanKind
from services.understanding.fast.clauses import OWING
from services.understanding.fast.grammar import Grammar
from services.understanding.fast.lattice import FILLER
from services.understanding.fast.reading import Reading
from services.understanding.fast.vocabulary import vocabulary

FindPayee = Callable[[str], PayeeMatch | None]
RULE: Final = RuleId("intents.loose@1")
_ENDS: Final = re.compile("[.?!;:,–—]")
NO_REASON: Final = frozenset({"question", "negation", "conditional", "reported", "recurring", "trouble"})
"""Vetoes with which a clause is no mere reason."""
_PARTS: Final = frozenset({SpanKind.MONEY, SpanKind.DATE, SpanKind.TIME, SpanKind.PERCENT})
_NUMBERS: Final = frozenset({SpanKind.MONEY, SpanKind.NUMBER, SpanKind.DIGITS, SpanKind.PERCENT})
_VERBS: Final = ("transfer", "carry", "give", "sends")
_IDLE: Final = ("lead", "sends", "transfer", "transfer_noun", "funds", "pronoun", "own", "account_word", "purpose")
"""Lists of words that say nothing beside a slot."""
_MOST: Final = 14
"""Units of a reason, at most."""
_MOST_NAMES: Final = 6
_NEAR: Final = 4
"""Units within which the account follows that a word like "from" speaks of."""


def commanded(grammar: Grammar, heard: Annotation, reading: Reading) -> bool:
    """Whether a verb of sending is asked for: where a clause begins, or behind a lead that begins there.

    Never in a language whose rules have no list of such verbs.
    """
    if not {"sends", "lead"} <= grammar.symbols.keys():
        return False
    sends, led = grammar.symbols["sends"], {grammar.symbols["lead"], FILLER}
    words = reading.words
    begins = {at for at in range(len(words)) if _cut(heard, reading, at)}
    for at in range(len(words)):
        if (words[at],) in grammar.joins:
            begins.add(at + 1)
        if at not in begins or at in reading.taken:
            continue
        edges = reading.lattice.edges(at)
        if any(edge.symbol == sends for edge in edges):
            return True
        begins.update(edge.end for edge in edges if edge.symbol in led)
        begins.update(edge.end for edge in grammar.asides_unasked.scan(words, at))
    return False


def ordered(grammar: Grammar, heard: Annotation, reading: Reading, slots: Slots) -> Understood | None:
    """The transfer that was asked for, if `slots` tell enough of it and no word twists them."""
    if slots.amount is None and slots.payee is None:
        return None
    if _twisted(grammar, heard, reading, slots) or not commanded(grammar, heard, reading):
        return None
    return order_of(slots, heard)


def _twisted(grammar: Grammar, heard: Annotation, reading: Reading, slots: Slots) -> bool:
    """Whether there is a number, a time, a word that turns parts around, or a repair behind a part."""
    if any(span.kind in _NUMBERS and not _holds(slots, span) for span in heard.spans):
        return True
    rules, size = grammar.accounts, len(reading.words)
    free = [at for at in range(size) if at not in reading.taken]
    if any(trie.scan(reading.words, at) for at in free for trie in (grammar.twists, rules.times)):
        return True
    if slots.payee is not None and _from(grammar, reading, slots.payee.evidence.start):
        return True
    first = min(e.start for slot in (slots.amount, slots.payee) if slot is not None for e in (slot.evidence,))
    return any(rules.repairs.scan(reading.words, at) for at in free if reading.units.starts[at] > first)


def plain(grammar: Grammar, reading: Reading, slots: Slots) -> bool:
    """Whether every word is in a slot, or one that says nothing beside an order."""
    idle = {grammar.symbols[name] for name in _IDLE} | {FILLER}
    starts, ends = reading.units.starts, reading.units.ends
    told = [slot.evidence for name in Slots.__slots__ if (slot := getattr(slots, name)) is not None]
    size = len(reading.words)
    done = {at for at in range(size) for e in told if e.start <= starts[at] and ends[at] <= e.end}
    if any(reading.words[at] in grammar.outof and done.isdisjoint(range(at, at + _NEAR)) for at in range(size)):
        return False  # "from the one with more money"
    for at in range(size):
        done.update(k for e in reading.lattice.edges(at) if e.symbol in idle for k in range(at, e.end))
        done.update(k for e in grammar.asides_unasked.scan(reading.words, at) for k in range(at, e.end))
        done.update({at} if reading.words[at] in grammar.light else ())
    return len(done) == size


def _from(grammar: Grammar, reading: Reading, start: int) -> bool:
    """Whether the one who is named is to send the money: "fifty from Emily"."""
    before = [word for word, begin in zip(reading.words, reading.units.starts, strict=True) if begin < start]
    return bool(grammar.outof.intersection(before[-3:]))


def _holds(slots: Slots, span: Span) -> bool:
    return slots.amount is not None and slots.amount.evidence.start <= span.start < slots.amount.evidence.end


def order_of(slots: Slots, heard: Annotation) -> Understood:
    """A transfer of these slots, with what it lacks."""
    lacking = [SlotName.AMOUNT] if slots.amount is None else []
    if slots.payee is None and slots.target is None:
        lacking.append(SlotName.PAYEE)
    return Understood(
        Intent.TRANSFER_MONEY,
        slots,
        missing=tuple(lacking),
        route=Route.FAST,
        confidence=0.9,
        rule=RULE,
        payees=heard.payees,
    )


def reason(
    grammar: Grammar,
    heard: Annotation,
    context: Context,
    reading: Reading,
    start: int,
    end: int,
    find: FindPayee | None,
) -> bool:
    """Whether units `start` … `end` only tell why: of a subject's own, and with no part of an order in them."""
    words, units = reading.words, reading.units
    named = start < end and (words[start] in grammar.subjects or _named(heard, reading, start))
    if not named or not any(word in grammar.finite or word.endswith("ed") for word in words[start:end]):
        return False
    begin, stop = units.starts[start], units.ends[end - 1]
    if _another_named(grammar, heard, reading, start, end, find):
        return False  # "that is, bob"
    if any(span.kind in _PARTS and span.start < stop and begin < span.end for span in heard.spans):
        return False
    if any(grammar.accounts.repairs.scan(words, at) for at in range(end) if at not in reading.taken):
        return False  # "no, it's maria"
    parts = any(_tells(grammar, context, reading, at) for at in range(start, end))
    return 1 < end - start <= _MOST and not parts and not _acts(grammar, reading, start, end)


def _another_named(
    grammar: Grammar, heard: Annotation, reading: Reading, start: int, end: int, find: FindPayee | None
) -> bool:
    """Whether a payee is named that the search over all the words did not find."""
    match, units = heard.payees, reading.units
    if match is None or find is None:
        return False
    words = reading.words
    free = [at for at in range(start, end) if at not in reading.taken and words[at].isalpha()]
    free = [at for at in free if not grammar.not_names.scan((words[at],), 0)]
    names = [at for at in free if not grammar.trie.scan(reading.words, at)][:_MOST_NAMES]
    found = (find(heard.transcript.text[units.starts[at] : units.ends[at]]) for at in names)
    return any(one is not None and one.choice is not None and one.choice != match.choice for one in found)


def spoken_of(
    grammar: Grammar, heard: Annotation, context: Context, reading: Reading, start: int, end: int
) -> Understood | None:
    """The one bill that units `start` … `end` speak of and ask nothing about: "i am late on my water bill"."""
    words, units, nouns = reading.words, reading.units, vocabulary(grammar, context)
    if not 1 < end - start <= _MOST or words[start] not in grammar.subjects:
        return None
    begin, stop = units.starts[start], units.ends[end - 1]
    if any(span.kind in _NUMBERS and span.start < stop and begin < span.end for span in heard.spans):
        return None
    named = [(e, nouns.nouns[e.symbol]) for at in range(start, end) for e in nouns.trie.scan(words, at) if e.end <= end]
    bills = {noun.id for _, noun in named if noun.kind == "bill" and noun.id is not None}
    if len(bills) != 1 or any(noun.kind == "account" and noun.id is not None for _, noun in named):
        return None
    edge, noun = max(((e, n) for e, n in named if n.id in bills), key=lambda each: each[0].end - each[0].start)
    before = edge.start - 1
    own = grammar.symbols["own"]
    if (
        before < start
        or words[before] in grammar.others
        or not any(e.symbol == own and e.end == edge.start for e in reading.lattice.edges(before))
    ):
        return None  # "my sister's water bill"
    omitted = grammar.omitted.intersection(words[start : edge.start])
    if _acts(grammar, reading, edge.end if omitted else start, end):
        return None
    first, last = units.starts[edge.start], units.ends[edge.end - 1]
    evidence = Evidence(first, last, heard.transcript.text[first:last], OWING)
    slots = Slots(bill=Slot(BillId(str(noun.id)), evidence))
    return Understood(Intent.INFORM, slots, route=Route.FAST, confidence=0.9, rule=OWING, payees=heard.payees)


def _tells(grammar: Grammar, context: Context, reading: Reading, at: int) -> bool:
    """Whether a part of an order, or a word that turns one around, begins at unit `at`."""
    words, rules, nouns = reading.words, grammar.accounts, vocabulary(grammar, context)
    if any(trie.scan(words, at) for trie in (rules.places, grammar.twists)):
        return True
    if any(nouns.nouns[edge.symbol].id is not None for edge in nouns.trie.scan(words, at)):
        return True
    return (words[at],) in rules.before or (words[at] not in grammar.passing and bool(rules.times.scan(words, at)))


def _acts(grammar: Grammar, reading: Reading, start: int, end: int) -> bool:
    """Whether there is a verb of sending."""
    verbs = {grammar.symbols[name] for name in _VERBS}
    return any(e.symbol in verbs for at in range(start, end) for e in reading.lattice.edges(at) if e.end <= end)


def owing(
    grammar: Grammar, heard: Annotation, reading: Reading, start: int, end: int, find: FindPayee | None
) -> Understood | None:
    """What units `start` … `end` say is owed to someone, or wanted by them: "i owe Dave 75 dollars"."""
    words, units = reading.words, reading.units
    if start >= end or not grammar.owing.intersection(words[start:end]) or _acts(grammar, reading, start, end):
        return None
    if not (words[start] in grammar.subjects or _named(heard, reading, start)):
        return None
    begin, stop = units.starts[start], units.ends[end - 1]
    sums = [s for s in heard.spans if s.kind in _NUMBERS and begin <= s.start and s.end <= stop]
    if len(sums) != 1 or not isinstance(sums[0].value, MoneyValue) or len(sums[0].values) != 1:
        return None
    free = [at for at in range(start, end) if at not in reading.taken and words[at] != "me"]
    if any(grammar.twists.scan(words, at) for at in free):
        return None
    said = sums[0]
    match = named(grammar, heard, reading, find)
    inside = match is not None and begin <= match.start and match.end <= stop
    evidence = Evidence(said.start, said.end, said.surface, said.rule)
    payee = (
        Slot(PayeeId(str(match.choice)), Evidence(match.start, match.end, match.heard, OWING))
        if inside and match
        else None
    )
    slots = Slots(amount=Slot(sums[0].value, evidence), payee=payee)
    return Understood(Intent.INFORM, slots, route=Route.FAST, confidence=0.9, rule=OWING, payees=match)


def named(grammar: Grammar, heard: Annotation, reading: Reading, find: FindPayee | None) -> PayeeMatch | None:
    """The one who is named clearly: as the search over all the words found, else by a name alone."""
    match = heard.payees
    if match is not None or find is None:
        return match if match is not None and match.choice is not None else None
    units, text = reading.units, heard.transcript.text
    free = [at for at, word in enumerate(reading.words) if at not in reading.taken and word.isalpha()]
    names = [
        at
        for at in free
        if not grammar.trie.scan(reading.words, at) and not grammar.not_names.scan((reading.words[at],), 0)
    ]
    for at in names[:_MOST_NAMES]:
        found = find(text[units.starts[at] : units.ends[at]])
        if found is not None and found.choice is not None:
            return replace(found, start=units.starts[at], end=units.ends[at])
    return None


def with_payee(
    found: Understood, heard: Annotation, reading: Reading, grammar: Grammar, find: FindPayee | None
) -> Understood:
    """`found` with the one who was named in the reason for it, where the order itself says "him" or "her"."""
    if found.intent is not Intent.TRANSFER_MONEY or SlotName.PAYEE not in found.missing or found.unresolved:
        return found
    if not grammar.them.intersection(reading.words):
        return found
    match = named(grammar, heard, reading, find)
    if match is None or match.choice is None:
        return found
    evidence = Evidence(match.start, match.end, match.heard, RULE)
    given = replace(found.slots, payee=Slot(PayeeId(match.choice), evidence))
    missing = tuple(slot for slot in found.missing if slot is not SlotName.PAYEE)
    return replace(found, slots=given, missing=missing, payees=match)


def _named(heard: Annotation, reading: Reading, at: int) -> bool:
    match = heard.payees
    return match is not None and match.choice is not None and match.start == reading.units.starts[at]


def _cut(heard: Annotation, reading: Reading, at: int) -> bool:
    if at == 0:
        return True
    units = reading.units
    return _ENDS.search(heard.transcript.text, units.ends[at - 1], units.starts[at]) is not None
