"""Clauses that tell why, or what is owed or spoken of: what they hold of an order, and that they hold nothing of one.

A reason is left out only where it is of a subject's own and has no part of an order in it.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from schemas.ids import BillId, PayeeId, RuleId
from schemas.intent import Annotation, Context, Evidence, Intent, Route, Slot, SlotName, Slots, Understood
from schemas.payee import MatchOutcome, PayeeMatch
from schemas.span import MoneyValue, SpanKind
from services.understanding.fast.clauses import OWING
from services.understanding.fast.grammar import Grammar
from services.understanding.fast.lattice import Edge
from services.understanding.fast.reading import UtteranceLattice
from services.understanding.fast.vocabulary import vocabulary

FindPayee = Callable[[str], PayeeMatch | None]
RULE: Final = RuleId("intents.loose@1")
NO_REASON: Final = frozenset({"question", "negation", "conditional", "reported", "recurring", "trouble"})
"""Vetoes with which a clause is no mere reason."""
PARTS: Final = frozenset({SpanKind.MONEY, SpanKind.DATE, SpanKind.TIME, SpanKind.PERCENT})
NUMBERS: Final = frozenset({SpanKind.MONEY, SpanKind.NUMBER, SpanKind.DIGITS, SpanKind.PERCENT})
_VERBS: Final = ("transfer", "carry", "give", "sends")
_MOST: Final = 14
"""Units of a reason, at most."""
_MOST_NAMES: Final = 6
_EXACT: Final = 0.98
_FAR: Final = 0.1


def reason(
    grammar: Grammar,
    heard: Annotation,
    context: Context,
    reading: UtteranceLattice,
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
    if any(span.kind in PARTS and span.start < stop and begin < span.end for span in heard.spans):
        return False
    if any(grammar.accounts.repairs.scan(words, at) for at in range(end) if at not in reading.taken):
        return False  # "no, it's maria"
    if any(grammar.objecting.scan(words, at) for at in range(start, end)):
        return False  # "I've changed my mind"
    parts = any(_tells(grammar, context, reading, at) for at in range(start, end))
    return 1 < end - start <= _MOST and not parts and not acts(grammar, reading, start, end)


def _another_named(
    grammar: Grammar, heard: Annotation, reading: UtteranceLattice, start: int, end: int, find: FindPayee | None
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
    grammar: Grammar, heard: Annotation, context: Context, reading: UtteranceLattice, start: int, end: int
) -> Understood | None:
    """The one bill that units `start` … `end` speak of and ask nothing about: "i am late on my water bill"."""
    words, units = reading.words, reading.units
    if not 1 < end - start <= _MOST or words[start] not in grammar.subjects:
        return None
    begin, stop = units.starts[start], units.ends[end - 1]
    if any(span.kind in NUMBERS and span.start < stop and begin < span.end for span in heard.spans):
        return None
    found = own_bill(grammar, context, reading, start, end)
    if found is None:
        return None  # "my sister's water bill"
    edge, bill = found
    omitted = grammar.omitted.intersection(words[start : edge.start])
    if acts(grammar, reading, edge.end if omitted else start, end):
        return None
    slots = Slots(bill=bill_slot(heard, reading, edge, bill, OWING))
    return Understood(Intent.INFORM, slots, route=Route.FAST, confidence=0.9, rule=OWING, payees=heard.payees)


def own_bill(
    grammar: Grammar, context: Context, reading: UtteranceLattice, start: int, end: int
) -> tuple[Edge, BillId] | None:
    """The one bill of the caller's own that units `start` … `end` name, and no account beside it."""
    words, nouns, own = reading.words, vocabulary(grammar, context), grammar.symbols["own"]
    named = [(e, nouns.nouns[e.symbol]) for at in range(start, end) for e in nouns.trie.scan(words, at) if e.end <= end]
    bills = {noun.id for _, noun in named if noun.kind == "bill" and noun.id is not None}
    if len(bills) != 1 or any(noun.kind == "account" and noun.id is not None for _, noun in named):
        return None
    edge, noun = max(((e, n) for e, n in named if n.id in bills), key=lambda each: each[0].end - each[0].start)
    before = edge.start - 1
    mine = before >= start and any(e.symbol == own and e.end == edge.start for e in reading.lattice.edges(before))
    return (edge, BillId(str(noun.id))) if mine and words[before] not in grammar.others else None


def bill_slot(heard: Annotation, reading: UtteranceLattice, edge: Edge, bill: BillId, rule: RuleId) -> Slot[BillId]:
    """The bill, as it was named."""
    first, last = reading.units.starts[edge.start], reading.units.ends[edge.end - 1]
    return Slot(bill, Evidence(first, last, heard.transcript.text[first:last], rule))


def _tells(grammar: Grammar, context: Context, reading: UtteranceLattice, at: int) -> bool:
    """Whether a part of an order, or a word that turns one around, begins at unit `at`."""
    words, rules, nouns = reading.words, grammar.accounts, vocabulary(grammar, context)
    if any(trie.scan(words, at) for trie in (rules.places, grammar.twists)):
        return True
    if any(nouns.nouns[edge.symbol].id is not None for edge in nouns.trie.scan(words, at)):
        return True
    return (words[at],) in rules.before or (words[at] not in grammar.passing and bool(rules.times.scan(words, at)))


def acts(grammar: Grammar, reading: UtteranceLattice, start: int, end: int, names: tuple[str, ...] = _VERBS) -> bool:
    """Whether there is a verb of sending."""
    verbs = {grammar.symbols[name] for name in names}
    return any(e.symbol in verbs for at in range(start, end) for e in reading.lattice.edges(at) if e.end <= end)


def owing(
    grammar: Grammar,
    heard: Annotation,
    context: Context,
    reading: UtteranceLattice,
    start: int,
    end: int,
    find: FindPayee | None,
) -> Understood | None:
    """What units `start` … `end` say is owed to someone, or wanted by them: "i owe Dave 75 dollars"."""
    words, units = reading.words, reading.units
    if start >= end or not grammar.owing.intersection(words[start:end]) or acts(grammar, reading, start, end):
        return None
    if not (words[start] in grammar.subjects or _named(heard, reading, start)):
        return None
    nouns = vocabulary(grammar, context)
    owned = (nouns.nouns[e.symbol] for at in range(start, end) for e in nouns.trie.scan(words, at))
    if any(noun.kind == "account" and noun.id is not None for noun in owned):
        return None  # "i want 200 taken out of savings" is an order's part
    begin, stop = units.starts[start], units.ends[end - 1]
    sums = [s for s in heard.spans if s.kind in NUMBERS and begin <= s.start and s.end <= stop]
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


def named(grammar: Grammar, heard: Annotation, reading: UtteranceLattice, find: FindPayee | None) -> PayeeMatch | None:
    """The one who is named clearly: as the search over all the words found, else by a name alone."""
    match = heard.payees
    if match is not None and (alone := _alone(match)) is not None:
        return replace(match, outcome=MatchOutcome.CLEAR, choice=alone)
    if match is not None or find is None:
        return None
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
    found: Understood, heard: Annotation, reading: UtteranceLattice, grammar: Grammar, find: FindPayee | None
) -> Understood:
    """`found` with the one who was named in the reason for it, where the order itself says "him" or "her"."""
    if found.intent is not Intent.TRANSFER_MONEY or SlotName.PAYEE not in found.missing:
        return found
    if any(mention.slot is not SlotName.DATE for mention in found.unresolved):
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


def _named(heard: Annotation, reading: UtteranceLattice, at: int) -> bool:
    match = heard.payees
    return match is not None and _alone(match) is not None and match.start == reading.units.starts[at]


def _alone(match: PayeeMatch) -> PayeeId | None:
    """Who was chosen; else the one who is called just so, where nobody else comes near: "Emily wants fifty"."""
    if match.choice is not None or match.outcome is not MatchOutcome.ASK or not match.candidates:
        return match.choice
    best, *others = match.candidates
    sole = best.score >= _EXACT and all(each.score < _FAR for each in others)
    return best.id if sole else None
