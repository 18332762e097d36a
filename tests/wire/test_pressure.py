"""Bad lines and bad clients: jitter, bursts, loss, disorder, drift, haste, deafness. Turns come out the same."""

import asyncio
import base64
import time
from typing import Any

import numpy as np
import orjson
import pytest
import soxr
from websockets.asyncio.client import connect

import app.transports.live.line
from app.client import typed
from schemas.audio import Samples
from schemas.errors import SlowConsumer
from schemas.turn import Completeness, ItemId, Partial, ReplyDone, ReplyText, SpeechStarted
from services.audio.codec import encode_pcm16
from services.call import OutboundQueue
from tests.fakes.turn_handler import FakeTurnHandler
from tests.harness.gateway import Caller, Event, caller, clip, gateway, line

TEXT = "what's my balance"


def complete() -> FakeTurnHandler:
    return FakeTurnHandler(judgements={TEXT: Completeness.COMPLETE})


def call_audio() -> Samples:
    return line(0.5, clip("balance"), 1.2)


async def smooth() -> Event:
    """The turn as it comes out of an undisturbed line."""
    async with gateway(lambda _: TEXT, complete) as running, caller(running) as call:
        await call.say(call_audio())
        return await call.next("tellerline.turn.ended")


def times(ended: Event) -> tuple[int, int]:
    return ended["voiced_until_ms"], ended["ended_at_ms"]


@pytest.mark.parametrize("delay_s", [0.0, 0.3])
async def test_haste_and_a_slow_recogniser_change_no_turn(delay_s: float) -> None:
    expected = await smooth()
    async with gateway(lambda _: TEXT, complete, delay_s=delay_s) as running, caller(running) as call:
        await call.say(line(call_audio(), clip("balance"), 1.2))
        first = await call.next("tellerline.turn.ended")
        await call.next("tellerline.turn.ended")
        assert times(first) == times(expected)
        await call.next("response.done")
        assert running.handler.told("take")[0] == TEXT


async def test_jitter_of_200_ms_changes_no_turn() -> None:
    expected, rng, samples = await smooth(), np.random.default_rng(11), call_audio()
    async with gateway(lambda _: TEXT, complete) as running, caller(running) as call:
        clock = time.monotonic()
        for start in range(0, samples.size, 320):
            due = clock + start / 16_000 + rng.uniform(0, 0.4)
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            await call.say(samples[start : start + 320])
        assert times(await call.next("tellerline.turn.ended")) == times(expected)
        assert running.handler.told("interpret")


async def test_bursts_change_no_turn() -> None:
    expected = await smooth()
    async with gateway(lambda _: TEXT, complete) as running, caller(running) as call:
        await call.say(call_audio(), chunk_ms=1000)
        ended = await call.next("tellerline.turn.ended")
        assert ended["voiced_until_ms"] == expected["voiced_until_ms"]
        assert 0 <= ended["ended_at_ms"] - expected["ended_at_ms"] <= 32


async def test_reordered_and_doubled_frames_change_no_turn() -> None:
    expected, rng = await smooth(), np.random.default_rng(2)
    frames = [(n, call_audio()[start : start + 320]) for n, start in enumerate(range(0, call_audio().size, 320))]
    shuffled = [
        frame for start in range(0, len(frames), 4) for frame in rng.permutation(4)[: len(frames) - start] + start
    ]
    async with gateway(lambda _: TEXT, complete) as running, caller(running) as call:
        for n in (0, *(int(n) for n in shuffled if n)):
            await call.append(frames[n][1], frames[n][0])
            if n % 7 == 0:
                await call.append(frames[n][1], frames[n][0])
        ended = await call.next("tellerline.turn.ended")
        assert ended["voiced_until_ms"] == expected["voiced_until_ms"]
        assert running.handler.told("take") == [TEXT]


async def test_lost_frames_leave_the_clock_where_it_was() -> None:
    expected, rng = await smooth(), np.random.default_rng(4)
    samples = call_audio()
    async with gateway(lambda _: TEXT, complete) as running, caller(running) as call:
        for n, start in enumerate(range(0, samples.size, 320)):
            if n == 0 or rng.random() > 0.05:
                await call.append(samples[start : start + 320], n)
        ended = await call.next("tellerline.turn.ended")
        assert abs(ended["voiced_until_ms"] - expected["voiced_until_ms"]) <= 60
        assert running.handler.told("take") == [TEXT]


@pytest.mark.parametrize("drift", [0.99, 1.01])
async def test_a_clock_that_drifts_by_a_percent_is_harmless(drift: float) -> None:
    expected = await smooth()
    drifted = soxr.resample(call_audio(), 16_000, 16_000 * drift).astype(np.float32)
    async with gateway(lambda _: TEXT, complete) as running, caller(running) as call:
        await call.say(drifted)
        ended = await call.next("tellerline.turn.ended")
        assert abs(ended["voiced_until_ms"] - expected["voiced_until_ms"] * drift) <= 40
        assert 150 <= ended["ended_at_ms"] - ended["voiced_until_ms"] <= 195


@pytest.mark.parametrize(
    ("form", "rate"),
    [
        ({"type": "audio/pcm", "rate": 8000}, 8000),
        ({"type": "audio/pcm", "rate": 24000}, 24000),
        ({"type": "audio/pcmu"}, 8000),
        ({"type": "audio/pcma"}, 8000),
    ],
)
async def test_every_format_hears_the_same_turn(form: dict[str, Any], rate: int) -> None:
    expected = await smooth()
    samples = soxr.resample(call_audio(), 16_000, rate).astype(np.float32)
    async with gateway(lambda _: TEXT, complete) as running, caller(running) as call:
        await call.send({"type": "session.update", "session": {"audio": {"input": {"format": form}}}})
        assert (await call.next("session.updated"))["session"]["audio"]["input"]["format"]["type"] == form["type"]
        data = encode_pcm16(samples) if form["type"] == "audio/pcm" else _g711(samples, form["type"])
        step = len(data) // samples.size * rate // 50
        for start in range(0, len(data), step):
            await call.socket.send(data[start : start + step])
        ended = await call.next("tellerline.turn.ended")
        assert abs(ended["voiced_until_ms"] - expected["voiced_until_ms"]) <= 40
        assert running.handler.told("take") == [TEXT]


async def test_a_client_that_does_not_read_is_let_go_and_slows_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app.transports.live.line, "SEND_S", 0.5)
    flood = FakeTurnHandler({"more": (ReplyText("x" * 50_000), ReplyDone())})
    handlers = iter([flood])
    async with gateway(lambda _: TEXT, lambda: next(handlers, None) or complete()) as running:
        deaf = await connect(running.url, max_queue=1, compression=None)
        sending = asyncio.create_task(_insist(deaf, orjson.dumps(typed("more"))))
        async with caller(running) as call:
            await call.say(call_audio(), pace=1.0)
            await call.next("response.done")
            moments = (await call.next("tellerline.timings"))["moments"]
            assert moments["response_sent"] < 500
        for _ in range(200):
            if running.admission.inside == 0:
                break
            await asyncio.sleep(0.05)
        assert running.admission.inside == 0
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)
        deaf.transport.abort()


async def test_a_client_that_takes_no_message_in_time_is_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app.transports.live.line, "SEND_S", 0.5)
    long = FakeTurnHandler({"more": (*(ReplyText("x" * 200_000) for _ in range(60)), ReplyDone())})
    async with gateway(lambda _: TEXT, lambda: long) as running:
        deaf = await connect(running.url, max_queue=1, compression=None)
        await deaf.send(orjson.dumps(typed("more")).decode())
        assert running.admission.inside == 1
        async with asyncio.timeout(10):
            await running.admission.empty.wait()
        deaf.transport.abort()


async def test_a_call_whose_answer_hangs_holds_up_no_other() -> None:
    hung = complete()
    hung.thinking_s = 60.0
    handlers = iter([hung])
    async with (
        gateway(lambda _: TEXT, lambda: next(handlers, None) or complete()) as running,
        caller(running) as stuck,
        caller(running) as call,
    ):
        await stuck.say(call_audio())
        await stuck.next("tellerline.turn.ended")
        await call.say(call_audio())
        await call.next("response.done")
        await stuck.for_a_while(0.05)
        assert not stuck.of("response.created")


async def test_a_call_whose_words_never_come_holds_up_no_other() -> None:
    async with (
        gateway(lambda _: TEXT, complete, delay_s=60.0) as running,
        caller(running) as stuck,
        caller(running) as call,
    ):
        await stuck.say(call_audio())
        await stuck.next("input_audio_buffer.speech_started")
        await stuck.for_a_while(0.3)
        assert running.recognizer.decodes
        running.recognizer.delay_s = 0.0
        await call.say(call_audio())
        await call.next("response.done")
        assert not stuck.of("tellerline.turn.ended")


def test_an_outbox_is_bounded_and_drops_only_stale_partials() -> None:
    outbound, item = OutboundQueue(capacity=4), ItemId("i")
    for revision in range(50):
        outbound.put(Partial(item, revision, "words", 0))
    assert len(outbound) == 1
    for at in range(3):
        outbound.put(SpeechStarted(item, at))
    with pytest.raises(SlowConsumer):
        outbound.put(SpeechStarted(item, 9))


async def _insist(socket: Any, message: bytes) -> None:
    while True:
        await socket.send(message.decode())
        await asyncio.sleep(0.002)


def _g711(samples: Samples, kind: str) -> bytes:
    """The nearest code of each sample: a slow encoder for tests."""
    from services.audio.codec import ALAW, MULAW

    table = MULAW if kind == "audio/pcmu" else ALAW
    order = np.argsort(table)
    ranks = np.clip(np.searchsorted(table[order], samples), 0, 255)
    return bytes(order[ranks].astype(np.uint8))


async def test_a_base64_frame_is_heard_like_a_binary_one() -> None:
    expected = await smooth()
    async with gateway(lambda _: TEXT, complete) as running, caller(running) as call:
        await _append_all(call, call_audio())
        assert times(await call.next("tellerline.turn.ended")) == times(expected)
        assert running.handler.told("interpret")


async def _append_all(call: Caller, samples: Samples) -> None:
    for start in range(0, samples.size, 320):
        audio = base64.b64encode(encode_pcm16(samples[start : start + 320])).decode()
        await call.send({"type": "input_audio_buffer.append", "audio": audio})
