"""Stories of calls whose replies are stopped, and what must hold whenever they were and whatever is said next."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

from schemas.consent import Consent
from schemas.decision import Confirm, SubmitTransfer
from schemas.errors import BankUnavailable, Busy, InternalFault, LimitExceeded
from schemas.ids import EN_US, CardId, ProposalId, RuleId
from schemas.intent import Intent
from schemas.transcript import Source, Transcript
from schemas.turn import HandedOff, ItemId
from services.call.conversation import Conversation
from services.call.user_turn import Commitment, UserTurn
from services.dialogue import Event, Silence, Submitting, Task, Unlocking, Waiting
from services.execution import ActionExecutor
from services.timing import ManualClock
from tests.fakes.turn_handler import FakeTurnHandler
from tests.harness.cut_calls import CALL, ME, OPEN, SPENT, CutCall, FakeSlowBank
from tests.harness.dialogue import NOW, SEND, YES, dollars, run, said

LOCK, UNLOCK = said(Intent.CARD_LOCK, card=CardId("debit")), said(Intent.CARD_UNLOCK, card=CardId("debit"))
CODE = said(Intent.INFORM, digits="123456")
CANCEL, BALANCE = said(Intent.CANCEL), said(Intent.BALANCE_INQUIRY)
SIXTY = said(Intent.CORRECT, amount=dollars(60))
CRASH, AWAY = ZeroDivisionError("nobody foresaw it"), BankUnavailable("away")
MOST = 60


@dataclass(frozen=True)
class Story:
    """What was heard out before, and what the reply to be stopped answers; over which bank."""

    before: tuple[Event, ...]
    last: Event
    bank: Callable[[], FakeSlowBank] = FakeSlowBank


def bank(**given: object) -> Callable[[], FakeSlowBank]:
    return lambda: FakeSlowBank(**given)  # type: ignore[arg-type]


CODED, CARDED = frozenset({"transfer"}), frozenset({"card"})
STORIES = {
    "a balance": Story((), BALANCE),
    "a balance of a slow bank": Story((), BALANCE, bank(slow={"accounts": 20})),
    "a balance beside an order": Story((SEND,), BALANCE),
    "what was paid": Story((), said(Intent.RECENT_TRANSACTIONS)),
    "an order": Story((), SEND),
    "an order to a slow bank": Story((), SEND, bank(slow={"propose": 5, "propose answered": 20})),
    "an order refused": Story((), SEND, bank(faults={"propose": LimitExceeded("much")})),
    "an order of which nobody knows": Story((), SEND, bank(faults={"propose": AWAY})),
    "an order that fails": Story((), SEND, bank(faults={"propose": CRASH})),
    "a correction": Story((SEND,), SIXTY),
    "a cancelled order": Story((SEND,), CANCEL),
    "a yes": Story((SEND,), YES),
    "a yes to a slow bank": Story((SEND,), YES, bank(slow={"confirm": 20})),
    "a yes refused": Story((SEND,), YES, bank(faults={"confirm": LimitExceeded("much")})),
    "a yes of which nobody knows": Story((SEND,), YES, bank(faults={"confirm": CRASH})),
    "a yes before balances fail": Story((SEND,), YES, bank(faults={"profile": CRASH})),
    "a yes to a code": Story((SEND,), YES, bank(code_for=CODED)),
    "a yes to a code that is not sent": Story((SEND,), YES, bank(code_for=CODED, faults={"begin": AWAY})),
    "a code": Story((SEND, YES), CODE, bank(code_for=CODED)),
    "a code to a slow bank": Story((SEND, YES), CODE, bank(code_for=CODED, slow={"verify": 5, "accounts": 40})),
    "a wrong code": Story((SEND, YES), CODE, bank(code_for=CODED, right=False)),
    "a code of which nobody knows": Story((SEND, YES), CODE, bank(code_for=CODED, faults={"verify": CRASH})),
    "a code, then a yes of which nobody knows": Story(
        (SEND, YES), CODE, bank(code_for=CODED, faults={"confirm": CRASH})
    ),
    "a card locked": Story((), LOCK),
    "a card locked beside an order": Story((SEND,), LOCK),
    "a card unlocked": Story((), UNLOCK, bank(locked=True)),
    "a card unlocked beside an order": Story((SEND,), UNLOCK, bank(locked=True)),
    "a card's code": Story((UNLOCK,), CODE, bank(locked=True, code_for=CARDED)),
    "a card's code beside an order": Story((SEND, UNLOCK), CODE, bank(locked=True, code_for=CARDED)),
    "a card's wrong code beside an order": Story((SEND, UNLOCK), CODE, bank(locked=True, code_for=CARDED, right=False)),
    "a card's code, and the bank fails": Story(
        (SEND, UNLOCK), CODE, bank(locked=True, code_for=CARDED, faults={"unlock": CRASH})
    ),
}  # fmt: skip

Then = Callable[[CutCall], Awaitable[None]]


async def stays(call: CutCall) -> None:
    """Nothing more is said."""


def says(event: Event, *, heard: bool = False, withdrawn: bool = False) -> Then:
    """The next turn comes at once; its reply may be heard, or it may be taken back."""

    async def then(call: CutCall) -> None:
        try:
            await call.meet(event)
        except ZeroDivisionError as fault:
            await call.apologise(fault)
        if heard:
            await call.agent.delivered(call.reply)
        if withdrawn:
            await call.agent.withdraw(call.reply)

    return then


AFTERWARDS: dict[str, Then] = {
    "nothing": stays,
    "silence": says(Silence()),
    "cancel": says(CANCEL),
    "yes": says(YES),
    "another order": says(SIXTY),
    "the order": says(SEND),
    "something else, heard out": says(BALANCE, heard=True),
    "an order taken back": says(SEND, withdrawn=True),
    "a cancel taken back": says(CANCEL, withdrawn=True),
}


async def at_every_await(
    story: Story, check: Callable[[CutCall], Awaitable[None]], prepare: Callable[[CutCall], None] = lambda _: None
) -> None:
    """Stop the story's reply after each number of steps, and check what is then."""
    for steps in range(MOST):
        call = CutCall(story.bank())
        for event in story.before:
            await call.hear(event)
        prepare(call)
        cut = await call.cut(story.last, steps)
        try:
            await check(call)
        except AssertionError as failed:
            raise AssertionError(f"after {steps} steps: {failed}") from failed
        await call.agent.close()
        if not cut:
            return
    raise AssertionError("the reply has no end")


async def ends_and_is_told(story: Story, then: Then) -> None:
    async def check(call: CutCall) -> None:
        await then(call)
        await call.rest()
        call.sound()
        await call.hear(Silence())
        call.sound()

    await at_every_await(story, check)


async def taken_back_leaves_nothing(story: Story) -> None:
    async def check(call: CutCall) -> None:
        before = call.session._before
        if await call.agent.withdraw(call.reply):
            await call.rest()
            kept = before.at(Waiting(before.task)) if before.task is not None else before
            assert call.session._state in (before, kept), "something of it was decided"
            assert not call.agent._deeds.waiting, "something of it is said"
        await call.rest()
        call.sound()

    await at_every_await(story, check)


async def hung_up_leaves_nothing_open(story: Story) -> None:
    async def check(call: CutCall) -> None:
        await call.agent.close(hung_up=True)
        assert not call.agent._deeds._behind
        assert OPEN not in call.bank.rows.values(), "the next call reads it back"

    await at_every_await(story, check)


async def cut_off_ends_all_the_same(story: Story) -> None:
    async def check(call: CutCall) -> None:
        await call.agent.close()
        assert not call.agent._deeds._behind, "something goes on behind a call that is over"
        assert not isinstance(call.session._state.phase, Submitting | Unlocking)

    await at_every_await(story, check)


async def a_person_comes_all_the_same() -> None:
    """Asked for in the same breath as an order; the reply to the yes is stopped."""

    async def check(call: CutCall) -> None:
        await call.rest()
        events = await call.meet(Silence())
        moved = SPENT in call.bank.rows.values()
        assert not moved or call.handed_off or any(isinstance(event, HandedOff) for event in events)

    def queue(call: CutCall) -> None:
        memory = call.session._state.memory
        call.session._state = call.session._state.keeping(replace(memory, queue=(Task(Intent.HUMAN_HANDOFF),)))

    await at_every_await(STORIES["a yes"], check, queue)


async def only_what_was_read_back_is_submitted() -> None:
    bank: Any = FakeSlowBank()
    executor = ActionExecutor(SimpleNamespace(ledger=bank), ME, CALL)  # type: ignore[arg-type]
    _, [decided] = run(SEND)
    assert isinstance(decided, Confirm)
    await executor.propose(decided.order)
    await executor.perform(SubmitTransfer(ProposalId("p9"), Consent("p9", RuleId("r@1"))))
    assert SPENT not in bank.rows.values()


async def what_was_heard_done_is_not_doubted() -> None:
    call = CutCall(FakeSlowBank())
    await call.hear(SEND)
    await call.hear(YES)
    words = [event async for event in call.agent.failed(Busy("no ear is free"), call.reply)]
    assert "transfer.unknown" not in str(words)
    assert not call.bank.followed


class FakeFailingHandler(FakeTurnHandler):
    """Fails at whatever is said."""

    async def take(self, *_: Any) -> Any:
        raise InternalFault
        yield


async def told_of_failed_replies(waiting: int) -> FakeFailingHandler:
    """What a handler hears where a reply fails while so many others wait."""
    handler = FakeFailingHandler()
    conversation = Conversation(handler, ManualClock(NOW), lambda _: None)
    conversation.configure(EN_US, estimated=False)
    turn = UserTurn(ItemId("i"), Transcript.typed("x", EN_US), Source.SPEECH, RuleId("r@1"), 0, 0.0, {})
    task = asyncio.ensure_future(_lived(conversation))
    conversation.take(Commitment(turn, lambda _: True))
    await asyncio.sleep(0)
    for _ in range(waiting):
        conversation.fail(Busy("no ear is free"))
    for _ in range(1_000):
        await asyncio.sleep(0)
    task.cancel()
    return handler


async def _lived(conversation: Conversation) -> None:
    async for _ in conversation.run():
        pass


async def a_reply_that_failed_was_not_heard() -> None:
    handler = await told_of_failed_replies(0)
    assert len(handler.told("interrupted")) == 1


async def an_error_is_told_however_much_waits() -> None:
    handler = await told_of_failed_replies(16)
    assert "internal_fault" in handler.told("failed")
