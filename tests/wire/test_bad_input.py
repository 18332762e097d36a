"""What a client may do wrong: each has a stable code and the right close code, and the next caller notices nothing."""

import asyncio

import numpy as np
import pytest
from websockets.exceptions import ConnectionClosed

from app.client import typed
from app.gate import doorman
from app.transports.asyncapi import document
from schemas.errors import ModelUnavailable, RecognizerUnavailable
from services.audio.codec import encode_pcm16
from tests.harness.gateway import Caller, Gateway, caller, clip, gateway, line
from tests.harness.handshakes import refusal, status

TEXT = "what's my balance"


async def still_served(running: Gateway) -> None:
    async with caller(running) as call:
        await call.say(line(0.3, clip("balance"), 1.2))
        await call.next("response.done")


@pytest.mark.parametrize(
    ("message", "code", "says"),
    [
        ("{", "malformed_message", "no JSON: "),
        ("[]", "malformed_message", "write an object"),
        ("null", "malformed_message", "write an object"),
        ("{}", "malformed_message", "is missing its type"),
        ('{"type": "input_audio_buffer.append"}', "malformed_message", "audio: is missing"),
        ('{"type": "input_audio_buffer.append", "audio": 5}', "malformed_message", "audio: write a text"),
        ('{"type": "input_audio_buffer.append", "audio": "AAAA", "volume": 11}', "malformed_message", "holds a name"),
        ('{"type": "input_audio_buffer.append", "audio": "not base64!"}', "malformed_audio", "base64"),
        ('{"type": "input_audio_buffer.append", "audio": "AAAA", "tellerline.sequence": 1}', "malformed_audio", ""),
        ('{"type": "response.create"}', "unknown_event", "one of session.update, "),
        ('{"type": "tellerline.dtmf", "digit": "12"}', "malformed_message", "digit: write what fits ^[0-9*#A-D]$"),
        ('{"type": "input_audio_buffer.commit"}', "wrong_state", ""),
        ('{"type": "session.update", "session": {"tellerline": {"locale": "xx-XX"}}}', "unsupported_locale", "ja-JP"),
        ('{"type": "session.update", "session": {"tellerline": {"locale": "../../etc"}}}', "malformed_message", "fits"),
        ('{"type": "session.update", "session": {"turn_detection": null}}', "malformed_message", "session: holds"),
        (
            '{"type": "session.update", "session": {"audio": {"input": {"format": {"type": "audio/opus"}}}}}',
            "malformed_message",
            "session.audio.input.format: write one of audio/pcm, audio/pcmu, audio/pcma as its type",
        ),
        (
            '{"type":"session.update","session":{"audio":{"input":{"format":{"type":"audio/pcm","rate":44100}}}}}',
            "malformed_message",
            "session.audio.input.format.rate: write 8000, 16000 or 24000",
        ),
        (
            '{"type": "conversation.item.create", "item": ' + '{"a":' * 500 + "1" + "}" * 500 + "}",
            "malformed_message",
            "no JSON: ",
        ),
    ],
)
async def test_a_bad_event_is_told_and_the_call_goes_on(message: str, code: str, says: str) -> None:
    async with gateway(lambda _: TEXT) as running, caller(running) as call:
        await call.socket.send(message)
        error = await call.next("error")
        assert (error["error"]["code"], says in error["error"]["message"]) == (code, True), error["error"]["message"]
        assert error["error"]["type"] == "invalid_request_error"
        await call.send(typed("hello"))
        await call.next("response.done")


async def test_an_error_names_the_event_that_caused_it_and_repeats_none_of_it() -> None:
    async with gateway(lambda _: TEXT) as running, caller(running) as call:
        await call.send({"type": "input_audio_buffer.commit", "event_id": "mine-7"})
        assert (await call.next("error"))["error"]["event_id"] == "mine-7"
        await call.send({"type": "input_audio_buffer.append", "audio": 5, "4929123412341234": "secret"})
        assert "4929" not in str((await call.next("error"))["error"])
        for bad in (
            {"type": "nothing"},
            {"type": "tellerline.dtmf", "digit": "x"},
            {"type": "response.cancel", "x": 1},
        ):
            await call.send(bad | {"event_id": "mine-8"})
            assert (await call.next("error"))["error"]["event_id"] == "mine-8"
        await call.send({"type": "nothing", "event_id": "x" * 65})
        assert (await call.next("error"))["error"]["event_id"] is None


async def test_an_empty_frame_is_nothing() -> None:
    async with gateway(lambda _: TEXT) as running, caller(running) as call:
        for _ in range(20):
            await call.socket.send(b"")
        await call.say(line(0.3, clip("balance"), 1.2))
        await call.next("response.done")


async def test_an_oversize_frame_closes_the_call_with_1009() -> None:
    async with gateway(lambda _: TEXT) as running:
        async with caller(running) as call:
            await call.socket.send(b"\x00" * (64 * 1024 + 2))
            await _closed(call, 1009)
        await still_served(running)
        async with asyncio.timeout(5):
            await running.admission.empty.wait()


async def test_settings_that_change_within_a_turn_wait_for_its_end() -> None:
    async with gateway(lambda _: TEXT) as running, caller(running) as call:
        await call.say(line(0.3, clip("balance")))
        await call.send({"type": "session.update", "session": {"tellerline": {"playback": "estimated"}}})
        await call.send({"type": "session.update", "session": {"tellerline": {"locale": "ja-JP"}}})
        await call.say(line(1.2))
        await call.next("response.done")
        await call.next("session.updated")
        session = (await call.next("session.updated"))["session"]
        assert session["tellerline"] == {"locale": "ja-JP", "playback": "estimated", "recording": False}
        assert not call.of("error")


async def test_turns_end_by_the_clients_word_alone_where_it_says_so() -> None:
    async with gateway(lambda _: TEXT) as running, caller(running) as call:
        await call.send({"type": "session.update", "session": {"audio": {"input": {"turn_detection": None}}}})
        settings = (await call.next("session.updated"))["session"]["audio"]["input"]
        assert settings["turn_detection"] is None
        await call.say(line(0.3, clip("balance"), 1.5))
        await call.for_a_while(0.3)
        assert not call.of("response.created")
        await call.send({"type": "input_audio_buffer.commit"})
        await call.next("response.done")


async def test_too_many_refusals_end_the_call() -> None:
    async with gateway(lambda _: TEXT) as running:
        async with caller(running) as call:
            for _ in range(65):
                await call.socket.send("{")
            await _closed(call, 1007)
            assert len(call.of("error")) >= 65
        await still_served(running)


async def test_ten_minutes_of_silence_end_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doorman, "SOUND_S", 0.0)
    monkeypatch.setattr(doorman, "FRAME_S", 0.0)
    async with gateway(lambda _: TEXT, call_seconds=120) as running:
        async with caller(running) as call:
            sending = asyncio.create_task(_send_until_closed(call, np.zeros(16_000 * 600, dtype=np.float32)))
            await _closed(call, 4408)
            await sending
            assert call.of("error")[-1]["error"]["code"] == "call_idle"
        await still_served(running)
        async with asyncio.timeout(5):
            await running.admission.empty.wait()


async def test_a_call_has_a_longest_time() -> None:
    async with gateway(lambda _: TEXT, call_seconds=0.5) as running, caller(running) as call:
        await _closed(call, 4408)
        assert call.of("error")[-1]["error"]["code"] == "call_too_long"


async def test_noise_and_tones_are_no_command() -> None:
    rng = np.random.default_rng(5)
    tone = (0.3 * np.sin(2 * np.pi * 941 * np.arange(16_000) / 16_000)).astype(np.float32)
    loud = rng.normal(0, 0.1, 32_000).astype(np.float32)
    async with gateway(lambda _: "") as running, caller(running) as call:
        await call.say(line(0.5, tone, 0.5, loud, 1.0))
        await call.for_a_while(0.5)
        assert not call.of("tellerline.turn.ended")
        assert not running.handler.told("take")


async def test_a_failing_recogniser_is_said_and_survived() -> None:
    async with gateway(lambda _: TEXT) as running, caller(running) as call:
        running.recognizer.error = RecognizerUnavailable("down")
        await call.say(line(0.3, clip("balance"), 1.2))
        assert (await call.next("error"))["error"]["code"] == "recognizer_unavailable"
        assert (await call.next("response.output_text.done"))["text"].startswith("Something went wrong")
        await call.next("response.done")
        assert call.of("tellerline.turn.discarded")[0]["reason"] == "failed"
        running.recognizer.error = None
        await call.say(line(0.5, clip("balance"), 1.2))
        await call.next("tellerline.turn.ended")
        await call.next("response.done")
        assert running.handler.told("take") == [TEXT]


async def test_a_failing_turn_handler_is_said_and_survived() -> None:
    async with gateway(lambda _: TEXT) as running, caller(running) as call:
        running.handler.error = ModelUnavailable("down")
        await call.send(typed("why?"))
        assert (await call.next("error"))["error"]["code"] == "model_unavailable"
        await call.next("response.done")
        assert running.handler.told("failed") == ["model_unavailable"]
        running.handler.error = None
        await call.send(typed("hello"))
        await call.next("response.output_text.delta")


async def test_newcomers_are_refused_past_capacity_while_draining_and_without_a_credential() -> None:
    async with gateway(lambda _: TEXT, calls=1) as running:
        async with caller(running):
            assert await _refused(running) == (503, "5")
        async with asyncio.timeout(5):
            await running.admission.empty.wait()
        assert await status(running.url, {"Authorization": "Bearer wrong"}) == 401
        running.admission.drain()
        assert await _refused(running) == (503, "5")


async def test_hanging_up_in_the_middle_leaves_nothing_behind() -> None:
    async with gateway(lambda _: TEXT, delay_s=0.5) as running:
        before = len(asyncio.all_tasks())
        async with caller(running) as call:
            await call.say(line(0.3, clip("balance"), 0.2))
            await call.next("input_audio_buffer.speech_started")
            while not running.recognizer.decodes:
                await call.say(line(0.02), pace=1.0)
        for _ in range(100):
            if running.handler.closed and running.admission.inside == 0 and len(asyncio.all_tasks()) <= before:
                break
            await asyncio.sleep(0.02)
        assert running.handler.closed
        assert running.admission.inside == 0
        assert len(asyncio.all_tasks()) <= before
        assert running.recognizer.cancelled >= 1


async def _refused(running: Gateway) -> tuple[int, str | None]:
    denied = await refusal(running.url)
    assert denied is not None
    return denied.status_code, denied.headers.get("retry-after")


async def _closed(call: Caller, code: int) -> None:
    with pytest.raises(ConnectionClosed) as closed:
        await call.next("never", within_s=60.0)
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == code
    assert str(code) in document()["info"]["description"], "what may end a call is documented"


async def _send_until_closed(call: Caller, samples: np.ndarray) -> None:
    try:
        for start in range(0, samples.size, 16_000):
            await call.socket.send(encode_pcm16(samples[start : start + 16_000]))
    except ConnectionClosed:
        return
