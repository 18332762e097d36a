"""What is asked about the order that is read back: to whom, from where, what was sent before, what will be left."""

from typing import Final

from schemas.consent import ORDERS, Awaited
from schemas.ids import AccountId, RuleId
from schemas.intent import Evidence, Intent, Route, Slot, Slots, Topic, Understood
from schemas.span import SpanKind
from services.understanding.correction.said import Said

_RULE: Final = RuleId("intents.asked_of_order@1")
_LEFT: Final = RuleId("intents.asked_left@1")
_BEFORE: Final = RuleId("intents.asked_before@1")
_NEW, _CODE, _DONE = "new", "code", "done"
"""Topics: whether its payee is a new one, whether more is needed for it than a yes, whether it has gone."""
_SUMS: Final = frozenset({SpanKind.MONEY, SpanKind.DATE, SpanKind.DIGITS})
_WAITS: Final = ORDERS | {Awaited.SLOT, Awaited.TASK}
"""Where an order waits, whole or in part."""
_OPEN: Final = frozenset({None, Intent.QNA, Intent.DENY, Intent.CORRECT, Intent.REPEAT, Intent.BALANCE_INQUIRY})
"""What such a question may have been read as."""


def asked_of_order(said: Said, found: Understood) -> Understood | None:
    """The question about the order that waits, or a person's offer; None where a value is named that is not its own."""
    if (at_once := _of_what_waits(said, found)) is not None:
        return at_once
    if said.context.terms.awaited not in ORDERS or found.intent not in _OPEN or found.consent is not None:
        return None
    if found.then is not None or any(span.kind in _SUMS for span in said.heard.spans):
        return None
    terms = said.context.terms
    if (
        terms.names
        and not terms.bill
        and said.rules.patterns.inquiries.asks_before.search(said.text)
        and _of_its_payee(said)
    ):
        sent = Slots(topic=Slot(str(Topic.SENT), said.heard.whole(_BEFORE)))
        return Understood(Intent.RECENT_TRANSACTIONS, sent, route=Route.FAST, confidence=1.0, rule=_BEFORE)
    accounts = _accounts(said)
    if len(accounts) <= 1 and said.rules.patterns.inquiries.asks_left.search(said.text):
        return _left(found, accounts)
    return None if accounts else _asked_again(said)


def _of_what_waits(said: Said, found: Understood) -> Understood | None:
    """What comes of a person who is offered; that an order has not gone which waits, or of which a part is missing."""
    patterns, awaited = said.rules.patterns.inquiries, said.context.terms.awaited
    if awaited is Awaited.PERSON and patterns.asks_what_now.fullmatch(said.text):
        return Understood(Intent.REPEAT, route=Route.FAST, confidence=1.0, rule=_RULE)
    unread = found.intent in _OPEN or (found.intent is Intent.RECENT_TRANSACTIONS and found.slots == Slots())
    if awaited not in _WAITS or not unread or patterns.asks_done.fullmatch(said.text) is None:
        return None
    about = Slots(topic=Slot(_DONE, said.heard.whole(_RULE)))
    return Understood(Intent.INFORM, about, route=Route.FAST, confidence=1.0, rule=_RULE)


def _left(found: Understood, accounts: list[tuple[str, Evidence]]) -> Understood:
    """What will be left: of the account that is named, if any."""
    about = Slot(AccountId(accounts[0][0]), accounts[0][1]) if accounts else None
    return Understood(
        Intent.BALANCE_INQUIRY,
        Slots(account=about),
        route=Route.FAST,
        confidence=1.0,
        rule=_LEFT,
        payees=found.payees,
    )


def _asked_again(said: Said) -> Understood | None:
    """What was read back already: how much, from where, or to whom, which is told in full; what comes of a yes."""
    terms, patterns = said.context.terms, said.rules.patterns.inquiries
    nowhere = said.heard.payees is None and patterns.asks_where.search(said.text)
    if nowhere or patterns.asks_amount.fullmatch(said.text):
        return Understood(Intent.REPEAT, route=Route.FAST, confidence=1.0, rule=_RULE)
    asks_new = terms.bill is None and terms.target is None and patterns.asks_new.fullmatch(said.text)
    if asks_new or patterns.asks_code.fullmatch(said.text):
        about = Slots(topic=Slot(_NEW if asks_new else _CODE, said.heard.whole(_RULE)))
        return Understood(Intent.INFORM, about, route=Route.FAST, confidence=1.0, rule=_RULE)
    if terms.bill is None and terms.target is None and _asks_who(said):
        slots = Slots(topic=Slot(Topic.WHO, said.heard.whole(_RULE)))
        return Understood(Intent.INFORM, slots, route=Route.FAST, confidence=1.0, rule=_RULE, payees=said.heard.payees)
    return None


def _accounts(said: Said) -> list[tuple[str, Evidence]]:
    """The own things that are named, where they are accounts; twice the same where another one is."""
    hearing = said.hearing
    rows = hearing.reading.phrases(hearing.nouns.trie)
    edges = [max(row, key=lambda e: e.end) for row in rows if row]
    named = {n.id: (n.kind, e) for e in edges if (n := hearing.nouns.nouns[e.symbol]).id is not None}
    if any(kind != "account" for kind, _ in named.values()):
        return [("", said.heard.whole(_RULE))] * 2
    return [(str(id_), hearing.said(e.start, e.end, _RULE)) for id_, (_, e) in named.items()]


def _asks_who(said: Said) -> bool:
    """Whether it is asked who is paid, or if it is not somebody else."""
    patterns = said.rules.patterns.inquiries
    named = said.heard.payees is not None and bool(said.heard.payees.candidates)
    asks = patterns.asks_who.search(said.text) or (named and patterns.asks_if_it_is.search(said.text))
    return (bool(asks) and _of_its_payee(said)) or patterns.asks_not.search(said.text) is not None


def _of_its_payee(said: Said) -> bool:
    """Whether nobody is named, or somebody who may be the order's own payee."""
    match, names = said.heard.payees, said.context.terms.names
    if match is None or not match.candidates:
        return True
    chosen = [each.display_name for each in match.candidates if each.id == match.choice]
    plausible = match.candidates[: max(1, match.plausible)]
    return chosen[0] in names if chosen else any(each.display_name in names for each in plausible)
