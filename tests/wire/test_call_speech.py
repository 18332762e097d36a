"""Replies in our voice on WS /v1/calls: who asks hears, each piece knows its place, and what was cut was not heard."""

from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console
from websockets.asyncio.client import connect

from app.client import SOUND, session, typed
from app.client import line as our_line
from app.demo.show import SpokenLength, show
from schemas.audio import AudioFormat, Encoding
from schemas.errors import SpeechUnavailable
from schemas.ids import JA_JP
from services.audio.codec import decode
from services.speech.clauses import clauses
from tests.fakes.recognizer import FakeRecognizer
from tests.fakes.synthesizer import FakeSynthesizer
from tests.harness.gateway import Caller, caller, clip, gateway, line
from tests.harness.read_back import ORDER, SENTENCES, WHOLE, WORDS, handler
from tests.harness.served import served

FORMATS = [
    ({"type": "audio/pcm", "rate": 16_000}, AudioFormat(Encoding.PCM16, 16_000)),
    ({"type": "audio/pcm", "rate": 24_000}, AudioFormat(Encoding.PCM16, 24_000)),
    ({"type": "audio/pcmu"}, AudioFormat(Encoding.MULAW, 8_000)),
    ({"type": "audio/pcma"}, AudioFormat(Encoding.ALAW, 8_000)),
]


async def asks_for_sound(call: Caller, form: dict[str, Any] | None = None) -> dict[str, Any]:
    session: dict[str, Any] = {"type": "realtime", "output_modalities": ["audio"]}
    if form is not None:
        session["audio"] = {"output": {"format": form}}
    await call.send({"type": "session.update", "session": session})
    in_force: dict[str, Any] = (await call.next("session.updated"))["session"]
    return in_force


async def reports(call: Caller, reply: str, state: str, **more: int) -> None:
    """What was played; returns once the call has taken it."""
    await call.send({"type": "tellerline.playback", "response_id": reply, "state": state, **more})
    await call.send({"type": "input_audio_buffer.clear"})
    await call.next("input_audio_buffer.cleared")
    await call.for_a_while(0.1)


def sound_of(call: Caller) -> bytes:
    return b"".join(event["data"] for event in call.of(SOUND))


@pytest.mark.parametrize(("named", "form"), FORMATS, ids=["pcm 16", "pcm 24", "mu-law", "A-law"])
async def test_who_asks_is_spoken_to_in_the_format_that_was_named(named: dict[str, Any], form: AudioFormat) -> None:
    voice = FakeSynthesizer(100)
    async with gateway(lambda _: ORDER, handler, synthesizer=voice) as running, caller(running) as call:
        in_force = await asks_for_sound(call, named)
        assert in_force["output_modalities"] == ["audio"]
        assert in_force["audio"]["output"]["format"] == named
        await call.send(typed(ORDER))
        reply = (await call.next("response.done"))["response"]["id"]
        pieces = call.of(SOUND)
        samples = decode(sound_of(call), form)
        assert abs(samples.size / form.rate - WORDS * 0.1) < 0.005
        assert np.argmax(np.abs(np.fft.rfft(samples))) * form.rate / samples.size == pytest.approx(440, abs=2)
        assert all(piece["response_id"] == reply for piece in pieces)
        assert [piece["start_ms"] for piece in pieces[1:]] == pytest.approx(
            [piece["start_ms"] + piece["duration_ms"] for piece in pieces[:-1]]
        )
        ends = [piece["text_end"] for piece in pieces]
        assert ends == sorted(ends)
        assert ends[-1] == len(WHOLE)
        assert call.of("response.output_text.done")[0]["text"] == WHOLE
        kinds = call.kinds()
        assert len(kinds) - 1 - kinds[::-1].index(SOUND) < kinds.index("response.output_text.done")


@pytest.mark.parametrize(("locale", "between"), [("en-US", " "), ("ja-JP", "")])
async def test_sentences_are_joined_as_their_language_joins_words_and_every_place_agrees(
    locale: str, between: str
) -> None:
    async with (
        gateway(lambda _: ORDER, handler, synthesizer=FakeSynthesizer()) as running,
        caller(running, locale=locale) as call,
    ):
        await asks_for_sound(call)
        await call.send(typed(ORDER))
        await call.next("response.done")
        whole = between.join(SENTENCES)
        assert "".join(event["delta"] for event in call.of("response.output_text.delta")) == whole
        assert call.of("response.output_text.done")[0]["text"] == whole
        ends = [piece["text_end"] for piece in call.of(SOUND)]
        assert {len(SENTENCES[0]), len(whole)} <= {*ends}
        assert ends[-1] == len(whole)


async def test_who_does_not_ask_is_sent_what_was_sent_before() -> None:
    voice = FakeSynthesizer(100)
    async with gateway(lambda _: ORDER, handler, synthesizer=voice) as running, caller(running, locale="en-US") as call:
        assert call.of("session.updated")[0]["session"]["output_modalities"] == ["text"]
        await call.send(typed(ORDER))
        await call.next("response.done")
        assert not call.of(SOUND)
        assert voice.spoken == []


async def test_without_a_voice_the_session_says_so() -> None:
    async with gateway(lambda _: ORDER, handler) as running, caller(running) as call:
        assert (await asks_for_sound(call))["output_modalities"] == ["text"]
        await call.send(typed(ORDER))
        await call.next("response.done")
        assert not call.of(SOUND)
        assert call.of("response.output_text.done")[0]["text"] == WHOLE


@pytest.mark.parametrize("modalities", [[], ["audio", "text"], ["smell"], "audio"])
async def test_other_modalities_are_refused(modalities: Any) -> None:
    async with gateway(lambda _: ORDER, handler, synthesizer=FakeSynthesizer()) as running, caller(running) as call:
        session = {"type": "realtime", "output_modalities": modalities}
        await call.send({"type": "session.update", "session": session, "event_id": "mine"})
        assert (await call.next("error"))["error"]["code"] == "malformed_message"


async def test_after_a_reply_is_cut_no_sound_of_it_follows() -> None:
    voice = FakeSynthesizer(100)
    voice.pause_s = 0.3
    async with gateway(lambda _: "no wait", handler, synthesizer=voice) as running, caller(running) as call:
        await asks_for_sound(call)
        await call.send(typed(ORDER))
        reply = (await call.next(SOUND))["response_id"]
        await call.say(line(clip("to_catherine"), 1.0))
        cut = await call.next("tellerline.reply.interrupted")
        assert (cut["response_id"], cut["reason"]) == (reply, "turn_detected")
        at = len(call.heard)
        for _ in ("it", "the answer to what was said over it"):
            await call.next("response.done")
        assert not [event for event in call.heard[at:] if event["type"] == SOUND and event["response_id"] == reply]
        assert running.handler.told("interrupted") == [reply]
        assert voice.open == 0, "no voice goes on speaking"


async def test_a_reply_that_was_played_in_full_is_heard() -> None:
    async with gateway(lambda _: "", handler, synthesizer=FakeSynthesizer(100)) as running, caller(running) as call:
        await asks_for_sound(call)
        await call.send(typed(ORDER))
        reply = (await call.next("response.done"))["response"]["id"]
        assert not running.handler.told("delivered")
        await reports(call, reply, "completed", played_ms=WORDS * 100)
        assert running.handler.told("delivered") == [reply]


@pytest.mark.parametrize("played_ms", [0, 300, WORDS * 100 - 1])
async def test_a_reply_of_which_less_was_played_is_not_heard(played_ms: int) -> None:
    async with gateway(lambda _: "", handler, synthesizer=FakeSynthesizer(100)) as running, caller(running) as call:
        await asks_for_sound(call)
        await call.send(typed(ORDER))
        reply = (await call.next("response.done"))["response"]["id"]
        await reports(call, reply, "completed", played_ms=played_ms)
        assert running.handler.told("delivered") == []
        assert running.handler.told("interrupted") == [reply]


async def test_an_estimating_client_has_heard_it_once_its_sound_is_over() -> None:
    voice = FakeSynthesizer(100)
    async with (
        gateway(lambda _: "", handler, synthesizer=voice) as running,
        caller(running, playback="estimated") as call,
    ):
        await asks_for_sound(call)
        await call.send(typed(ORDER))
        reply = (await call.next("response.done"))["response"]["id"]
        assert not running.handler.told("delivered")
        while not running.handler.told("delivered"):
            await call.for_a_while(0.2)
        assert running.handler.told("delivered") == [reply]


@pytest.mark.parametrize("fails_at", [0, 2])
async def test_where_the_voice_fails_the_words_go_out(fails_at: int) -> None:
    voice = FakeSynthesizer(20)
    voice.error, voice.fails_at = SpeechUnavailable(), fails_at
    async with gateway(lambda _: "", handler, synthesizer=voice) as running, caller(running) as call:
        await asks_for_sound(call)
        await call.send(typed(ORDER))
        assert (await call.next("response.done"))["response"]["status"] == "completed"
        assert call.of("response.output_text.done")[0]["text"] == WHOLE
        assert [event["text_end"] for event in call.of(SOUND)][-1:] != [len(WHOLE)]
        assert not call.of("error")


async def test_sound_and_words_can_be_had_in_turn() -> None:
    async with gateway(lambda _: "", handler, synthesizer=FakeSynthesizer(20)) as running, caller(running) as call:
        await asks_for_sound(call)
        await call.send(typed(ORDER))
        await reports(call, (await call.next("response.done"))["response"]["id"], "completed")
        spoken = len(call.of(SOUND))
        await call.send({"type": "session.update", "session": {"type": "realtime", "output_modalities": ["text"]}})
        await call.next("session.updated")
        await call.send(typed(ORDER))
        await call.next("response.done")
        assert spoken
        assert len(call.of(SOUND)) == spoken


async def test_our_own_callers_get_each_sound_with_its_place() -> None:
    async with gateway(lambda _: "", handler, synthesizer=FakeSynthesizer(20)) as running:
        base = running.url.replace("ws", "http", 1).removesuffix("/v1/calls")
        seen = []
        async with our_line(base, "any", session("en-US", spoken=True), live=False) as opened:
            await opened.send(typed(ORDER))
            async for event in opened.events():
                seen.append(event)
                if event["type"] == "response.done":
                    break
    sounds = [event for event in seen if event["type"] == SOUND]
    assert sum(len(event["data"]) for event in sounds) == WORDS * 20 * 32
    assert [round(len(event["data"]) / 32) for event in sounds] == [round(event["duration_ms"]) for event in sounds]


@pytest.mark.parametrize("voice", [FakeSynthesizer(20), None], ids=["a voice", "none"])
async def test_the_demonstration_says_whether_there_is_a_voice(voice: FakeSynthesizer | None) -> None:
    console, sound = Console(record=True, width=200, file=StringIO()), SpokenLength()
    async with gateway(lambda _: "", handler, synthesizer=voice) as running, caller(running) as call:
        await asks_for_sound(call)
        await call.send(typed(ORDER))
        await call.next("response.done")
        for event in call.heard:
            show(console, event)
            sound.note(event)
        sound.show(console)
    printed = console.export_text()
    assert ("replies are spoken" in printed) == (voice is not None)
    assert ("`make speech` brings a voice" in printed) == (voice is None)
    assert (f"{WORDS * 0.02:.1f} s" in printed) == (voice is not None)


async def test_a_japanese_payee_is_spoken_by_the_kana_of_the_book(tmp_path: Path) -> None:
    voice = FakeSynthesizer(20)
    async with (
        served(tmp_path, FakeRecognizer(lambda _: ""), voice=voice) as running,
        connect(running.calls, compression=None, additional_headers=running.token("takahashi-misaki")) as opened,
    ):
        call = Caller(opened)
        await call.next("session.created")
        await call.send(session("ja-JP", spoken=True))
        await call.next("session.updated")
        await call.send(typed("佐藤花子さんに五千円振り込んで"))
        read_back = await call.next("tellerline.readback")
        await call.next("response.done")
    assert read_back["payee_id"] == "sato-hanako"
    said = " ".join(voice.spoken)
    assert "サトウ ハナコ様" in said
    assert "花子" not in said
    assert "サトウ、ハナコ様、" in "".join(clause.words for clause in clauses(said, JA_JP))
