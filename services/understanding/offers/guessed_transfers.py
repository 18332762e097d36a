"""A transfer in words that nobody read, of which one payee and one amount are clear: it is offered, with these.

Never what is asked about, told of others or of what was, or not wanted; nothing of it is read back.
"""

from typing import Final

from schemas.ids import AccountId, PayeeId, RuleId
from schemas.intent import Evidence, Intent, Route, Slot, Slots, Understood
from services.understanding.correction.coordinated_names import beside_others
from services.understanding.correction.said import Said
from services.understanding.fast.asides.reasons import ClauseSpan, acts, another_named, named
from services.understanding.fast.asides.vetoes import vetoes_met
from services.understanding.fast.clauses.clauses import bare, pauses, sentences
from services.understanding.fast.freeform.loose import commanded, sent_from
from services.understanding.fast.freeform.parts import sole_amount
from services.understanding.fast.freeform.told import own_accounts
from services.understanding.fast.patterns.lattice import FILLER

_RULE: Final = RuleId("intents.offered@1")
_SURE: Final = 0.5
_OPEN: Final = frozenset({None, Intent.QNA})
"""What words that nobody read may have been taken for."""
_ASKED_FOR: Final = frozenset({"past", "conditional", "reported"})
"""Vetoes with which an order may still be meant, where one is asked for in so many words."""
_LAST: Final = 3
"""Units behind a payee within which stands what that one does."""


def offered(said: Said, found: Understood) -> Understood | None:
    """The offer; None where too little, too much or something else is said."""
    context, heard = said.context, said.heard
    if not said.rules.spaced or not context.idle or context.code or found.rule is not None or found.intent not in _OPEN:
        return None
    span = ClauseSpan.whole(said.naming)
    amount, own = sole_amount(span), dict(_own(span))
    if not amount or _questions(span) or hindered(span) or not _wanted(span):
        return None
    payee = _payee(span)
    if payee is None and not {"source", "target"} <= own.keys():
        return None
    if payee is not None and (sent_from(span, payee.evidence.start) or _acts_itself(span, payee)):
        return None
    slots = Slots(amount=amount, payee=payee, source=own.get("source"), target=own.get("target"))
    offer = Understood(
        Intent.TRANSFER_MONEY, slots, route=Route.CLARIFY, confidence=_SURE, rule=_RULE, payees=heard.payees
    )
    return beside_others(said, offer)


def _payee(span: ClauseSpan) -> Slot[PayeeId] | None:
    match = named(span)
    if match is None or match.choice is None or (span.heard.payees is not None and another_named(span)):
        return None
    return Slot(PayeeId(match.choice), Evidence.naming(match, _RULE))


def _own(span: ClauseSpan) -> list[tuple[str, Slot[AccountId]]]:
    """The caller's own accounts with their parts; nothing where one part is told twice."""
    found: list[tuple[str, Slot[AccountId]]] = []
    for part, edge, account in own_accounts(span):
        found.append((part, Slot(AccountId(account), span.said(edge.start, edge.end, _RULE))))
    return found if len({part for part, _ in found}) == len(found) else []


def hindered(span: ClauseSpan) -> bool:
    """Whether a clause with a part of the order is a question, denied, told of what was or of others."""
    grammar, reading = span.grammar, span.reading
    asked_for = commanded(span)
    for start, end in sentences(span):
        for begin, stop in pauses(span, start, end):
            vetoes = vetoes_met(span, begin, stop) - (_ASKED_FOR if asked_for else set())
            parts = not reading.taken.isdisjoint(range(begin, stop)) or acts(span, begin, stop)
            if vetoes and (parts or "question" in vetoes):
                return True
    words = reading.words
    harmless = grammar.words.outof | grammar.words.for_caller | (grammar.words.finite if asked_for else set())
    return any(word in grammar.words.mine and at and words[at - 1] not in harmless for at, word in enumerate(words))


def _questions(span: ClauseSpan) -> bool:
    """Whether it begins as a question that asks for nothing to be done: "is fifty dollars enough"."""
    grammar, words = span.grammar, span.reading.words
    begin = bare(grammar.phrases.asides_unasked, span.reading, 0, len(words))[0]
    leads = span.reading.lattice.of({grammar.symbols["lead"]}, begin, begin + 1)
    return not leads and begin < len(words) and words[begin] in grammar.words.asking


def _wanted(span: ClauseSpan) -> bool:
    """Whether it is wanted in any words, or no question is put."""
    led = {span.grammar.symbols["lead"], FILLER}
    leads = span.reading.lattice.of(led, span.start, span.end)
    return bool(leads) or not span.text.rstrip().endswith("?")


def _acts_itself(span: ClauseSpan, payee: Slot[PayeeId]) -> bool:
    """Whether it is told what the payee does, and nothing is asked for: "ken charges two hundred dollars"."""
    grammar, words, units = span.grammar, span.reading.words, span.reading.units
    behind = next((at for at, start in enumerate(units.starts) if start >= payee.evidence.end), len(words))
    does = [w for w in words[behind : behind + _LAST] if w in grammar.words.finite or w.endswith(("s", "ed"))]
    wants = grammar.words.owing.intersection(words[behind:])
    return bool(does) and not wants and not commanded(span)
