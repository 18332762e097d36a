"""A live call without a socket: what bounds it, what it cancels, and what voices, keys and replies do to each other."""

import asyncio
import gc
import weakref
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TypeVar

import numpy as np
import pytest

from deploy.bench._calls.room import echo, loudness
from schemas.audio import SAMPLE_RATE, Samples
from schemas.call import (
    AudioIn,
    CallConfig,
    CallEvent,
    CallInput,
    CutReason,
    Fault,
    KeyIn,
    PlaybackIn,
    PlaybackState,
    ReplyCut,
    ReplyEnded,
    Timed,
    TypedIn,
    Voiced,
)
from schemas.errors import CallIdle, CallTooLong, RateLimited, TimedOut
from schemas.ids import EN_US, Locale
from schemas.interpretation import Interpretation
from schemas.speech import SpokenChunk
from schemas.transcript import Transcript
from schemas.turn import (
    Awaits,
    Completeness,
    Discarded,
    Eager,
    Ended,
    ReplyDone,
    ReplyId,
    ReplyText,
    SpeechStarted,
    Waste,
)
from services.audio.codec import encode_pcm16
from services.call import CallPorts, LiveCall, OutboundQueue
from services.call.conversation import Conversation
from services.timing.clock import ManualClock
from tests.fakes.recognizer import FakeRecognizer
from tests.fakes.synthesizer import FakeSynthesizer
from tests.fakes.turn_handler import FakeTurnHandler
from tests.harness.gateway import clip, line, vad

NOW = datetime(2026, 3, 4, 12, tzinfo=UTC)
BALANCE = "what's my balance"
LONG = (ReplyText("A sentence that takes quite a while to be said, you know."), ReplyDone())
CHUNK = 640
E = TypeVar("E", bound=CallEvent)


@dataclass
class Talk:
    """A call whose clock moves with its sound alone; `seen` is what came out of it."""

    call: LiveCall
    outbound: OutboundQueue
    clock: ManualClock
    handler: FakeTurnHandler
    recognizer: FakeRecognizer
    seen: list[CallEvent] = field(default_factory=list)

    async def put(self, given: CallInput) -> None:
        await self.call.put(given)

    async def say(self, *parts: Samples | float, chunk: int = CHUNK) -> None:
        sound = line(*parts)
        for start in range(0, sound.size, chunk):
            await self.put(AudioIn(encode_pcm16(sound[start : start + chunk])))
            self.clock.advance(chunk / SAMPLE_RATE)

    async def until(self, kind: type[E]) -> E:
        async with asyncio.timeout(10):
            while (event := await self.outbound.get()) is not None:
                self.seen.append(event)
                if isinstance(event, kind):
                    return event
        raise AssertionError("the call is over")

    def of(self, kind: type[E]) -> list[E]:
        return [event for event in self.seen if isinstance(event, kind)]


def made(words: str = BALANCE) -> Talk:
    handler = FakeTurnHandler({BALANCE: LONG}, {BALANCE: Completeness.COMPLETE, "please": Completeness.COMPLETE})
    recognizer, clock, outbound = FakeRecognizer(lambda _: words), ManualClock(NOW), OutboundQueue()
    call = LiveCall(CallPorts(handler, recognizer, vad(), clock), outbound, CallConfig(EN_US), seconds=60)
    return Talk(call, outbound, clock, handler, recognizer)


@asynccontextmanager
async def living(talk: Talk) -> AsyncIterator[None]:
    task = asyncio.create_task(talk.call.run())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def comes_true(condition: Callable[[], bool]) -> None:
    for _ in range(2000):
        if condition():
            return
        await asyncio.sleep(0.005)
    raise AssertionError("it never came true")


async def test_what_is_unheard_is_bounded() -> None:
    talk = made()
    for _ in range(128):
        await talk.put(AudioIn(b""))
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await talk.put(AudioIn(b""))


async def test_what_waits_for_an_answer_is_bounded() -> None:
    conversation = Conversation(FakeTurnHandler(), ManualClock(NOW), lambda _: None)
    for _ in range(16):
        conversation.fail(CallIdle())
    with pytest.raises(RateLimited):
        conversation.fail(CallIdle())


async def test_an_answer_that_never_comes_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("services.call.reply_stream._REPLY_SECONDS", 0.05)
    talk = made()
    talk.handler.thinking_s = 60.0
    async with living(talk):
        await talk.put(TypedIn("hello"))
        assert isinstance((await talk.until(Fault)).error, TimedOut)
        await comes_true(lambda: talk.handler.told("failed") == ["timed_out"])


async def test_what_is_meant_is_what_is_waited_on_shown_and_answered() -> None:
    talk = made("what's my bellows")
    talk.handler.meant = {"what's my bellows": BALANCE}
    async with living(talk):
        await talk.say(clip("balance"), 1.0)
        ended = await talk.until(Ended)
    assert ended.transcript.text == BALANCE == talk.of(Eager)[-1].transcript.text
    assert ended.rule.startswith("endpointing.en.complete@")
    assert talk.handler.told("interpret") == [BALANCE]


async def test_where_the_grammar_fails_the_likeliest_words_count(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: Transcript) -> Interpretation:
        raise RuntimeError("broken on purpose")

    talk = made()
    monkeypatch.setattr(talk.handler, "interpret", broken)
    async with living(talk):
        await talk.say(clip("balance"), 2.0)
        assert (await talk.until(Ended)).transcript.text == BALANCE


async def test_a_turn_is_timed_from_the_arrival_of_its_last_sound() -> None:
    talk = made()
    await talk.say(clip("balance"), 1.0)  # a second of silence has arrived before the call hears any of it
    async with living(talk):
        moments = (await talk.until(Timed)).moments
    assert 1000 <= moments["turn_end"] <= 1300
    assert moments["turn_end"] <= moments["response_sent"]


@pytest.mark.parametrize("lead_ms", [300, 308, 316, 324])
async def test_a_turn_ends_with_the_chunk_that_makes_its_silence_long_enough(lead_ms: int) -> None:
    talk = made()
    async with living(talk):
        await talk.say(lead_ms / 1000, clip("balance"), 0.5, chunk=64)
        ended = await talk.until(Ended)
    assert 150 <= ended.ended_at_ms - ended.voiced_until_ms <= 155


async def test_decodes_that_nobody_wants_any_more_are_cancelled() -> None:
    talk = made()
    talk.recognizer.delay_s = 60.0
    async with living(talk):
        await talk.say(0.3, clip("balance")[:12_800], 0.1, clip("to_catherine")[:12_800])
        await comes_true(lambda: sum(decode.final for _, decode in talk.recognizer.decodes) > 0)
        await comes_true(lambda: talk.recognizer.cancelled == len(talk.recognizer.decodes) - 1)


async def test_a_second_of_voice_stops_a_reply_without_words() -> None:
    talk = made(words="")
    async with living(talk):
        await talk.put(TypedIn(BALANCE))
        await talk.until(ReplyEnded)
        await talk.say(clip("balance")[:12_000], 1.0)
        await talk.until(Discarded)
        assert not talk.of(ReplyCut)
        await talk.say(clip("to_catherine"), clip("balance"), clip("to_catherine"), 1.0)
        assert (await talk.until(ReplyCut)).reason is CutReason.TURN_DETECTED


@pytest.mark.parametrize("given", [TypedIn("hello"), KeyIn("1")])
async def test_typing_and_keys_drop_the_speech_under_way(given: CallInput) -> None:
    talk = made()
    async with living(talk):
        await talk.say(0.3, clip("balance"))
        await talk.until(SpeechStarted)
        await talk.put(given)
        assert (await talk.until(Discarded)).reason is Waste.CLEARED
        await talk.put(KeyIn("#"))
        await talk.say(0.5)
        await talk.until(ReplyEnded)
    assert BALANCE not in talk.handler.told("take")


async def answered_and_heard(talk: Talk) -> None:
    await talk.say(0.3, clip("balance"), 0.25)
    await talk.put(PlaybackIn((await talk.until(ReplyEnded)).reply, PlaybackState.COMPLETED))
    await comes_true(lambda: bool(talk.handler.told("delivered")))


async def test_a_turn_whose_answer_was_heard_is_not_withdrawn() -> None:
    talk = made()
    async with living(talk):
        await answered_and_heard(talk)
        await talk.say(clip("to_catherine"), 0.4)
        await talk.until(Ended)
        await talk.until(ReplyEnded)
    assert len(talk.handler.told("take")) == 2
    assert not talk.handler.told("withdraw")


@pytest.mark.parametrize("noticed", [False, True], ids=["unread", "read"])
async def test_what_was_heard_just_before_the_call_ended_counts(noticed: bool) -> None:
    talk = made()
    async with living(talk):
        await talk.put(TypedIn(BALANCE))
        reply = (await talk.until(ReplyEnded)).reply
        await comes_true(lambda: not talk.call._conversation.busy)
        await talk.put(PlaybackIn(reply, PlaybackState.COMPLETED))
        if noticed:
            mark = PlaybackIn(reply, PlaybackState.COMPLETED)
            talk.call._conversation.played(mark, talk.call._clock.monotonic(), speaking=False)
    assert talk.handler.told("delivered") == [reply]
    assert talk.handler.closed


async def test_of_what_waits_when_a_call_ends_no_turn_is_taken() -> None:
    talk = made()
    async with living(talk):
        await talk.put(TypedIn(BALANCE))
        reply = (await talk.until(ReplyEnded)).reply
        await talk.put(TypedIn("yes"))
        await talk.put(PlaybackIn(ReplyId("another"), PlaybackState.COMPLETED))
    assert talk.handler.told("take") == [BALANCE]
    assert reply not in talk.handler.told("delivered")


async def test_please_after_an_answer_was_heard_is_a_turn() -> None:
    talk = made()
    async with living(talk):
        await answered_and_heard(talk)
        talk.recognizer.words = lambda _: "please"
        await talk.say(clip("yes"), 0.4)
        await talk.until(ReplyEnded)
    assert talk.handler.told("take") == [BALANCE, "please"]


async def hung_up_on(talk: Talk) -> None:
    async with living(talk):
        await talk.say(clip("balance"), 1.0)
        await talk.until(Timed)


async def hung_up_on_while_decoding(talk: Talk) -> None:
    talk.recognizer.delay_s = 60.0
    async with living(talk):
        await talk.say(clip("balance"), 0.2)
        await comes_true(lambda: bool(talk.recognizer.decodes))


async def ended_itself(talk: Talk) -> None:
    talk.handler.answers = {BALANCE: (ReplyDone(Awaits.END),)}
    async with asyncio.timeout(10):
        assert await talk.call.run() is None


async def ended_by_silence(talk: Talk) -> None:
    async with asyncio.timeout(10):
        living = asyncio.create_task(talk.call.run())
        await talk.until(ReplyEnded)
        while not living.done():
            talk.clock.advance(3600)
            await talk.put(AudioIn(b""))
            await asyncio.sleep(0.005)
        assert isinstance(living.result(), CallIdle)


async def lasted_too_long(talk: Talk) -> None:
    talk.call._seconds = 0.3
    async with asyncio.timeout(10):
        assert isinstance(await talk.call.run(), CallTooLong)


WAYS = (hung_up_on, hung_up_on_while_decoding, ended_itself, ended_by_silence, lasted_too_long)


@pytest.mark.parametrize("lived", WAYS)
async def test_a_call_that_is_over_waits_for_no_collection(lived: Callable[[Talk], Awaitable[None]]) -> None:
    talk = made()
    gone = weakref.ref(talk.call), weakref.ref(talk.call._conversation)
    gc.collect()
    gc.disable()
    try:
        await talk.put(TypedIn(BALANCE))
        await lived(talk)
        await asyncio.sleep(0)
        del talk
        assert [one() for one in gone] == [None, None]
    finally:
        gc.enable()


def ours() -> Samples:
    return np.concatenate([loudness(clip(name), -22) for name in ("send_five_hundred", "to_catherine")])


class Playing(FakeSynthesizer):
    """Speaks recordings, whatever it is given, in pieces of a fifth of a second."""

    async def speak(self, text: str, locale: Locale, voice: str) -> AsyncGenerator[SpokenChunk, None]:
        pcm = encode_pcm16(
            np.concatenate([loudness(clip(name), -22) for name in ("send_five_hundred", "to_catherine")])
        )
        for at in range(0, len(pcm), 6_400):
            yield SpokenChunk(pcm[at : at + 6_400], SAMPLE_RATE, min(len(text), at))

    def for_call(self) -> "Playing":
        return self

    def foresee(self, text: str, locale: Locale) -> None: ...

    def close(self) -> None: ...


@pytest.mark.parametrize("speaks", [True, False])
async def test_what_words_lead_to_is_foreseen_while_they_are_said_where_we_speak(speaks: bool) -> None:
    handler, voice = FakeTurnHandler({BALANCE: LONG}, {BALANCE: Completeness.COMPLETE}), FakeSynthesizer()
    handler.foreseeing = {BALANCE: "You have money."}
    recognizer, clock, outbound = FakeRecognizer(lambda _: BALANCE), ManualClock(NOW), OutboundQueue()
    ports = CallPorts(handler, recognizer, vad(), clock, voice)
    call = LiveCall(ports, outbound, CallConfig(EN_US, speaks=speaks), seconds=60)
    talk = Talk(call, outbound, clock, handler, recognizer)
    async with living(talk):
        await talk.say(clip("balance"), 0.1)
        await talk.until(Eager)
        await comes_true(lambda: bool(voice.foreseen) or not speaks)
        assert not handler.told("take")
        await talk.say(1.0)
        await talk.until(Ended)
    assert set(voice.foreseen) == ({"You have money."} if speaks else set())
    assert voice.closed


@pytest.mark.parametrize("db", [-6.0, -20.0])
async def test_our_own_reply_in_the_microphone_does_not_stop_it(db: float) -> None:
    handler = FakeTurnHandler({"hello": (ReplyText("Words."), ReplyDone())})
    recognizer, clock, outbound = (
        FakeRecognizer(lambda _: "send five hundred dollars"),
        ManualClock(NOW),
        OutboundQueue(),
    )
    ports = CallPorts(handler, recognizer, vad(), clock, Playing())
    call = LiveCall(ports, outbound, CallConfig(EN_US, speaks=True, estimated=True), seconds=60)
    talk = Talk(call, outbound, clock, handler, recognizer)
    async with living(talk):
        await talk.put(TypedIn("hello"))
        began = (await talk.until(Voiced)).at
        microphone = echo(ours(), 0.2 + began - clock.monotonic(), db, 5)
        sound = line(microphone, 2.0)
        for at in range(0, sound.size, CHUNK):
            await talk.put(AudioIn(encode_pcm16(sound[at : at + CHUNK])))
            await talk.call.settled()
            clock.advance(CHUNK / SAMPLE_RATE)
        await comes_true(lambda: bool(handler.told("delivered")))
        while len(outbound):
            talk.seen.append(await outbound.get())
    assert not talk.of(ReplyCut)
    assert handler.told("take") == ["hello"]


@pytest.mark.parametrize("awaits", [Awaits.CONFIRMATION, Awaits.ANSWER])
async def test_words_that_nobody_heard_are_asked_for_again_where_a_yes_is_waited_for(awaits: Awaits) -> None:
    talk = made(words="")
    talk.handler.answers = {said: (ReplyText("Is that right?"), ReplyDone(awaits)) for said in (BALANCE, "")}
    async with living(talk):
        await talk.put(TypedIn(BALANCE))
        await talk.put(PlaybackIn((await talk.until(ReplyEnded)).reply, PlaybackState.COMPLETED))
        for _ in range(2):  # once: of a noise that goes on nobody is asked for ever
            await talk.say(clip("to_catherine"), 1.2)
            await talk.until(Discarded if awaits is Awaits.ANSWER or talk.handler.told("take")[1:] else ReplyEnded)
            await comes_true(lambda: not talk.call._conversation.busy)
    assert talk.handler.told("take") == ([BALANCE, ""] if awaits is Awaits.CONFIRMATION else [BALANCE])
