"""Replies stopped at every await of what they do: whatever was begun ends, is told, and leaves nothing behind it."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import pytest

from schemas.errors import BankUnavailable, LimitExceeded
from schemas.ids import CardId
from schemas.intent import Intent
from services.dialogue import Event, Silence, Submitting, Unlocking, Waiting
from tests.harness.cut_calls import OPEN, SPENT, CutCall, FakeSlowBank
from tests.harness.dialogue import SEND, YES, dollars, said

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
    "a balance beside an order": Story((SEND,), BALANCE),
    "what was paid": Story((), said(Intent.RECENT_TRANSACTIONS)),
    "an order": Story((), SEND),
    "an order refused": Story((), SEND, bank(faults={"propose": LimitExceeded("much")})),
    "an order of which nobody knows": Story((), SEND, bank(faults={"propose": AWAY})),
    "an order that fails": Story((), SEND, bank(faults={"propose": CRASH})),
    "a correction": Story((SEND,), SIXTY),
    "a cancelled order": Story((SEND,), CANCEL),
    "a yes": Story((SEND,), YES),
    "a yes refused": Story((SEND,), YES, bank(faults={"confirm": LimitExceeded("much")})),
    "a yes of which nobody knows": Story((SEND,), YES, bank(faults={"confirm": CRASH})),
    "a yes before balances fail": Story((SEND,), YES, bank(faults={"profile": CRASH})),
    "a yes to a code": Story((SEND,), YES, bank(code_for=CODED)),
    "a yes to a code that is not sent": Story((SEND,), YES, bank(code_for=CODED, faults={"begin": AWAY})),
    "a code": Story((SEND, YES), CODE, bank(code_for=CODED)),
    "a wrong code": Story((SEND, YES), CODE, bank(code_for=CODED, right=False)),
    "a code of which nobody knows": Story((SEND, YES), CODE, bank(code_for=CODED, faults={"verify": CRASH})),
    "a code, then a yes of which nobody knows": Story((SEND, YES), CODE, bank(code_for=CODED, faults={"confirm": CRASH})),
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


def says(event: Event, *, withdrawn: bool = False) -> Then:
    """The next turn comes at once, and may be taken back."""

    async def then(call: CutCall) -> None:
        try:
            await call.meet(event)
        except ZeroDivisionError as fault:
            await call.apologise(fault)
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
    "an order taken back": says(SEND, withdrawn=True),
    "a cancel taken back": says(CANCEL, withdrawn=True),
}


async def at_every_await(story: Story, check: Callable[[CutCall, int], Awaitable[None]]) -> None:
    for steps in range(MOST):
        call = CutCall(story.bank())
        for event in story.before:
            await call.hear(event)
        cut = await call.cut(story.last, steps)
        try:
            await check(call, steps)
        except AssertionError as failed:
            raise AssertionError(f"after {steps} steps: {failed}") from failed
        await call.agent.close()
        if not cut:
            return
    raise AssertionError("the reply has no end")


@pytest.mark.parametrize("then", AFTERWARDS)
@pytest.mark.parametrize("story", STORIES)
async def test_what_a_stopped_reply_had_begun_ends_and_is_told(story: str, then: str) -> None:
    async def check(call: CutCall, steps: int) -> None:
        await AFTERWARDS[then](call)
        await call.rest()
        call.sound()
        await call.hear(Silence())
        call.sound()

    await at_every_await(STORIES[story], check)


@pytest.mark.parametrize("story", STORIES)
async def test_a_turn_that_is_taken_back_leaves_nothing(story: str) -> None:
    async def check(call: CutCall, steps: int) -> None:
        before = call.session._before
        if await call.agent.withdraw(call.reply):
            await call.rest()
            kept = before.at(Waiting(before.task)) if before.task is not None else before
            assert call.session._state in (before, kept), "something of it was decided"
            call.sound()
            assert not call.agent._deeds.waiting, "something of it is said"
        else:
            await call.rest()
            call.sound()

    await at_every_await(STORIES[story], check)


@pytest.mark.parametrize("story", STORIES)
async def test_who_hangs_up_leaves_nothing_open(story: str) -> None:
    async def check(call: CutCall, steps: int) -> None:
        await call.agent.close(hung_up=True)
        assert not call.agent._deeds._behind
        assert OPEN not in call.bank.rows.values()
        moved = isinstance(call.session._state.phase, Submitting) and call.bank.faults
        assert not moved or call.bank.followed or SPENT not in call.bank.rows.values()

    await at_every_await(STORIES[story], check)


@pytest.mark.parametrize("story", STORIES)
async def test_who_is_cut_off_finds_what_was_begun_done(story: str) -> None:
    async def check(call: CutCall, steps: int) -> None:
        await call.agent.close()
        assert not call.agent._deeds._behind
        assert not isinstance(call.session._state.phase, Submitting | Unlocking)

    await at_every_await(STORIES[story], check)
