"""Every phase of the dialogue meets every event: what follows, as a table and a drawing.

`python -m deploy.dialogue.states` writes deploy/dialogue/states.md; a test asks that it is current.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from types import MappingProxyType
from typing import Final

from schemas.banking import (
    Account,
    Bill,
    Card,
    CustomerProfile,
    Limits,
    PayeeVerification,
    TransferOrder,
    TransferState,
)
from schemas.consent import Consent
from schemas.decision import Decision, LockCard, ReadBalance, Reply, UnlockCard
from schemas.errors import BankUnavailable, ConfirmationExpired, LimitExceeded
from schemas.extraction import Extraction, Fallback
from schemas.ids import EN_US, AccountId, BillId, CallId, CardId, CustomerId, PayeeId, ProposalId, RuleId
from schemas.intent import Evidence, Intent, Route, Slot, SlotName, Slots, Understood
from schemas.money import Money
from schemas.payee import Payee
from schemas.span import MoneyValue
from schemas.stepup import Challenge
from schemas.transfer import Proposal, TransferReceipt
from services.dialogue import (
    ActionDone,
    ActionFailed,
    Asking,
    Changing,
    Confirming,
    DialogueState,
    Event,
    Facts,
    Idle,
    Memory,
    Offering,
    OfferingPerson,
    OutcomesHeard,
    Phase,
    ProposalResumed,
    Proposed,
    Proposing,
    QuestionUnanswered,
    ReadBack,
    ReadbackDelivered,
    ReadbackUnheard,
    Reading,
    Silence,
    SteppingUp,
    StepUpFailed,
    StepUpPassed,
    StepUpStarted,
    Submitting,
    Task,
    TransferSettled,
    Unlocking,
    UserUtterance,
    Waiting,
    decide,
)
from services.dialogue.terms import terms_of

DRAWING: Final = Path(__file__).with_name("states.md")
NOW: Final = datetime(2026, 11, 18, 15, tzinfo=UTC)
_RICH: Final = Money(100_000, "USD")
ANN, BOB, DEBIT, OLD = PayeeId("ann"), PayeeId("bob"), CardId("debit"), CardId("old")
FACTS: Final = Facts(
    CustomerProfile(
        "Alex",
        (
            Account(AccountId("checking"), "checking", "0001", _RICH, _RICH),
            Account(AccountId("savings"), "savings", "0002", _RICH, _RICH),
        ),
        (Card(DEBIT, "debit card", "0003", locked=False), Card(OLD, "old card", "0004", locked=True)),
        (Bill(BillId("power"), "electricity", BOB, Money(5000, "USD"), date(2026, 12, 1)),),
        (Limits("USD", 80_000, 100_000, 50_000),),
        NOW,
    ),
    MappingProxyType({id_: Payee(id_, id_.title(), version=3) for id_ in (ANN, BOB)}),
    NOW.date(),
    EN_US,
)
SEND: Final = Task(Intent.TRANSFER_MONEY, (MoneyValue(5_000, "USD"),), ANN)
ORDER: Final = TransferOrder(AccountId("checking"), ANN, 3, Money(5_000, "USD"))
P1, P2 = ProposalId("p1"), ProposalId("p2")
CONSENT: Final = Consent(P1, RuleId("yes@1"))
READ: Final = ReadBack(SEND, ORDER, P1, Reply(RuleId("confirm.yes_or_no")))
LOCK: Final = Offering(Task(Intent.CARD_LOCK), Reply(RuleId("offer.card_lock")))
WHOM: Final = Asking(replace(SEND, payee=None, payee_candidates=(ANN,)), SlotName.PAYEE, (ANN,))

PHASES: Final[Mapping[str, Phase]] = MappingProxyType(
    {
        "Idle": Idle(),
        "Asking": WHOM,
        "Waiting": Waiting(SEND),
        "Changing": Changing(SEND),
        "Proposing": Proposing(SEND, ORDER),
        "Reading": Reading(READ),
        "Confirming": Confirming(READ),
        "Submitting": Submitting(READ, CONSENT),
        "SteppingUp, then Submitting": SteppingUp(Submitting(READ, CONSENT)),
        "Unlocking": Unlocking(OLD),
        "Unlocking before Waiting": Unlocking(OLD, Waiting(SEND)),
        "SteppingUp, then Unlocking": SteppingUp(Unlocking(OLD)),
        "Offering a card's lock": LOCK,
        "Offering to go on": Offering(SEND, Reply(RuleId("offer.resume"))),
        "OfferingPerson": OfferingPerson(),
        "OfferingPerson before Asking": OfferingPerson(WHOM),
        "OfferingPerson before Offering": OfferingPerson(LOCK),
    }
)


def _said(intent: Intent | None, *, route: Route = Route.FAST, sure: float = 0.99, **slots: object) -> UserUtterance:
    words = Evidence(0, 1, "x", RuleId("said@1"))
    filled = Slots(**{name: Slot(value, words) for name, value in slots.items()})  # type: ignore[arg-type]
    return UserUtterance("words", Understood(intent, filled, route=route, confidence=sure))


def _yes(state: DialogueState, sure: float = 0.99) -> UserUtterance:
    """A yes of which the grammar proved every word to agree to what waits."""
    said = _said(Intent.CONFIRM, sure=sure)
    consent = Consent(terms_of(state, FACTS).to, CONSENT.rule)
    return replace(said, understood=replace(said.understood, consent=consent))


def _chosen(intent: Intent) -> UserUtterance:
    chosen = Extraction(intent, MoneyValue(6_000, "USD"), None, False, Fallback.OK, "model", "1", 1.0)
    return replace(_said(None, route=Route.EXTRACT), extraction=chosen)


def _sealed(order: TransferOrder, proposal: ProposalId) -> Proposal:
    expires, verified = NOW + timedelta(minutes=2), PayeeVerification.MATCH
    return Proposal(proposal, CustomerId("c"), CallId("k"), order, "n", "s", expires, verified, step_up_required=False)


def _failed(error: type[BankUnavailable | ConfirmationExpired | LimitExceeded]) -> ActionFailed:
    return ActionFailed(error.code, error.spoken)


ANSWERS: Final[Mapping[str, Callable[[DialogueState], Event]]] = MappingProxyType(
    {
        "yes": _yes,
        "perhaps yes": lambda state: _yes(state, 0.5),
        "unproved yes": lambda _: _said(Intent.CONFIRM),
        "no": lambda _: _said(Intent.DENY),
        "cancel": lambda _: _said(Intent.CANCEL),
        "amount": lambda _: _said(Intent.INFORM, amount=MoneyValue(6_000, "USD")),
        "first choice": lambda _: _said(Intent.INFORM, choice=1),
        "code": lambda _: _said(Intent.INFORM, digits="123456"),
        "not understood": lambda _: _said(None, route=Route.CLARIFY),
        "model's amount": lambda _: _chosen(Intent.INFORM),
        "model's cancel": lambda _: _chosen(Intent.CANCEL),
        "silence": lambda _: Silence(),
    }
)
WISHES: Final[Mapping[str, Callable[[DialogueState], Event]]] = MappingProxyType(
    {
        "transfer": lambda _: _said(Intent.TRANSFER_MONEY, amount=MoneyValue(2_000, "USD"), payee=BOB),
        "perhaps a transfer": lambda _: _said(Intent.TRANSFER_MONEY, route=Route.CLARIFY),
        "balance": lambda _: _said(Intent.BALANCE_INQUIRY),
        "lock card": lambda _: _said(Intent.CARD_LOCK),
        "unlock card": lambda _: _said(Intent.CARD_UNLOCK),
        "open question": lambda _: _said(Intent.QNA, route=Route.QNA),
        "help": lambda _: _said(Intent.HELP),
        "say again": lambda _: _said(Intent.REPEAT),
        "one moment": lambda _: _said(Intent.WAIT),
        "goodbye": lambda _: _said(Intent.FAREWELL),
        "start over": lambda _: _said(Intent.START_OVER),
        "a person": lambda _: _said(Intent.HUMAN_HANDOFF),
    }
)
WORLD: Final[Mapping[str, Callable[[DialogueState], Event]]] = MappingProxyType(
    {
        "sealed": lambda _: Proposed(_sealed(ORDER, P1)),
        "sealed otherwise": lambda _: Proposed(_sealed(replace(ORDER, payee_id=BOB), P1)),
        "call resumed": lambda _: ProposalResumed(_sealed(ORDER, P2)),
        "read-back heard": lambda _: ReadbackDelivered(P1),
        "other read-back heard": lambda _: ReadbackDelivered(P2),
        "read-back not heard after all": lambda _: ReadbackUnheard(P1),
        "outcomes heard": lambda state: OutcomesHeard(state.memory.outcomes),
        "balance read": lambda _: ActionDone(ReadBalance(), FACTS.profile.accounts),
        "card locked": lambda _: ActionDone(LockCard(DEBIT)),
        "card unlocked": lambda _: ActionDone(UnlockCard(OLD)),
        "failed": lambda _: _failed(BankUnavailable),
        "over the limit": lambda _: _failed(LimitExceeded),
        "confirmation expired": lambda _: _failed(ConfirmationExpired),
        "code asked for": lambda _: StepUpStarted(Challenge("1", P1, "app", NOW)),
        "right code": lambda _: StepUpPassed(),
        "wrong code": lambda _: StepUpFailed(),
        "no code left": lambda _: StepUpFailed(final=True),
        "settled": lambda _: TransferSettled(TransferReceipt(P1, TransferState.SUCCEEDED)),
        "not settled yet": lambda _: TransferSettled(TransferReceipt(P1, TransferState.UNKNOWN)),
        "no document answers": lambda _: QuestionUnanswered("answer.not_found"),
        "another settled": lambda _: TransferSettled(TransferReceipt(P2, TransferState.SUCCEEDED)),
    }
)
EVENTS: Final = MappingProxyType({**ANSWERS, **WISHES, **WORLD})


@dataclass(frozen=True, slots=True)
class Met:
    """A phase met an event."""

    phase: str
    event: str
    before: DialogueState
    happened: Event
    after: DialogueState
    decision: Decision

    @property
    def leads_to(self) -> str:
        """The class of the phase that follows."""
        return type(self.after.phase).__name__


def visits(memory: Memory | None = None) -> Iterator[Met]:
    """Every phase meets every event."""
    for phase, at in PHASES.items():
        for name, event in EVENTS.items():
            before = DialogueState(at, memory or Memory())
            happened = event(before)
            yield Met(phase, name, before, happened, *decide(before, happened, FACTS))


def drawing() -> str:
    """The document: how answers and the world lead from phase to phase, and for every phase what every event does."""
    edges: dict[tuple[str, str], dict[str, None]] = defaultdict(dict)
    rows: dict[str, dict[tuple[str, str], list[str]]] = defaultdict(lambda: defaultdict(list))
    for met in visits():
        at = type(met.before.phase).__name__
        rows[met.phase][met.leads_to, met.decision.kind.value].append(met.event)
        if met.event not in WISHES and at != met.leads_to:
            edges[at, met.leads_to][met.event] = None
    lines = [_HEAD, "```mermaid", "stateDiagram-v2", "    [*] --> Idle"]
    lines += [f"    {at} --> {to}: {', '.join(events)}" for (at, to), events in edges.items()]
    lines += ["```", ""]
    for phase, outcomes in rows.items():
        lines += [f"## {phase}", "", (type(PHASES[phase]).__doc__ or "").strip(), "", *_TABLE]
        lines += [f"| {to} | {kind} | {', '.join(events)} |" for (to, kind), events in outcomes.items()] + [""]
    return "\n".join(lines)


_HEAD: Final = """# The phases of a dialogue

Written by `python -m deploy.dialogue.states`: every phase of services/dialogue/phases.py meets every kind of event, and
what follows is what the code does. The drawing leaves out what leads back to the same phase, and new wishes: a command
leads wherever its task stands, whatever waited before.
"""
_TABLE: Final = ("| leads to | decision | on |", "| --- | --- | --- |")

if __name__ == "__main__":
    DRAWING.write_text(drawing(), encoding="utf-8")
