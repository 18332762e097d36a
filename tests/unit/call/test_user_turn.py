"""A turn's life: it is committed once nobody can go on with it, or its words belong to what follows."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest

from schemas.call import CallEvent
from schemas.ids import EN_US, JA_JP, Locale, RuleId
from schemas.transcript import Hypothesis, Source, Transcript
from schemas.turn import ItemId, ReplyDone, ReplyEvent, ReplyId
from services.call.conversation import Conversation
from services.call.user_turn import Commitment, Life, UserTurn, joined
from services.ports import Amendable
from services.timing.clock import ManualClock
from tests.fakes.turn_handler import FakeTurnHandler


@dataclass
class FakeFloor:
    """Every turn is over, or none is."""

    free: bool = False

    def over(self, turn: UserTurn) -> bool:
        return self.free


def turn(text: str = "yes", locale: Locale = EN_US, *, over: bool = False) -> Commitment:
    transcript = Transcript.typed(text, locale)
    said = UserTurn(ItemId(text), transcript, Source.SPEECH, RuleId("r@1"), 0, 0.0, {})
    return Commitment(said, FakeFloor(over).over)


async def test_a_turn_that_is_over_is_committed_at_once_and_again() -> None:
    whole = turn(over=True)
    await whole.commit()
    await whole.commit()
    assert whole.life is Life.COMMITTED


async def test_a_turn_is_committed_only_when_it_is_over() -> None:
    said, floor = turn(), FakeFloor()
    said._over = floor.over
    committing = asyncio.create_task(said.commit())
    for _ in range(5):
        said.look()
        await asyncio.sleep(0.01)
        assert not committing.done()
    assert said.life is Life.OPEN
    floor.free = True
    await committing
    assert said.life is Life.COMMITTED


@pytest.mark.parametrize("asked_first", [True, False])
async def test_what_follows_before_anything_was_done_goes_on_with_it(asked_first: bool) -> None:
    first = turn("yes")
    committing = asyncio.create_task(first.commit()) if asked_first else None
    await asyncio.sleep(0)
    first.followed()
    with pytest.raises(asyncio.CancelledError):
        await (committing or first.commit())
    assert first.life is Life.CONTINUED


async def test_a_committed_turn_is_not_gone_on_with() -> None:
    first = turn("yes", over=True)
    await first.commit()
    first.followed()
    await first.commit()
    assert first.life is Life.COMMITTED


async def test_a_cut_turn_is_never_committed() -> None:
    first = turn("yes")
    committing = asyncio.create_task(first.commit())
    await asyncio.sleep(0)
    committing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await committing
    with pytest.raises(asyncio.CancelledError):
        await first.commit()
    first.followed()
    assert first.life is Life.CUT


class Binding(FakeTurnHandler):
    """Does for every turn what nothing takes back."""

    async def take(
        self, transcript: Transcript, reply: ReplyId, turn: Amendable | None = None
    ) -> AsyncIterator[ReplyEvent]:
        assert turn is not None
        self.journal.append(("take", transcript.text))
        await turn.commit()
        self.journal.append(("done", transcript.text))
        yield ReplyDone()


async def conversed(*turns: Commitment) -> Binding:
    """What a handler does for turns that come one right after another."""
    handler = Binding()
    events: list[CallEvent] = []
    conversation = Conversation(handler, ManualClock(datetime(2026, 3, 4, tzinfo=UTC)), events.append)
    for each in turns:
        conversation.take(each)
    async with asyncio.timeout(5):
        running = asyncio.create_task(anext(aiter(conversation.run()), None))
        while conversation.busy:  # noqa: ASYNC110 - many things end it
            await asyncio.sleep(0.001)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
    return handler


async def test_four_pieces_are_one_turn_in_their_order() -> None:
    handler = await conversed(*(turn(word) for word in ("yes", "wait", "no")), turn("stop", over=True))
    assert handler.told("take") == ["yes", "yes wait", "yes wait no", "yes wait no stop"]
    assert handler.told("done") == ["yes wait no stop"]


async def test_what_follows_a_done_turn_is_another_one() -> None:
    first, then = turn("yes", over=True), turn("no", over=True)
    await first.commit()
    assert (await conversed(first, then)).told("done") == ["yes", "no"]


def test_joined_words_keep_the_doubts_of_both() -> None:
    first = Transcript("はい", JA_JP, (Hypothesis("はい", -0.9), Hypothesis("灰", -1.2)))
    then = Transcript(
        "やめます", JA_JP, (Hypothesis("やめます", -0.1), Hypothesis("止めます", -0.2)), source=Source.TYPED
    )
    whole = joined(first, then)
    assert whole.text == whole.hypotheses[0].text == "はいやめます"
    assert [h.avg_logprob for h in whole.hypotheses] == [-0.9, -0.9]
    assert whole.source is Source.TYPED
