"""What came of a decision: results, failures, step-up, settled transfers."""

from dataclasses import replace
from typing import Final

from schemas.banking import Transaction, TransferState
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
    SubmitTransfer,
    UnlockCard,
    VerifyStepUp,
)
from schemas.errors import TellerlineError
from schemas.intent import SlotName
from services.decide.asking import Step, advance, ask
from services.decide.events import (
    ActionDone,
    ActionFailed,
    Facts,
    Proposed,
    Resumed,
    StepUpFailed,
    StepUpStarted,
    TransferSettled,
)
from services.decide.names import account_name, card_name, payee_told_apart, reply
from services.decide.readback import readback, settled
from services.decide.rules import dialogue_rules
from services.decide.state import DialogueState, Phase
from services.decide.tasks import task_for

CHANNELS: Final = frozenset({"app", "text_message"})
"""Ways of a one-time code that have a name in every language; any other is said as the bank set it."""


def proposed(state: DialogueState, event: Proposed, facts: Facts) -> Step:
    """The order is sealed: read it back. A seal for another order than the one decided on is left unread."""
    if state.phase is not Phase.PROPOSING or state.order != event.proposal.order:
        return state, Clarify(reply("confirm.start_again"))
    said = readback(event.proposal.order, event.proposal.verification, facts)
    state = replace(state, phase=Phase.READING, proposal=event.proposal.id, readback=said)
    return state, Confirm(event.proposal.order, event.proposal.id, said)


def resumed(state: DialogueState, event: Resumed, facts: Facts) -> Step:
    """Read back what a dropped call left open, as if it had been asked for in this one."""
    order, proposal = event.proposal.order, event.proposal.id
    said = readback(order, event.proposal.verification, facts)
    state = replace(state, phase=Phase.READING, task=task_for(order), order=order, proposal=proposal, readback=said)
    return state, Confirm(order, proposal, reply("say.both", first=reply("resume.pending"), second=said))


def action_done(state: DialogueState, event: ActionDone, facts: Facts) -> Step:
    """Say what was read or done, then come back to what was pending."""
    match event.action:
        case ReadBalance():
            said = _balances(event, facts)
        case ReadTransactions():
            said = _transactions(event, facts)
        case LockCard():
            said = reply("card.locked") if event.card is None else reply("card.locked_it", card=card_name(event.card))
        case UnlockCard():
            state = replace(state, unlocking=None, phase=_without_step_up(state))
            said = (
                reply("card.unlocked") if event.card is None else reply("card.unlocked_it", card=card_name(event.card))
            )
        case ReadPayees(payees):
            names: tuple[ReplyParam, ...] = tuple(payee_told_apart(facts, p, payees) for p in payees)
            said = reply("payees.found", payees=names) if names else reply("payees.none")
        case SubmitTransfer() | VerifyStepUp():
            return state, Answer(reply=reply("say.ok"))
    return go_on(state, said, facts)


def go_on(state: DialogueState, said: Reply, facts: Facts) -> Step:
    """Say something, and with it go on to what waits: the interrupted task, then what was said in the same breath."""
    if state.task is None and state.queue:
        state = replace(state, task=state.queue[0], queue=state.queue[1:])
    if state.task is None:
        return state, Answer(reply=said)
    return advance(replace(state, preface=(*state.preface, said)), facts)


def _without_step_up(state: DialogueState) -> Phase:
    return Phase.IDLE if state.phase is Phase.STEP_UP else state.phase


def _balances(event: ActionDone, facts: Facts) -> Reply:
    assert isinstance(event.action, ReadBalance), "balances come of reading them"
    wanted = event.action.account
    rows = tuple(a for a in event.accounts if wanted is None or a.id == wanted)
    parts: tuple[ReplyParam, ...] = tuple(
        reply("part.account_balance", account=account_name(facts, a.id), amount=a.available) for a in rows
    )
    if not rows:
        return reply("balance.none")
    if len(rows) == 1:
        return reply("balance.one", account=account_name(facts, rows[0].id), amount=rows[0].available)
    return reply("balance.all", accounts=parts)


def _transactions(event: ActionDone, facts: Facts) -> Reply:
    assert isinstance(event.action, ReadTransactions), "transactions come of reading them"
    rows = tuple(event.transactions)[: dialogue_rules().transactions_listed]
    if not rows:
        return reply("transactions.none")
    parts: tuple[ReplyParam, ...] = tuple(_row(row, facts) for row in rows)
    return reply("transactions.one", row=parts[0]) if len(rows) == 1 else reply("transactions.list", rows=parts)


def _row(row: Transaction, facts: Facts) -> ReplyParam:
    """A transaction; its sign chooses the sentence, and a day of this year is said without it."""
    amount = replace(row.amount, minor=abs(row.amount.minor))
    kind = "part.transaction" if row.amount.minor < 0 else "part.transaction_in"
    this_year = row.booked_on.year == facts.today.year
    when = reply("date.short", day=row.booked_on) if this_year else reply("date.full", date=row.booked_on)
    return reply(kind, when=when, merchant=row.merchant, amount=amount)


def action_failed(state: DialogueState, event: ActionFailed, facts: Facts) -> Step:
    """Say what failed, as a plain sentence; ask anew where another answer may mend it."""
    rules = dialogue_rules()
    said = reply(event.spoken)
    if event.code == "step_up_required":
        return replace(state, phase=Phase.STEP_UP), Clarify(said)
    if event.code in rules.reask_amount and state.task is not None:
        state = replace(state, task=replace(state.task, amounts=(), portion=""))
        return ask(state, SlotName.AMOUNT, reply("say.both", first=said, second=reply("ask.amount")))
    if event.code in rules.read_again and state.task is not None:
        return advance(replace(state, preface=(*state.preface, said), proposal=None), facts)
    failed = replace(state, order=None, proposal=None, readback=None, unlocking=None)
    if state.phase in {Phase.PROPOSING, Phase.SUBMITTING, Phase.STEP_UP, Phase.READING, Phase.CONFIRMING}:
        failed = replace(failed, phase=Phase.IDLE, task=None, asked=None, choices=())
    return go_on(failed, said, facts) if failed.task is None else (failed, Answer(reply=said))


def step_up_started(state: DialogueState, event: StepUpStarted) -> Step:
    """Ask for the second factor."""
    channel = event.challenge.channel
    way: ReplyParam = reply(f"channel.{channel}") if channel in CHANNELS else channel
    return replace(state, phase=Phase.STEP_UP, asked=None), Clarify(reply("step_up.ask", channel=way))


def step_up_passed(state: DialogueState, facts: Facts) -> Step:
    """Do what waited for it; the confirmation given before still binds, for nothing has changed."""
    if state.phase is Phase.STEP_UP and state.proposal is not None:
        return replace(state, phase=Phase.SUBMITTING), Execute(SubmitTransfer(state.proposal))
    if state.phase is Phase.STEP_UP and state.unlocking is not None:
        return state, Execute(UnlockCard(state.unlocking))
    return go_on(state, reply("say.ok"), facts)


def step_up_failed(state: DialogueState, event: StepUpFailed, facts: Facts) -> Step:
    """Ask again, or give up."""
    if not event.final:
        return state, Clarify(reply("step_up.wrong"))
    cleared = replace(
        state,
        phase=Phase.IDLE,
        task=None,
        asked=None,
        choices=(),
        order=None,
        proposal=None,
        readback=None,
        unlocking=None,
    )
    return go_on(cleared, reply("step_up.failed"), facts)


def transfer_settled(state: DialogueState, event: TransferSettled, facts: Facts) -> Step:
    """Say where the transfer stands. UNKNOWN is never called a failure."""
    order = state.order
    if state.proposal != event.receipt.proposal:
        order = None
    match event.receipt.state:
        case TransferState.SUCCEEDED:
            said = reply("transfer.settled") if order is None else settled(order, facts)
        case TransferState.CONFIRMED if order is not None:
            said = settled(order, facts)
        case TransferState.UNKNOWN | TransferState.SUBMITTING | TransferState.CONFIRMED:
            said = reply("transfer.unknown")
        case TransferState.EXPIRED:
            said = reply("error.confirmation_expired")
        case TransferState.CANCELLED:
            said = reply("cancel.done")
        case _:
            said = _failed(event.receipt.reason)
    if order is not None:
        state = replace(
            state, phase=Phase.IDLE, task=None, asked=None, choices=(), order=None, proposal=None, readback=None
        )
    return go_on(state, said, facts)


def _failed(reason: str) -> Reply:
    spoken = spoken_of(reason)
    return reply("transfer.failed") if spoken is None else reply("transfer.failed_because", reason=reply(spoken))


def spoken_of(code: str) -> str | None:
    """The reply id of an error's code, looked for in the one tree; None for a code that is not there."""
    rest: list[type[TellerlineError]] = [TellerlineError]
    while rest:
        error = rest.pop()
        if error.code == code and "code" in error.__dict__:
            return error.spoken
        rest.extend(error.__subclasses__())
    return None
