"""A clause in words of no template that holds parts of an order, and of whose words none says anything else."""

from typing import Final

from schemas.ids import PayeeId, RuleId
from schemas.intent import Evidence, Intent, Route, Slot, SlotName, Slots, Understood
from schemas.payee import MatchOutcome
from schemas.span import MoneyValue
from services.understanding.fast.lattice import FILLER
from services.understanding.fast.loose import sent_from
from services.understanding.fast.reasons import NUMBERS, VERBS, ClauseSpan, names_a_part
from services.understanding.fast.vetoes import vetoes_met

_RULE: Final = RuleId("intents.parts@1")
_IDLE: Final = (*VERBS, "lead", "transfer_noun", "make", "funds", "own", "purpose", "beside_parts")
"""Lists of words that say nothing beside a part of an order."""
_ACTS: Final = (*VERBS, "transfer_noun")
_OF: Final = frozenset({"for", "let"})
"""Words before "me" that leave an order what it is."""


def parts(clause: ClauseSpan) -> Understood | None:
    """The transfer, or the parts of one, that the clause tells; None where a word of it is not read."""
    grammar, reading = clause.grammar, clause.reading
    amount, payee = _amount(clause), _payee(clause)
    if amount is None and payee is None or vetoes_met(grammar, reading, clause.start, clause.end):
        return None
    slots = Slots(amount=amount, payee=payee)
    if _twisted(clause) or (payee is not None and sent_from(grammar, reading, payee.evidence.start)):
        return None
    if not _consumed(clause, slots):
        return None
    verbs = _places(clause, _ACTS)
    if payee is not None and any(_ends_at(clause, payee, at) for at in verbs):
        return None  # "emily send fifty dollars" may be said to her
    owed = not grammar.words.owing.isdisjoint(clause.words)
    whole = amount is not None and payee is not None and not owed
    lacking = tuple(name for name, slot in ((SlotName.AMOUNT, amount), (SlotName.PAYEE, payee)) if slot is None)
    ordered = bool(verbs) or whole
    intent, missing = (Intent.TRANSFER_MONEY, lacking) if ordered else (Intent.INFORM, ())
    return Understood(
        intent, slots, missing=missing, route=Route.FAST, confidence=0.9, rule=_RULE, payees=clause.heard.payees
    )


def _amount(clause: ClauseSpan) -> Slot[MoneyValue] | None:
    begin, stop = clause.points
    sums = [span for span in clause.heard.spans if span.kind in NUMBERS and begin <= span.start < stop]
    if len(sums) != 1 or not isinstance(sums[0].value, MoneyValue) or len(sums[0].values) != 1 or sums[0].ambiguity:
        return None
    return Slot(sums[0].value, Evidence(sums[0].start, sums[0].end, sums[0].surface, sums[0].rule))


def _payee(clause: ClauseSpan) -> Slot[PayeeId] | None:
    match, (begin, stop) = clause.heard.payees, clause.points
    if match is None or match.choice is None or match.outcome is not MatchOutcome.CLEAR:
        return None
    if not (begin <= match.start and match.end <= stop):
        return None
    return Slot(PayeeId(match.choice), Evidence(match.start, match.end, match.heard, _RULE))


def _twisted(clause: ClauseSpan) -> bool:
    """Whether a word turns the parts around, tells a time or an account, or corrects."""
    grammar, reading = clause.grammar, clause.reading
    words, harmless = reading.words, grammar.words.outof | _OF
    free = [at for at in clause.places if at not in reading.taken]
    free = [at for at in free if not (words[at] == "me" and at and words[at - 1] in harmless)]
    tries = (grammar.phrases.twists, grammar.accounts.repairs, grammar.accounts.conditions)
    return any(trie.scan(words, at) for at in free for trie in tries) or any(names_a_part(clause, at) for at in free)


def _consumed(clause: ClauseSpan, slots: Slots) -> bool:
    """Whether every word is in a slot, or one that says nothing beside it."""
    grammar, reading = clause.grammar, clause.reading
    idle = {grammar.symbols[name] for name in _IDLE} | {FILLER}
    held = [slot.evidence for slot in (slots.amount, slots.payee) if slot is not None]
    starts, ends = reading.units.starts, reading.units.ends
    done = {at for at in clause.places for e in held if e.start <= starts[at] and ends[at] <= e.end}
    for at in clause.places:
        done.update(k for e in reading.lattice.edges(at) if e.symbol in idle for k in range(at, e.end))
        done.update(k for e in grammar.phrases.asides_unasked.scan(reading.words, at) for k in range(at, e.end))
        done.update({at} if reading.words[at] in grammar.words.light | {"me"} else ())
    return done.issuperset(clause.places)


def _places(clause: ClauseSpan, names: tuple[str, ...]) -> set[int]:
    symbols = {clause.grammar.symbols[name] for name in names}
    edges = (edge for at in clause.places for edge in clause.reading.lattice.edges(at) if edge.end <= clause.end)
    return {edge.start for edge in edges if edge.symbol in symbols}


def _ends_at(clause: ClauseSpan, payee: Slot[PayeeId], at: int) -> bool:
    """Whether a payee stands right before a unit."""
    return at > 0 and clause.reading.units.ends[at - 1] == payee.evidence.end
