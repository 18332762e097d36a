"""What will probably be said is what is said where all goes well; and nothing comes of foreseeing it."""

from dataclasses import replace

import pytest

from schemas.banking import TransferState
from schemas.decision import Confirm, Execute, LockCard, ReadBalance, SubmitTransfer
from schemas.ids import PayeeId, ProposalId
from schemas.intent import Intent, Route
from schemas.transfer import TransferReceipt
from services.dialogue import (
    ActionDone,
    DialogueState,
    Proposed,
    ReadbackDelivered,
    TransferSettled,
    UserUtterance,
    decide,
    foreseen,
)
from tests.harness.dialogue import (
    FACTS,
    NOTHING_MADE_OF_IT,
    PROFILE,
    SEND,
    YES,
    dollars,
    heard_in,
    proposal,
    read_back,
    run,
    said,
)

OWN = said(Intent.TRANSFER_MONEY, amount=dollars(50), target=PROFILE.accounts[1].id)


@pytest.mark.parametrize("order", [SEND, OWN], ids=["to a payee", "to an own account"])
def test_the_read_back_of_an_order_that_the_bank_takes(order: UserUtterance) -> None:
    state, decision = decide(DialogueState(), order, FACTS)
    assert isinstance(decision, Confirm)
    _, [read] = run(Proposed(proposal(decision.order)), state=state)
    assert isinstance(read, Confirm)
    assert foreseen(DialogueState(), order, FACTS) == read.reply is not None


def test_what_a_yes_leads_to_and_that_nothing_is_done_for_it() -> None:
    state, _ = run(ReadbackDelivered(ProposalId("p1")), state=read_back()[0])
    yes = heard_in(state, YES)
    assert isinstance(yes, UserUtterance)
    told = foreseen(state, yes, FACTS)
    after, submit = decide(state, yes, FACTS)
    assert isinstance(submit, Execute)
    assert isinstance(submit.action, SubmitTransfer)
    settled = TransferSettled(TransferReceipt(submit.action.proposal, TransferState.SUCCEEDED))
    _, done = decide(after, settled, FACTS)
    assert told == getattr(done, "reply", None) is not None


def test_balances_as_they_were_last_known() -> None:
    asked = said(Intent.BALANCE_INQUIRY)
    state, read = decide(DialogueState(), asked, FACTS)
    assert isinstance(read, Execute)
    assert isinstance(read.action, ReadBalance)
    _, told = decide(state, ActionDone(read.action, accounts=PROFILE.accounts), FACTS)
    assert foreseen(DialogueState(), asked, FACTS) == getattr(told, "reply", None) is not None


def test_the_card_that_will_be_locked_is_told_of_and_stays_open() -> None:
    told = foreseen(DialogueState(), said(Intent.CARD_LOCK), FACTS)
    state, lock = decide(DialogueState(), said(Intent.CARD_LOCK), FACTS)
    assert isinstance(lock, Execute)
    assert isinstance(lock.action, LockCard)
    _, done = decide(state, ActionDone(lock.action, card=PROFILE.cards[0]), FACTS)
    assert told == getattr(done, "reply", None) is not None
    assert not PROFILE.cards[0].locked


def test_a_question_is_known_and_what_the_bank_alone_knows_is_not() -> None:
    nobody = said(Intent.TRANSFER_MONEY, amount=dollars(50))
    assert foreseen(DialogueState(), nobody, FACTS) == getattr(decide(DialogueState(), nobody, FACTS)[1], "reply", 0)
    assert foreseen(DialogueState(), NOTHING_MADE_OF_IT, FACTS) is not None
    assert foreseen(DialogueState(), said(Intent.RECENT_TRANSACTIONS), FACTS) is None


def test_an_order_that_goes_on_is_not_doubted() -> None:
    doubted = replace(SEND, understood=replace(SEND.understood, confidence=0.6, route=Route.CLARIFY))
    asked, read = foreseen(DialogueState(), doubted, FACTS), foreseen(DialogueState(), doubted, FACTS, whole=False)
    assert asked is not None
    assert asked.id.startswith("offer.")
    assert read == foreseen(DialogueState(), SEND, FACTS)


def test_a_payee_who_is_gone_is_asked_about() -> None:
    facts = replace(FACTS, payees={key: payee for key, payee in FACTS.payees.items() if key != PayeeId("ann")})
    asked = foreseen(DialogueState(), SEND, facts)
    assert asked is not None
    assert asked.id.startswith("problem.")
