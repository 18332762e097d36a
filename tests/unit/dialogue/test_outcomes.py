"""What becomes of what was begun: told by the receipt, and back to what it interrupted."""

from dataclasses import replace
from datetime import date

import pytest

from schemas.banking import Card, TransferState
from schemas.decision import Clarify, Confirm
from schemas.ids import CardId, PayeeId, ProposalId
from schemas.intent import Intent
from schemas.span import DateValue
from schemas.stepup import Challenge
from schemas.transfer import TransferReceipt
from services.dialogue import (
    ActionFailed,
    DialogueState,
    Event,
    Offering,
    Proposed,
    Proposing,
    ReadbackDelivered,
    StepUpFailed,
    StepUpStarted,
    TransferSettled,
    context_of,
    decide,
)
from services.dialogue.phases import ActionOutcome
from tests.harness.dialogue import FACTS, NOW, PROFILE, SEND, YES, dollars, heard_in, proposal, run, said

LOCKED = replace(FACTS, profile=replace(PROFILE, cards=(Card(CardId("debit"), "debit card", "0003", locked=True),)))
CODE_ASKED = StepUpStarted(Challenge("c", "p", "app", NOW, 3))
TOMORROW = date(2026, 11, 19)


@pytest.mark.parametrize(
    ("state", "told", "done"),
    [
        (TransferState.CONFIRMED, "transfer.scheduled", ActionOutcome.BOOKED),
        (TransferState.SUCCEEDED, "transfer.done", ActionOutcome.MOVED),
    ],
)
@pytest.mark.parametrize("today", [NOW.date(), TOMORROW])
def test_what_waits_and_what_went_is_told_by_its_receipt(
    state: TransferState, told: str, done: ActionOutcome, today: date
) -> None:
    """A yes a second before midnight, and its receipt after it."""
    order = said(Intent.TRANSFER_MONEY, amount=dollars(50), payee=PayeeId("ann"), date=DateValue.day(TOMORROW))
    at, [sealed] = run(order)
    assert isinstance(sealed, Confirm)
    at, _ = run(Proposed(proposal(sealed.order)), ReadbackDelivered(ProposalId("p1")), YES, state=at)
    after, _ = decide(at, TransferSettled(TransferReceipt(ProposalId("p1"), state)), replace(FACTS, today=today))
    assert after.memory.outcomes[-1].done is done
    assert after.memory.outcomes[-1].told.id == told


@pytest.mark.parametrize("coded", [False, True])
@pytest.mark.parametrize(
    "end", [StepUpFailed(final=True), ActionFailed("bank_unavailable", "error.bank_unavailable")], ids=["code", "bank"]
)
def test_an_order_behind_a_card_is_come_back_to(end: Event, *, coded: bool) -> None:
    state, [sealed] = run(SEND)
    assert isinstance(sealed, Confirm)
    unlock = said(Intent.CARD_UNLOCK, card=CardId("debit"))
    ways: list[Event] = [Proposed(proposal(sealed.order)), ReadbackDelivered(ProposalId("p1")), unlock]
    for event in (*ways, *([CODE_ASKED] if coded else []), end):
        state, decision = decide(state, heard_in(state, event), LOCKED)
    assert isinstance(state.phase, Proposing | Offering)
    assert state.task is not None
    assert isinstance(decision, Confirm | Clarify)


def test_a_code_that_failed_for_nothing_drops_nothing() -> None:
    state, _ = decide(DialogueState(), said(Intent.TRANSFER_MONEY, payee=PayeeId("ann")), FACTS)
    after, _ = decide(state, StepUpFailed(final=True), FACTS)
    assert after.task == state.task


def test_a_bill_that_was_paid_in_this_call_is_known_though_the_bank_lists_it_no_more() -> None:
    order = said(Intent.BILL_PAYMENT, bill=PROFILE.bills[0].id)
    at, [sealed] = run(order)
    assert isinstance(sealed, Confirm)
    at, _ = run(Proposed(proposal(sealed.order)), ReadbackDelivered(ProposalId("p1")), YES, state=at)
    at, _ = decide(at, TransferSettled(TransferReceipt(ProposalId("p1"), TransferState.SUCCEEDED)), FACTS)
    settled = replace(FACTS, profile=replace(PROFILE, bills=PROFILE.bills[1:]))
    for facts in (FACTS, settled):
        _, told = decide(at, order, facts)
        assert told.reply is not None
        assert told.reply.id == "bill.paid_now"
        assert PROFILE.bills[0] in context_of(at, facts).bills
