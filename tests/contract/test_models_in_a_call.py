"""The extraction endpoint within a whole call, over real HTTP: what it chooses, and what is heard without it."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from schemas.decision import DecisionKind
from schemas.ids import EN_US, CallId, CustomerId
from schemas.transcript import Transcript
from schemas.turn import Decided, ReadBackReady, ReplyEvent, ReplyId, ReplyText
from services.call.agent import Agent
from tests.fakes.gemma import Body, FakeGemma, Reply, completion
from tests.fakes.recognizer import FakeRecognizer
from tests.harness.app import running_app
from tests.harness.until import until

ALEX = CustomerId("alex-morgan")
UNCLEAR = "catherine nguyen sort of a transfer thing fifty dollars"
AGAIN = "well catherine nguyen was hoping on fifty dollars"
CLEAR = "send fifty dollars to catherine nguyen"
LINE = "transfer A -"
"""To move the amount on offer; to whom was not said."""


def chooses(line: str, after_s: float = 0.0) -> Callable[[Body], Reply]:
    return lambda _: completion(json.dumps(line), after_s=after_s)


@asynccontextmanager
async def call(
    state: Path, behave: Callable[[Body], Reply], deadline_s: float = 20.0
) -> AsyncIterator[tuple[Agent, FakeGemma]]:
    async with FakeGemma(behave) as server:
        silent = FakeRecognizer(lambda _seconds: "")
        model = {"extraction_url": server.url, "extraction_model": "fake-gemma", "extraction_deadline_s": deadline_s}
        async with running_app(state, silent, **model) as app:
            yield await app.gateway.callers.open(ALEX, CallId("call-1"), EN_US), server


async def say(turn: Agent, text: str, number: int = 1) -> list[ReplyEvent]:
    return [event async for event in turn.take(Transcript.typed(text, EN_US), ReplyId(f"reply-{number}"))]


def decision(events: list[ReplyEvent]) -> DecisionKind:
    return next(event for event in events if isinstance(event, Decided)).decision.kind


async def test_what_the_model_chooses_is_read_back_and_no_more(tmp_path: Path) -> None:
    async with call(tmp_path, chooses(LINE)) as (turn, server):
        assert decision(await say(turn, UNCLEAR)) is DecisionKind.CLARIFY, "who is asked for"
        events = await say(turn, "catherine nguyen", 2)
    assert len(server.requests) == 1
    (ready,) = [event for event in events if isinstance(event, ReadBackReady)]
    assert (ready.proposal.order.amount.minor, ready.proposal.order.payee_id) == (5000, "catherine-nguyen")


async def test_at_the_deadline_the_caller_is_asked_and_the_late_answer_is_dropped(tmp_path: Path) -> None:
    async with call(tmp_path, chooses(LINE, after_s=30.0), deadline_s=2.0) as (turn, server):
        began = time.perf_counter()
        asked = await say(turn, UNCLEAR)
        assert time.perf_counter() - began < 15, "the model would have taken 30"
        await until(lambda: server.hang_ups == 1)
        assert decision(asked) is DecisionKind.CLARIFY
        assert any(isinstance(event, ReplyText) for event in asked)
        assert not [event for event in asked if isinstance(event, ReadBackReady)]
        assert decision(await say(turn, CLEAR, 2)) is DecisionKind.CONFIRM, "the clear command needs no model"
    assert len(server.requests) == 1


async def test_a_caller_who_speaks_on_ends_the_request(tmp_path: Path) -> None:
    async with call(tmp_path, chooses(LINE, after_s=30.0)) as (turn, server):
        answering = asyncio.ensure_future(say(turn, UNCLEAR))
        await until(lambda: server.in_flight == 1)
        answering.cancel()
        await asyncio.gather(answering, return_exceptions=True)
        await until(lambda: server.hang_ups == 1)
        assert decision(await say(turn, CLEAR, 2)) is DecisionKind.CONFIRM


async def test_a_broken_model_leaves_the_clear_command_alone(tmp_path: Path) -> None:
    async with call(tmp_path, lambda _: Reply([b"{}"], status=500)) as (turn, server):
        assert decision(await say(turn, UNCLEAR)) is DecisionKind.CLARIFY
        assert decision(await say(turn, CLEAR, 2)) is DecisionKind.CONFIRM
        for number, words in enumerate((UNCLEAR, AGAIN), 3):
            assert decision(await say(turn, words, number)) is DecisionKind.CONFIRM, "what was read back is read again"
        assert decision(await say(turn, CLEAR, 5)) is DecisionKind.CONFIRM
    assert len(server.requests) >= 1
