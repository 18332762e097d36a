"""What would probably be said to an utterance, where all goes well: known before it is decided on, so made ahead."""

from dataclasses import replace

from schemas.banking import PayeeVerification, TransferState
from schemas.decision import (
    Clarify,
    Confirm,
    Decision,
    Execute,
    LockCard,
    ReadBalance,
    ReadPayees,
    Reply,
    SubmitTransfer,
)
from schemas.intent import Intent, Route
from schemas.transfer import TransferReceipt
from services.dialogue.dialogue import decide
from services.dialogue.events import ActionDone, Event, Facts, TransferSettled, UserUtterance
from services.dialogue.readback import readback
from services.dialogue.state import DialogueState


def foreseen(state: DialogueState, said: UserUtterance, facts: Facts, *, whole: bool = True) -> Reply | None:
    """The reply to `said` if the bank knows the payee, its balances are the last ones and it takes the order.

    Pure as `decide`: nothing is done. None where what will be said is not known. What is not `whole` is doubted because
    it goes on: of an order, the read-back is foreseen and not the doubt.
    """
    after, decision = decide(state, said, facts)
    if not whole and isinstance(decision, Clarify) and said.understood.intent is Intent.TRANSFER_MONEY:
        sure = replace(said.understood, route=Route.FAST, confidence=1.0)
        after, decision = decide(state, replace(said, understood=sure), facts)
    if isinstance(decision, Confirm) and decision.reply is None:
        return readback(decision.order, PayeeVerification.MATCH, facts)
    if isinstance(decision, Execute):
        outcome = _outcome(decision, facts)
        return None if outcome is None else _reply(decide(after, outcome, facts)[1])
    return decision.reply


def _outcome(decision: Execute, facts: Facts) -> Event | None:
    """What probably comes of an action that takes the bank no words of its own."""
    match decision.action:
        case ReadBalance() as action:
            return ActionDone(action, accounts=facts.profile.accounts)
        case ReadPayees() as action:
            return ActionDone(action)
        case LockCard(card) as action:
            return ActionDone(action, card=next((known for known in facts.profile.cards if known.id == card), None))
        case SubmitTransfer(proposal):
            return TransferSettled(TransferReceipt(proposal, TransferState.SUCCEEDED))
        case _:
            return None


def _reply(decision: Decision) -> Reply | None:
    return None if isinstance(decision, Execute) else decision.reply
