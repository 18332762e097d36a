"""Random sequences of everything a call can meet, in any order, late, twice and for the wrong proposal.

Whatever happened before, money is handed over only for the proposal that is read back now, was heard in full since it
last changed, and was then agreed to in plain words. No sequence ends in an error, an unsayable reply or a heap.
"""

import random  # noqa: TID251 - seeded where it is used
from dataclasses import dataclass, field

import pytest

from schemas.banking import TransferOrder, TransferState
from schemas.decision import (
    Answer,
    Clarify,
    Confirm,
    Decision,
    Execute,
    Handoff,
    Refuse,
    Reply,
    SubmitTransfer,
    UnlockCard,
)
from schemas.errors import (
    BankUnavailable,
    ConfirmationExpired,
    ConfirmationUsed,
    InsufficientFunds,
    LimitExceeded,
    MoneyRefused,
    MoneyWaits,
    NotCarriedOut,
    NotDelivered,
    PayeeChanged,
    StoreRefused,
    StoreUnavailable,
)
from schemas.extraction import Extraction, Fallback
from schemas.ids import EN_US, JA_JP, AccountId, BillId, PayeeId, ProposalId
from schemas.intent import Intent, Route, Understood
from schemas.money import Money
from schemas.stepup import Challenge
from schemas.transfer import UNPROMISED, TransferReceipt
from services.dialogue import (
    ActionFailed,
    Confirming,
    DialogueState,
    Event,
    ProposalResumed,
    Proposed,
    ReadbackDelivered,
    ReadbackUnheard,
    Reading,
    Silence,
    StepUpFailed,
    StepUpPassed,
    StepUpStarted,
    TransferSettled,
    UserUtterance,
    decide,
    voided,
)
from services.response import speak
from tests.harness.dialogue import FACTS, NOW, PAYEES, SEND, YES, dollars, heard_in, proposal, said

SEED = 20261121
ASKS_AGAIN = {"error.try_again", "error.internal", "error.not_now", "error.not_carried_out", "error.money_waits"}
FAST, SLOW, LONGEST = 2_000, 100_000, 24
MOST_WAITING = 16
FAILURES = tuple(
    ActionFailed(error.code, error.spoken)
    for error in (
        BankUnavailable, LimitExceeded, PayeeChanged, ConfirmationUsed, ConfirmationExpired, InsufficientFunds,
        NotDelivered, MoneyRefused, NotCarriedOut, MoneyWaits, StoreRefused, StoreUnavailable,
    )
)  # fmt: skip
MAY_HAVE_MOVED = {
    TransferState.SUCCEEDED, TransferState.CONFIRMED, TransferState.UNKNOWN, TransferState.SUBMITTING,
}  # fmt: skip
REASONS = ("no_answer", "store_unavailable", UNPROMISED, "not_carried_out", "")


@dataclass
class Line:
    """One call as an outsider sees it: what was proposed, heard and agreed to."""

    rng: random.Random
    state: DialogueState = field(default_factory=DialogueState)
    orders: dict[ProposalId, TransferOrder] = field(default_factory=dict)
    heard: ProposalId | None = None
    agreed: ProposalId | None = None
    submitted: list[ProposalId] = field(default_factory=list)

    def step(self, said_: Event) -> Decision:
        before = self.state
        event = heard_in(before, said_)
        self.state, decision = decide(before, event, FACTS)
        if (
            isinstance(event, ReadbackDelivered)
            and isinstance(before.phase, Reading)
            and event.proposal == before.proposal
        ):
            self.heard = before.proposal
        if said_ == YES and isinstance(before.phase, Confirming):
            self.agreed = before.proposal
        if isinstance(decision, Execute) and isinstance(decision.action, SubmitTransfer):
            self._handed_over(decision.action.proposal, said_, before)
        again = isinstance(decision, Confirm) or isinstance(self.state.phase, Reading)
        if again or voided(before, self.state) or self.state.proposal is None:
            self.heard = self.agreed = None
        self._sound(decision, event)
        if isinstance(decision, Confirm) and decision.proposal is None:
            return self._sealed(decision.order)
        if isinstance(decision, Execute) and isinstance(decision.action, SubmitTransfer | UnlockCard):
            return self._asked_for_more(decision)
        return decision

    def _asked_for_more(self, decision: Decision) -> Decision:
        """The ledger and the card desk may want a second factor first; nothing was handed over then."""
        if self.rng.random() < 0.5:
            return decision
        return self.step(StepUpStarted(Challenge("1", "p", "app", NOW)))

    def _handed_over(self, wanted: ProposalId, event: Event, before: DialogueState) -> None:
        assert wanted == before.proposal, "another proposal than the one read back"
        assert wanted == self.heard, "a yes before the read-back was heard"
        assert wanted == self.agreed, "no yes in plain words"
        assert event == YES or isinstance(event, StepUpPassed), f"handed over on {event}"
        self.submitted.append(wanted)

    def _sealed(self, order: TransferOrder) -> Decision:
        """The ledger answers at once, and seldom refuses."""
        if self.rng.random() < 0.1:
            return self.step(self.rng.choice(FAILURES))
        made = proposal(order, len(self.orders) + 1)
        self.orders[made.id] = order
        return self.step(Proposed(made))

    def _sound(self, decision: Decision, event: Event) -> None:
        settled = isinstance(event, TransferSettled) and event.receipt.state in MAY_HAVE_MOVED
        if settled and not isinstance(decision, Execute) and decision.reply is not None:
            assert not ASKS_AGAIN & ids(decision.reply), "after a yes was spent nothing asks to try again"
        assert len(self.state.memory.queue) <= MOST_WAITING
        assert len(self.state.memory.preface) <= MOST_WAITING
        spoken = isinstance(decision, Answer | Clarify | Confirm | Handoff | Refuse) and self.rng.random() < 0.05
        if spoken and decision.reply is not None:
            assert all("{" not in speak(decision.reply, locale) for locale in (EN_US, JA_JP))

    def any_event(self) -> Event:
        """Anything: half of the time what usually comes next, else what should not come now, or not for this."""
        rng, some = self.rng, ProposalId(f"p{self.rng.randint(1, len(self.orders) + 2)}")
        which = self.state.proposal if self.state.proposal is not None and rng.random() < 0.7 else some
        return rng.choice(
            [
                lambda: SEND,
                lambda: YES,
                lambda: YES,
                lambda: said(Intent.CONFIRM, 0.5),
                lambda: said(rng.choice(list(Intent)), rng.choice([0.4, 0.99])),
                lambda: said(rng.choice([Intent.CORRECT, Intent.INFORM]), amount=dollars(rng.randint(-5, 1_200))),
                lambda: said(rng.choice([Intent.CORRECT, Intent.INFORM]), payee=rng.choice(list(PAYEES))),
                lambda: said(Intent.INFORM, choice=rng.randint(-1, 5)),
                lambda: said(Intent.INFORM, digits="123456"),
                lambda: said(Intent.BILL_PAYMENT, bill=BillId("power")),
                lambda: said(Intent.TRANSFER_MONEY, target=AccountId("savings"), amount=dollars(20)),
                lambda: UserUtterance("?", Understood(None, route=Route.CLARIFY)),
                lambda: UserUtterance("?", Understood(None, route=Route.EXTRACT), self._extraction()),
                Silence,
                lambda: ReadbackDelivered(which),
                lambda: ReadbackDelivered(which),
                lambda: ReadbackUnheard(which),
                lambda: Proposed(proposal(self.orders.get(some, _ORDER), 99)),
                lambda: ProposalResumed(proposal(_ORDER, 77)),
                lambda: rng.choice(FAILURES),
                StepUpPassed,
                lambda: StepUpFailed(final=rng.random() < 0.5),
                lambda: TransferSettled(
                    TransferReceipt(which, rng.choice(list(TransferState)), reason=rng.choice(REASONS))
                ),
            ]
        )()

    def _extraction(self) -> Extraction:
        intent, fallback = self.rng.choice(list(Intent)), self.rng.choice(list(Fallback))
        payee = self.rng.choice([None, *PAYEES])
        return Extraction(intent, dollars(self.rng.randint(1, 99)), payee, False, fallback, "model", "1", 1.0)


def ids(reply: Reply) -> set[str]:
    """The templates that a reply is made of."""
    inner = [param for param in reply.params.values() if isinstance(param, Reply)]
    return {str(reply.id)}.union(*map(ids, inner))


_ORDER = TransferOrder(AccountId("checking"), PayeeId("ann"), 3, Money(5_000, "USD"))


def play(count: int, seed: int) -> int:
    """Play so many calls; how many transfers were handed over."""
    submitted = 0
    for number in range(count):
        line = Line(random.Random(f"{seed}-{number}"))
        for _ in range(line.rng.randint(1, LONGEST)):
            event = line.any_event()
            try:
                line.step(event)
            except Exception as error:
                raise AssertionError(f"sequence {seed}-{number}, at {type(event).__name__}: {error}") from error
        submitted += len(line.submitted)
    return submitted


@pytest.mark.timeout(300)
def test_no_sequence_of_events_moves_money_unheard_or_unagreed() -> None:
    assert play(FAST, SEED) > FAST // 100, "hardly any story gets as far as a transfer"


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_no_sequence_of_very_many_does() -> None:
    assert play(SLOW, SEED + 1) > SLOW // 100
