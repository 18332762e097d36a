"""A caller of the reducer: what they have, what they say, and a call of theirs."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

from schemas.banking import Account, Bill, Card, CustomerProfile, Limits, PayeeVerification, TransferOrder
from schemas.consent import Consent
from schemas.decision import Confirm, Decision
from schemas.ids import EN_US, AccountId, BillId, CallId, CardId, CustomerId, PayeeId, ProposalId, RuleId
from schemas.intent import Evidence, Intent, Route, Slot, Slots, Understood
from schemas.money import Money
from schemas.payee import Payee
from schemas.span import MoneyValue
from schemas.transfer import Proposal
from services.dialogue import DialogueState, Event, Facts, Proposed, UserUtterance, decide
from services.dialogue.terms import terms_of

NOW = datetime(2026, 11, 18, 15, tzinfo=UTC)
RICH = Money(100_000, "USD")
PROFILE = CustomerProfile(
    "Alex",
    (
        Account(AccountId("checking"), "checking", "0001", RICH, RICH),
        Account(AccountId("savings"), "savings", "0002", RICH, RICH),
    ),
    (Card(CardId("debit"), "debit card", "0003", locked=False),),
    (Bill(BillId("power"), "electricity", PayeeId("grid"), Money(5000, "USD"), date(2026, 12, 1)),),
    (Limits("USD", 80_000, 100_000, 50_000),),
    NOW,
)
PAYEES = {PayeeId(i): Payee(PayeeId(i), n, version=3) for i, n in (("ann", "Ann"), ("bob", "Bob"), ("grid", "Grid"))}
FACTS = Facts(PROFILE, PAYEES, NOW.date(), EN_US)
WORDS = Evidence(0, 1, "x", RuleId("test@1"))


def said(intent: Intent, confidence: float = 0.99, **slots: object) -> UserUtterance:
    filled = Slots(**{name: Slot(value, WORDS) for name, value in slots.items()})  # type: ignore[arg-type]
    return UserUtterance("words", Understood(intent, filled, route=Route.FAST, confidence=confidence))


def dollars(amount: int) -> MoneyValue:
    return MoneyValue(amount * 100, "USD")


SEND = said(Intent.TRANSFER_MONEY, amount=dollars(50), payee=PayeeId("ann"))
YES = said(Intent.CONFIRM)
NOTHING_MADE_OF_IT = UserUtterance("?", Understood(None, route=Route.CLARIFY))
RULE = RuleId("consent.test.yes@1")


def heard_in(state: DialogueState, event: Event) -> Event:
    """The event as it is understood where `state` waits: a yes agrees to what waits, and to nothing else."""
    if not isinstance(event, UserUtterance) or event.understood.intent is not Intent.CONFIRM:
        return event
    consent = Consent(terms_of(state, FACTS).to, RULE)
    return replace(event, understood=replace(event.understood, consent=consent))


def proposal(order: TransferOrder, number: int = 1) -> Proposal:
    return Proposal(
        ProposalId(f"p{number}"),
        CustomerId("c"),
        CallId("k"),
        order,
        "n",
        "s",
        NOW + timedelta(minutes=2),
        PayeeVerification.MATCH,
        step_up_required=False,
    )


def run(*events: Event, state: DialogueState | None = None) -> tuple[DialogueState, list[Decision]]:
    state, made = state or DialogueState(), []
    for event in events:
        state, decision = decide(state, heard_in(state, event), FACTS)
        made.append(decision)
    return state, made


def read_back() -> tuple[DialogueState, TransferOrder]:
    state, [decision] = run(SEND)
    assert isinstance(decision, Confirm)
    state, _ = run(Proposed(proposal(decision.order)), state=state)
    return state, decision.order
