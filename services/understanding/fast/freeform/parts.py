"""A clause in words of no template that holds parts of an order, and of whose words none says anything else."""

from dataclasses import replace
from typing import Final

from schemas.ids import AccountId, PayeeId, RuleId
from schemas.intent import TOLD_ALONE, Evidence, Intent, Route, Slot, SlotName, Slots, Understood
from schemas.span import NUMBERS, MoneyValue
from services.understanding.fast.asides.reasons import VERBS, ClauseSpan, clearly_named, names_a_part
from services.understanding.fast.asides.vetoes import vetoes_met
from services.understanding.fast.clauses.joining import OWING
from services.understanding.fast.freeform.loose import sent_from
from services.understanding.fast.freeform.told import own_accounts
from services.understanding.fast.patterns.lattice import FILLER
from services.understanding.fast.words.hearing import Hearing

_RULE: Final = RuleId("intents.parts@1")
_IDLE: Final = (*VERBS, "lead", "transfer_noun", "make", "funds", "own", "beside_parts")
"""Lists of words that say nothing beside a part of an order."""
_NEAR: Final = 4
"""Units between a word that tells an account's part and its name."""
_ACTS: Final = (*VERBS, "transfer_noun")
_MOVING: Final = ("transfer_do", "transfer_noun", "give_do", "restore_do", "more_do")
_SURE: Final = 0.8
_SAME: Final = 0.95
"""How well a payee's name fits that is meant rather than an own account of that name, at least."""


def parts(clause: ClauseSpan) -> Understood | None:
    """The transfer, or the parts of one, that the clause tells; None where a word of it is not read."""
    amount, payee = sole_amount(clause), _payee(clause)
    if (amount is None and payee is None) or vetoes_met(clause, clause.start, clause.end):
        return None
    source = _source(clause)
    slots = Slots(amount=amount, payee=payee, source=source[0] if source is not None else None)
    twisted = _twisted(clause, source[1] if source is not None else range(0)) or _turned(clause, payee)
    if twisted or not _consumed(clause, slots):
        return None
    verbs = _places(clause, _ACTS)
    if verbs and not _asked_for(clause, verbs):
        return None
    told = not {"is", "was"}.isdisjoint(clause.words) or not clause.grammar.words.owing.isdisjoint(clause.words)
    lacking = tuple(name for name, slot in ((SlotName.AMOUNT, amount), (SlotName.PAYEE, payee)) if slot is None)
    ordered = bool(verbs) or not (lacking or told)
    return Understood(
        Intent.TRANSFER_MONEY if ordered else Intent.INFORM,
        slots,
        missing=lacking if ordered else (),
        route=Route.FAST,
        confidence=0.9,
        rule=OWING if told and not ordered else _RULE,
        payees=clause.heard.payees,
    )


def _turned(clause: ClauseSpan, payee: Slot[PayeeId] | None) -> bool:
    """Whether the one who is named is to send the money, is spoken to, or has what is spoken of: "emily's rent"."""
    if payee is None:
        return False
    reading = clause.reading
    behind = next((at for at in clause.places if reading.units.starts[at] >= payee.evidence.end), clause.end)
    acts = behind in _places(clause, _ACTS)
    follows = reading.words[behind] if behind < clause.end else ""
    known = clause.grammar.words
    owns = clause.text.startswith(known.possessives, payee.evidence.end) and follows not in known.having
    return acts or owns or sent_from(clause, payee.evidence.start)


def _asked_for(clause: ClauseSpan, verbs: set[int]) -> bool:
    """Whether one of the verbs stands where the clause begins, or behind words that ask for something to be done."""
    grammar, reading = clause.grammar, clause.reading
    led = {grammar.symbols["lead"], FILLER}
    begins = {clause.start}
    for at in clause.places:
        edges = [edge for edge in reading.lattice.edges(at) if edge.symbol in led]
        begins.update(e.end for e in edges if e.symbol != FILLER or at in begins)
        if at in begins:
            begins.update(e.end for e in grammar.phrases.asides_unasked.scan(reading.words, at))
    return not verbs.isdisjoint(begins)


def sole_amount(clause: ClauseSpan) -> Slot[MoneyValue] | None:
    """The one amount of a clause, where no other number is named in it."""
    begin, stop = clause.points if clause.words else (0, 0)
    sums = [span for span in clause.heard.spans if span.kind in NUMBERS and begin <= span.start < stop]
    if len(sums) != 1 or not isinstance(sums[0].value, MoneyValue) or len(sums[0].values) != 1 or sums[0].ambiguity:
        return None
    return Slot(sums[0].value, Evidence.of(sums[0]))


def _payee(clause: ClauseSpan) -> Slot[PayeeId] | None:
    match = clearly_named(clause)
    begin, stop = clause.points
    if match is None or match.choice is None or not (begin <= match.start and match.end <= stop):
        return None
    return Slot(PayeeId(match.choice), Evidence.naming(match, _RULE))


def _source(clause: ClauseSpan) -> tuple[Slot[AccountId], range] | None:
    """The one own account that a clause says the money comes from, and its units."""
    inside = [each for each in own_accounts(clause) if clause.start <= each[1].start and each[1].end <= clause.end]
    if len(inside) != 1 or inside[0][0] != "source":
        return None
    _, edge, id_ = inside[0]
    if clause.grammar.words.outof.isdisjoint(clause.reading.words[max(clause.start, edge.start - _NEAR) : edge.start]):
        return None
    return Slot(AccountId(id_), clause.said(edge.start, edge.end, _RULE)), range(edge.start, edge.end)


def _twisted(clause: ClauseSpan, account: range) -> bool:
    """Whether a word turns the parts around, tells a time or an account, or corrects."""
    grammar, reading = clause.grammar, clause.reading
    words, harmless = reading.words, grammar.words.outof | grammar.words.before_me
    free = [at for at in clause.places if at not in reading.taken]
    free = [at for at in free if not (words[at] == "me" and at and words[at - 1] in harmless)]
    tries = (grammar.phrases.twists, grammar.cues.repairs, grammar.cues.conditions)
    if any(reading.phrases(trie)[at] for at in free for trie in tries):
        return True
    return any(names_a_part(clause, at) for at in free if at not in account)


def _consumed(clause: ClauseSpan, slots: Slots) -> bool:
    """Whether every word is in a slot, or one that says nothing beside it."""
    grammar, reading = clause.grammar, clause.reading
    idle = grammar.named(_IDLE) | {FILLER}
    held = [slot.evidence for slot in (slots.amount, slots.payee, slots.source) if slot is not None]
    starts = reading.units.starts
    done = {at for at in clause.places for e in held if e.start <= starts[at] < e.end}
    idling = reading.lattice.of(idle, clause.start, clause.end)
    done.update(at for edge in idling for at in range(edge.start, edge.end))
    for at in clause.places:
        done.update(k for e in reading.phrases(grammar.phrases.asides_unasked)[at] for k in range(at, e.end))
        done.update({at} if reading.words[at] in grammar.words.light | {"me"} else ())
    return done.issuperset(clause.places)


def _places(clause: ClauseSpan, names: tuple[str, ...]) -> set[int]:
    edges = clause.reading.lattice.of(clause.grammar.named(names), clause.start, clause.end)
    return {edge.start for edge in edges if edge.end <= clause.end}


def as_source(hearing: Hearing, found: Understood) -> Understood:
    """An account alone, which else may ask for its balance, is to pay what is read back; so is 「へそくりに」.

    Asked which of several payees is meant, it is to pay that one, unless it is said to receive.
    """
    account, context, grammar = found.slots.account, hearing.context, hearing.grammar
    target = found.slots.target
    if (named := _own_instead(hearing, found)) is not None:
        return replace(found, slots=Slots(source=named), unresolved=(), payees=None)
    if target is not None and context.asked is SlotName.PAYEE and context.choices and _bare(hearing, target):
        return replace(found, slots=replace(found.slots, source=target, target=None))
    into = found.intent is Intent.CORRECT and found.slots == Slots(target=found.slots.target)
    if into and context.terms.names and not grammar.spaced:
        moves = not hearing.reading.lattice.said().isdisjoint(grammar.named(_MOVING))
        return found if moves else replace(found, slots=Slots(source=found.slots.target))
    if not context.confirming or found.intent is not Intent.BALANCE_INQUIRY or found.route is not Route.CLARIFY:
        return found
    if account is None:
        return found
    return replace(found, intent=Intent.CORRECT, slots=Slots(source=account), route=Route.FAST, confidence=_SURE)


def _bare(hearing: Hearing, account: Slot[AccountId]) -> bool:
    """Whether an account is named alone, and no word beside it says that it is to receive."""
    units, marks = hearing.reading.units, hearing.grammar.cues
    place = units.covering(account.evidence.start, account.evidence.end)
    if place is None:
        return False
    if not hearing.grammar.spaced:
        made = hearing.grammar.patterns.orders.made_it.match(hearing.text, units.ends[place[1] - 1])
        return made is not None or not marks.onto.scan(units.words, place[1])
    return hearing.grammar.words.onto.isdisjoint(units.words[max(0, place[0] - _NEAR) : place[0]])


def _own_instead(hearing: Hearing, found: Understood) -> Slot[AccountId] | None:
    """The own account that is called just so, where a payee's name only sounds a little like that: メイン, not マイ."""
    match, context, units = hearing.heard.payees, hearing.context, hearing.reading.units
    alone = len(found.unresolved) == 1 and found.unresolved[0].slot is SlotName.PAYEE and found.slots == Slots()
    if not alone or found.intent not in TOLD_ALONE or match is None or match.choice is not None:
        return None
    if context.idle or (match.candidates and match.candidates[0].score >= _SAME):
        return None
    named = found.unresolved[0].evidence
    place = units.covering(named.start, named.end)
    rows = hearing.reading.phrases(hearing.nouns.trie)
    edges = [edge for edge in rows[place[0]] if edge.end == place[1]] if place is not None else []
    nouns = [hearing.nouns.nouns[edge.symbol] for edge in edges]
    ids = {noun.id for noun in nouns if noun.kind == "account" and noun.id is not None}
    return Slot(AccountId(ids.pop()), named) if len(ids) == 1 else None
