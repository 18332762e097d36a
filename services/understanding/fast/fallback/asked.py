"""What is asked about, in words of no template, where nothing is done: a balance, or what is due on a bill.

Only where a cue and an own thing are named, and no word that may ask for something else.
"""

from dataclasses import replace
from typing import Final

from schemas.ids import AccountId, RuleId
from schemas.intent import MONEY_MOVING, READING, Annotation, Intent, Route, Slot, SlotName, Slots, Understood
from schemas.span import SpanKind
from services.understanding.fast.asides.reasons import bill_slot, own_bill
from services.understanding.fast.asides.vetoes import vetoes_met
from services.understanding.fast.clauses.clauses import bare
from services.understanding.fast.fallback.tails import ends_in_order
from services.understanding.fast.ruleset.grammar import TROUBLE
from services.understanding.fast.ruleset.meanings import CARDS
from services.understanding.fast.words.hearing import Hearing

RULE: Final = RuleId("intents.asked@1")
_ELSE: Final = "asks_else"
_NONE: Final = -1
_HOW: Final = "how"
_BESIDE: Final = frozenset({SpanKind.MONEY, SpanKind.PERCENT, SpanKind.DIGITS})
_SURE: Final = 0.8


def asked(hearing: Hearing, vetoes: set[str]) -> Understood | None:
    """The balance, or the bill, that is asked about; never in a language whose rules have no such cues."""
    grammar, heard, reading = hearing.grammar, hearing.heard, hearing.reading
    let = {"question"} if grammar.spaced else {"question", "past"}
    if _ELSE not in grammar.symbols or vetoes - let or any(s.kind in _BESIDE for s in heard.spans):
        return None
    size, words = len(reading.words), reading.words
    said = reading.lattice.said()
    symbols = grammar.symbols
    if (
        TROUBLE in hearing.routed
        or heard.payees is not None
        or not said.isdisjoint({symbols[_ELSE], symbols.get("bank", _NONE)})
    ):
        return None
    due = symbols["bill_cue"] in said and (grammar.spaced or symbols["billed"] in said or not _card(hearing))
    if due and (found := own_bill(hearing, 0, size)) is not None:
        slots = Slots(bill=bill_slot(hearing, *found, RULE))
        return _found(Intent.BILL_INQUIRY, slots, heard)
    accounts = _accounts(hearing)
    cued = (
        symbols["balance_cue"] in said
        and symbols["billed"] not in said
        and (not grammar.spaced or bool(grammar.words.subjects.intersection(words)))
    )
    moves = not grammar.spaced and ends_in_order(hearing)  # 残高の全額を定期に移して
    if moves or not cued or not (accounts or symbols["balance"] in said):
        return None
    slots = Slots(account=next(iter(accounts.values()))) if len(accounts) == 1 else Slots()
    return _found(Intent.BALANCE_INQUIRY, slots, heard)


def of_its_bill(hearing: Hearing, found: Understood) -> Understood:
    """What is asked about bills, with the one of the caller's own that is named, wherever in the words it stands.

    What a card's balance is tells its bill, where no limit of its may be meant.
    """
    cards = (
        hearing.grammar.spaced
        and found.intent is Intent.BALANCE_INQUIRY
        and [each.slot for each in found.unresolved] == [SlotName.ACCOUNT]
    )
    if not (cards or found.intent is Intent.BILL_INQUIRY) or found.slots.bill is not None:
        return found
    if (named := own_bill(hearing, 0, len(hearing.reading.words))) is None:
        return found
    bill = bill_slot(hearing, *named, RULE)
    if cards:
        return replace(found, slots=Slots(bill=bill), unresolved=())
    return replace(found, slots=replace(found.slots, bill=bill))


def of_its_account(hearing: Hearing, found: Understood) -> Understood:
    """A balance that is asked for, with the one own account that is named, where the words that were read name none."""
    open_ = found.intent is Intent.BALANCE_INQUIRY and found.slots == Slots() and not found.unresolved
    if hearing.grammar.spaced or not open_:
        return found
    accounts = _accounts(hearing)
    return replace(found, slots=Slots(account=next(iter(accounts.values())))) if len(accounts) == 1 else found


def _found(intent: Intent, slots: Slots, heard: Annotation) -> Understood:
    return Understood(intent, slots, route=Route.FAST, confidence=_SURE, rule=RULE, payees=heard.payees)


def _card(hearing: Hearing) -> bool:
    """Whether a card is named: of one much else may be asked than what is billed."""
    nouns = hearing.nouns
    edges = (edge for edges in hearing.reading.phrases(nouns.trie) for edge in edges)
    return any(nouns.nouns[edge.symbol].kind == "card" for edge in edges)


def _accounts(hearing: Hearing) -> dict[str, Slot[AccountId]]:
    """The caller's own accounts that are named, none of them said to be another's."""
    nouns, reading = hearing.nouns, hearing.reading
    found: dict[str, Slot[AccountId]] = {}
    for at in range(len(reading.words)):
        for edge in reading.phrases(nouns.trie)[at]:
            noun = nouns.nouns[edge.symbol]
            others = at and reading.words[at - 1] in hearing.grammar.words.others
            if noun.kind == "account" and noun.id is not None and not others:
                found[noun.id] = Slot(AccountId(noun.id), hearing.said(at, edge.end, RULE))
    return found


def asked_how(hearing: Hearing, found: Understood) -> Understood:
    """A card's lock is but offered where it is asked how: 「カードを止めたいんですけど、どうすればいいですか」."""
    asked = hearing.context.idle and found.intent in CARDS
    how = asked and _HOW in vetoes_met(hearing, 0, len(hearing.reading.words))
    return replace(found, route=Route.CLARIFY) if how and found.route is Route.FAST else found


def conditional(hearing: Hearing, found: Understood) -> bool:
    """Whether money moves by it on a condition that is looked up: "if I got paid then pay the phone bill"."""
    if found.intent not in READING or found.then is None or found.then.intent not in MONEY_MOVING:
        return False
    grammar, words = hearing.grammar, hearing.reading.words
    first = bare(grammar.phrases.asides_unasked, hearing.reading, 0, len(words))[0]
    held = first < len(words) and words[first] not in grammar.words.asking
    return held and grammar.cues.conditions.begins(words, first)
