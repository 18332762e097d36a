"""What came of a decision: a seal, a result, a failure, a second factor, a settled transfer."""

from dataclasses import replace
from typing import Final

from schemas.banking import TransferOrder, TransferState
from schemas.decision import (
    Answer,
    Clarify,
    Confirm,
    Execute,
    LockCard,
    ReadBalance,
    ReadPayees,
    ReadTransactions,
    Reply,
    ReplyParam,
    Sift,
    UnlockCard,
)
from schemas.errors import TellerlineError
from schemas.ids import AccountId, ProposalId
from schemas.intent import Intent, SlotName, Topic
from schemas.transfer import UNPROMISED, Proposal, TransferReceipt
from services.dialogue.advance import advance, looked
from services.dialogue.aftermath import done_with, noted
from services.dialogue.asked import looked_wider, sifted
from services.dialogue.errands import result
from services.dialogue.events import (
    ActionDone,
    ActionFailed,
    Facts,
    ProposalResumed,
    Proposed,
    StepUpFailed,
    StepUpStarted,
    TransferSettled,
)
from services.dialogue.names import bill, both, reply
from services.dialogue.phases import (
    ActionOutcome,
    Asking,
    Confirming,
    Idle,
    Proposing,
    ReadBack,
    Reading,
    SteppingUp,
    Submitting,
    Task,
    Unlocking,
    Waiting,
)
from services.dialogue.prompts import missed
from services.dialogue.questions import ask
from services.dialogue.readback import doubted, readback, settled
from services.dialogue.resume import come_back, go_on, offer_person
from services.dialogue.rules import dialogue_rules
from services.dialogue.state import DialogueState, Memory, Step
from services.dialogue.tasks import task_for, without

ASIDE: Final = (ReadBalance, ReadTransactions, ReadPayees, LockCard)
"""Actions beside a code that is awaited: what becomes of them is nothing to what waits for it."""
CHANNELS: Final = frozenset({"app", "text_message"})
"""Ways of a one-time code that have a name in every language; any other is said as the bank set it."""


def proposed(state: DialogueState, event: Proposed, facts: Facts) -> Step:
    """The order is sealed: read it back. A seal for another order than the one decided on is left unread."""
    sealed = event.proposal
    match state.phase:
        case Proposing(task, order) if order == sealed.order:
            it = _read_back(task, sealed, facts)
            return state.at(Reading(it)), Confirm(order, sealed.id, it.said)
        case _:
            return state, Clarify(reply("confirm.start_again"))


def delivered(state: DialogueState, proposal: ProposalId) -> Step:
    """From now on a yes to `proposal` counts. Nothing is said."""
    match state.phase:
        case Reading(it) if it.proposal == proposal:
            return state.at(Confirming(it)), Answer()
        case _:
            return state, Answer()


def undelivered(state: DialogueState, proposal: ProposalId) -> Step:
    """A yes to `proposal` counts no more until it is read back again. Nothing is said."""
    match state.phase:
        case Confirming(it) if it.proposal == proposal:
            return state.at(Reading(it)), Answer()
        case _:
            return state, Answer()


def resumed(state: DialogueState, event: ProposalResumed, facts: Facts) -> Step:
    """Read back what another call left open, as if it had been asked for in this one."""
    if not isinstance(state.phase, Idle):
        return state, Clarify(reply("confirm.start_again"))
    it = _read_back(task_for(event.proposal.order), event.proposal, facts)
    return state.at(Reading(it)), Confirm(it.order, it.proposal, both(reply("resume.pending"), it.said))


def _read_back(task: Task, sealed: Proposal, facts: Facts) -> ReadBack:
    order, verification = sealed.order, sealed.verification
    return ReadBack(task, order, sealed.id, readback(order, verification, facts), doubted(order, verification))


def action_done(state: DialogueState, event: ActionDone, facts: Facts) -> Step:
    """Say what was read or done, then come back to what was pending."""
    if isinstance(state.phase, Waiting) and (step := looked(state.memory, state.phase.task, event, facts)) is not None:
        return step
    sift = event.action.sift if isinstance(event.action, ReadTransactions) else None
    if sift is not None and sift.sought and (step := _disputed(state, event, sift, facts)) is not None:
        return step
    if sift is not None and sift.sought and not sifted(event.transactions, sift, facts):
        return _sought_in_vain(state, facts)
    if isinstance(event.action, ReadTransactions):
        wider = looked_wider(event.action, event.transactions, facts)
        if wider is not None:
            return state, Execute(wider)
    said = result(event, facts)
    match event.action:
        case ReadBalance():
            state = state.keeping(replace(state.memory, told=_told(state.memory, event.action, facts)))
        case LockCard():
            state = state.keeping(noted(_of_card(state.memory, event), ActionOutcome.LOCKED, said))
        case UnlockCard():
            state = _unlocked(state).keeping(noted(state.memory, ActionOutcome.UNLOCKED, said))
    return go_on(state, said, facts)


def _disputed(state: DialogueState, event: ActionDone, sift: Sift, facts: Facts) -> Step | None:
    """What a payment was that the caller does not know, and a person for it; None where none was asked about so."""
    recent = state.memory.recent
    if recent is None or recent.asked != Topic.TROUBLE:
        return None
    memory, known = replace(state.memory, recent=replace(recent, asked="")), sifted(event.transactions, sift, facts)
    if not known:
        return offer_person(memory, Idle(), "offer.person_sorry")
    return offer_person(memory.first(result(event, facts)), Idle(), "offer.person")


def _sought_in_vain(state: DialogueState, facts: Facts) -> Step:
    """No history tells it: the documents may, where it was a question; else it was not understood."""
    recent = state.memory.recent
    question = recent.sought if recent is not None else None
    left = replace(recent, sought=None, merchant="", amounts=()) if recent is not None else None
    state = state.keeping(replace(state.memory, recent=left))
    if not question:
        return missed(state, facts)
    state, pending = come_back(state.keeping(replace(state.memory.missed(0), topic=question)), facts)
    return state, Answer(question, "", pending)


def _of_card(memory: Memory, event: ActionDone) -> Memory:
    """With the card that was locked as what the last command was about, whoever chose it."""
    card = event.card.id if event.card is not None else None
    return replace(memory, recent=Task(Intent.CARD_LOCK, card=card))


def _told(memory: Memory, read: ReadBalance, facts: Facts) -> tuple[AccountId, ...]:
    """The accounts whose balances have been told, in that order: of one after another, or all at once."""
    if read.account is not None:
        return (*(each for each in memory.told if each != read.account), read.account)
    return read.among or tuple(each.id for each in facts.profile.accounts)


def _unlocked(state: DialogueState) -> DialogueState:
    """Back to what the unlocking of a card interrupted."""
    match state.phase:
        case Unlocking(behind=behind) | SteppingUp(Unlocking(behind=behind)):
            return state.at(behind)
        case _:
            return state


def action_failed(state: DialogueState, event: ActionFailed, facts: Facts) -> Step:
    """Say what failed, as a plain sentence; ask anew where another answer may mend it."""
    said, memory = reply(event.spoken), state.memory
    match state.phase:
        case SteppingUp() if isinstance(event.action, ASIDE):
            return go_on(state, said, facts)
        case Proposing(task) | Reading(ReadBack(task)) | Confirming(ReadBack(task)) | Submitting(ReadBack(task)):
            return _order_failed(memory, task, event.code, said, facts)
        case SteppingUp(Submitting(it)):
            return _order_failed(memory, it.task, event.code, said, facts)
        case Unlocking() | SteppingUp(Unlocking()):
            state, pending = come_back(_unlocked(state), facts)
            if pending is not None:
                return state, Clarify(both(said, pending))
    return go_on(state, said, facts) if state.task is None else (state, Answer(reply=said))


def _order_failed(memory: Memory, task: Task, code: str, said: Reply, facts: Facts) -> Step:
    """Ask for another amount or read back anew, where that may mend it."""
    rules, memory = dialogue_rules(), replace(memory, ordered=None)
    if code in rules.reask_amount:
        question = Asking(without(task, SlotName.AMOUNT), SlotName.AMOUNT)
        return ask(memory, question, both(said, reply("ask.amount")))
    if code in rules.read_again:
        return advance(memory.first(said), task, facts)
    return go_on(DialogueState(memory=memory), said, facts)


def step_up_started(state: DialogueState, event: StepUpStarted) -> Step:
    """Ask for the second factor, where something waits for it."""
    channel = event.challenge.channel
    way: ReplyParam = reply(f"channel.{channel}") if channel in CHANNELS else channel
    match state.phase:
        case Submitting() | Unlocking() as then:
            return state.at(SteppingUp(then)), Clarify(reply("step_up.ask", channel=way))
        case SteppingUp():
            return state, Clarify(reply("step_up.ask", channel=way))
        case _:  # what asked for it has been given up since
            return state, Answer(reply=reply("step_up.failed"))


def step_up_passed(state: DialogueState, facts: Facts) -> Step:
    """Do what waited for it."""
    match state.phase:
        case SteppingUp(then):
            return state.at(then), Execute(then.action)
        case _:
            return go_on(state, reply("say.ok"), facts)


def step_up_failed(state: DialogueState, event: StepUpFailed, facts: Facts) -> Step:
    """Ask again, or give up."""
    if not event.final:
        return state, Clarify(reply("step_up.wrong"))
    match state.phase:
        case SteppingUp(Submitting()):
            state = DialogueState(memory=state.memory)
        case _:
            state = _unlocked(state)
    return go_on(state, reply("step_up.failed"), facts)


def transfer_settled(state: DialogueState, event: TransferSettled, facts: Facts) -> Step:
    """Say where the transfer stands."""
    it = state.read_back
    order = it.order if it is not None and it.proposal == event.receipt.proposal else None
    said = _stands(event.receipt, order, facts)
    done = done_with(event.receipt.state)
    memory = noted(state.memory, done, said)
    if order is not None:
        memory = replace(memory, ordered=None if done is ActionOutcome.NOTHING else task_for(order))
        due = bill(facts, order.bill_id) if done is not ActionOutcome.NOTHING else None
        if due is not None and order.amount == due.due:
            memory = replace(memory, paid=(*memory.paid, due))
    return go_on(state.keeping(memory) if order is None else DialogueState(memory=memory), said, facts)


def _stands(  # noqa: PLR0911 - one return a state
    receipt: TransferReceipt, order: TransferOrder | None, facts: Facts
) -> Reply:
    """Where a transfer stands. UNKNOWN is never called a failure."""
    match receipt.state:
        case TransferState.SUCCEEDED:
            return reply("transfer.settled") if order is None else settled(order, facts, booked=False)
        case TransferState.CONFIRMED if order is not None:
            return settled(order, facts, booked=True)
        case TransferState.UNKNOWN if receipt.reason == UNPROMISED:
            return reply("transfer.unsure")
        case TransferState.UNKNOWN | TransferState.SUBMITTING | TransferState.CONFIRMED:
            return reply("transfer.unknown")
        case TransferState.EXPIRED:
            return reply("error.confirmation_expired")
        case TransferState.CANCELLED:
            return reply("cancel.done")
        case _:
            spoken = spoken_of(receipt.reason)
            because = None if spoken is None else reply("transfer.failed_because", reason=reply(spoken))
            return because or reply("transfer.failed")


def spoken_of(code: str) -> str | None:
    """The reply id of an error's code, looked for in the one tree; None for a code that is not there."""
    rest: list[type[TellerlineError]] = [TellerlineError]
    while rest:
        error = rest.pop()
        if error.code == code and "code" in error.__dict__:
            return error.spoken
        rest.extend(error.__subclasses__())
    return None
