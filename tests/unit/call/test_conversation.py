"""The answering side under anything that callers, clients and time may do: what dialogue and client are told."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from datetime import UTC, datetime

from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.call import (
    CallEvent,
    CutReason,
    PlaybackIn,
    PlaybackState,
    ReplyBegan,
    ReplyCut,
    ReplyEnded,
    ReplyProgress,
    Voiced,
)
from schemas.errors import InternalFault, RateLimited
from schemas.ids import EN_US, Locale, RuleId
from schemas.speech import SpokenChunk
from schemas.transcript import Source, Transcript
from schemas.turn import Awaits, ItemId, ReplyDone, ReplyEvent, ReplyId, ReplyText
from services.call.conversation import Conversation
from services.call.user_turn import Commitment, UserTurn
from services.ports import Amendable
from services.timing.clock import ManualClock
from tests.fakes.synthesizer import FakeSynthesizer
from tests.fakes.turn_handler import FakeTurnHandler

NOW = datetime(2026, 3, 4, tzinfo=UTC)


class Handler(FakeTurnHandler):
    """Answers in two sentences, commits to what begins with "do", fails at "fail", says nothing to "nothing"."""

    async def take(
        self, transcript: Transcript, reply: ReplyId, turn: Amendable | None = None
    ) -> AsyncIterator[ReplyEvent]:
        self.journal.append(("take", reply))
        if transcript.text.startswith("do") and turn is not None:
            await turn.commit()
        if transcript.text == "fail":
            raise InternalFault
        for sentence in () if transcript.text == "nothing" else ("One.", "Two."):
            await asyncio.sleep(0)
            yield ReplyText(sentence)
        yield ReplyDone(Awaits.ANSWER)


class Story:
    """One conversation; each step is one of the things that may happen next."""

    def __init__(self) -> None:
        self.clock = ManualClock(NOW)
        self.handler = Handler()
        self.events: list[CallEvent] = []
        self.conversation = Conversation(self.handler, self.clock, self.events.append)
        self.conversation.configure(EN_US, estimated=False)
        self.items = 0
        self.free = True

    def over(self, _: UserTurn) -> bool:
        return self.free

    def say(self, words: str) -> None:
        self.items += 1
        transcript = Transcript.typed(words, EN_US)
        turn = UserTurn(
            ItemId(f"i{self.items}"), transcript, Source.SPEECH, RuleId("r@1"), 0, self.clock.monotonic(), {}
        )
        self.conversation.take(Commitment(turn, self.over))

    def play(self, state: PlaybackState, *, speaking: bool) -> None:
        began = [event.reply for event in self.events if isinstance(event, ReplyBegan)]
        if began:
            self.conversation.played(PlaybackIn(began[-1], state), self.clock.monotonic(), speaking=speaking)

    def wait(self) -> None:
        self.clock.advance(9)
        self.conversation.tick(speaking=False)

    def steps(self) -> dict[str, Callable[[], object]]:
        talk, done = self.conversation, PlaybackState.COMPLETED
        return {
            **{words: lambda words=words: self.say(words) for words in ("hello", "do it", "fail", "nothing")},
            "hold the floor": lambda: setattr(self, "free", False),
            "yield the floor": lambda: setattr(self, "free", True),
            "heard": lambda: self.play(done, speaking=False),
            "spoken over": lambda: self.play(done, speaking=True),
            "stopped": lambda: self.play(PlaybackState.INTERRUPTED, speaking=False),
            "noise": talk.released,
            "asked": lambda: talk.ask(coming=False),
            "asked while speaking": lambda: talk.ask(coming=True),
            "unasked": lambda: talk.configure(EN_US, estimated=False, answers=False),
            "answering": lambda: talk.configure(EN_US, estimated=False),
            "barge in": lambda: talk.cut(CutReason.TURN_DETECTED),
            "go on": lambda: talk.withdraw(ItemId(f"i{self.items}"), ItemId("next")),
            "break": lambda: talk.fail(InternalFault()),
            "wait": self.wait,
            "put on hold": lambda: talk.hold(True),
            "off hold": lambda: talk.hold(False),
        }


async def told(names: list[tuple[str, int]]) -> Story:
    story = Story()

    async def live() -> None:
        async for item in story.conversation.run():
            assert item == "next"

    living = asyncio.create_task(live())
    for name, turns in names:
        try:
            story.steps()[name]()
        except RateLimited:
            assert story.conversation.busy
        for _ in range(turns):
            await asyncio.sleep(0)
        assert not living.done()
    living.cancel()
    await asyncio.gather(living, return_exceptions=True)
    return story


NAMES = st.sampled_from(sorted(Story().steps()))


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(NAMES, st.sampled_from((0, 2, 12))), min_size=10, max_size=40))
def test_whatever_happens_a_reply_has_one_end_and_the_dialogue_is_told_of_it_once(names: list[tuple[str, int]]) -> None:
    story = asyncio.run(told(names))
    journal = story.handler.journal
    delivered, interrupted = story.handler.told("delivered"), story.handler.told("interrupted")
    assert len({*delivered}) == len(delivered), "heard once"
    assert len({*interrupted}) == len(interrupted), "cut once"
    for reply in {*delivered} & {*interrupted}:
        assert journal.index(("delivered", reply)) < journal.index(("interrupted", reply)), "cut is not heard again"
    for kind in ("delivered", "interrupted", "withdraw"):
        for reply in story.handler.told(kind):
            begun = [
                index for index, (name, what) in enumerate(journal) if what == reply and name in {"take", "silence"}
            ]
            assert not begun or begun[0] < journal.index((kind, reply))
    assert {*story.handler.told("withdraw")} <= {*interrupted}
    open_reply, cut = None, set()
    for event in story.events:
        match event:
            case ReplyBegan(reply):
                assert open_reply is None
                open_reply = reply
            case ReplyProgress(reply):
                assert reply not in cut
            case ReplyCut(reply):
                assert reply not in cut
                cut.add(reply)
            case ReplyEnded(reply):
                assert reply == open_reply
                open_reply = None


async def test_a_reply_that_is_cut_sounds_no_more() -> None:
    """Cut in the very moment of its second chunk, with all others ready at once."""
    story, voice, heard, over = Story(), AtOnce(), list[CallEvent](), asyncio.Event()

    def emit(event: CallEvent) -> None:
        heard.append(event)
        if isinstance(event, ReplyEnded):
            over.set()
        if [type(one) for one in heard].count(Voiced) == 2:
            story.conversation.cut(CutReason.TURN_DETECTED)

    story.conversation = Conversation(story.handler, story.clock, emit, voice)
    story.conversation.configure(EN_US, estimated=False, speaks=True)

    async def live() -> None:
        async for _ in story.conversation.run():
            pass

    living = asyncio.create_task(live())
    story.say("hello")
    await over.wait()
    living.cancel()
    await asyncio.gather(living, return_exceptions=True)
    kinds = [type(event) for event in heard]
    assert kinds.count(Voiced) == 2
    assert [kind for kind in kinds if kind is not ReplyProgress][-2:] == [ReplyCut, ReplyEnded]


class AtOnce(FakeSynthesizer):
    """All chunks are there at once: nothing makes it wait."""

    async def speak(self, text: str, locale: Locale, voice: str) -> AsyncGenerator[SpokenChunk, None]:
        for end in range(1, len(text) + 1):
            yield SpokenChunk(b"\0\0", self.rate, end)


async def test_on_hold_a_question_is_asked_again_once_and_nobody_is_given_up() -> None:
    story = Story()
    living = asyncio.create_task(anext(story.conversation.run(), None))
    steps = story.steps()

    async def prompts(*names: str) -> int:
        for name in names:
            steps[name]()
            for _ in range(12):
                await asyncio.sleep(0)
        return len(story.handler.told("silence"))

    await prompts("hello", "heard", "put on hold")
    assert await prompts(*["wait"] * 20) == 1
    assert await prompts("off hold", "heard", "wait") == 2
    assert await prompts("wait") == 3, "silence of the caller's own is asked about every time"
    living.cancel()
    await asyncio.gather(living, return_exceptions=True)
