"""Replies in our voice: the sound's ladder, what is cut of it, and what counts as heard."""

import base64
from typing import Any

import numpy as np
import pytest

from schemas.errors import SpeechUnavailable
from tests.fakes.synthesizer import FakeSynthesizer
from tests.harness.gateway import clip, gateway, line
from tests.harness.read_back import ORDER, WHOLE, WORDS, handler
from tests.harness.realtime import Talk, talking_to, text_item

LADDER = [
    "response.created",
    "response.output_item.added",
    "conversation.item.added",
    "response.content_part.added",
    "response.output_audio.done",
    "response.output_audio_transcript.done",
    "response.content_part.done",
    "conversation.item.done",
    "response.output_item.done",
    "response.done",
]


def sound_of(talk: Talk) -> bytes:
    return b"".join(base64.b64decode(event["delta"]) for event in talk.of("response.output_audio.delta"))


async def ordered(talk: Talk) -> dict[str, Any]:
    await talk.ask(text_item("user", ORDER))
    done: dict[str, Any] = (await talk.next("response.done"))["response"]
    return done


async def test_a_reply_is_spoken_with_its_words() -> None:
    voice = FakeSynthesizer(20)
    async with gateway(lambda _: ORDER, handler, synthesizer=voice) as running, talking_to(running) as talk:
        assert talk.heard[0]["session"]["output_modalities"] == ["audio"]
        done = await ordered(talk)
        kinds = [kind for kind in talk.kinds() if kind in LADDER and kind.startswith("response.")]
        assert kinds == [kind for kind in LADDER if kind.startswith("response.")]
        assert len(sound_of(talk)) == WORDS * 20 * 48
        assert talk.of("response.output_audio_transcript.done")[0]["transcript"] == WHOLE
        assert "".join(event["delta"] for event in talk.of("response.output_audio_transcript.delta")) == WHOLE
        assert done["output"][0]["content"] == [{"type": "output_audio", "transcript": WHOLE}]
        assert done["output_modalities"] == ["audio"]


async def test_who_wants_words_gets_words() -> None:
    voice = FakeSynthesizer(20)
    async with gateway(lambda _: ORDER, handler, synthesizer=voice) as running, talking_to(running) as talk:
        await talk.send({"type": "session.update", "session": {"type": "realtime", "output_modalities": ["text"]}})
        assert (await talk.next("session.updated"))["session"]["output_modalities"] == ["text"]
        await talk.settled()
        assert (await ordered(talk))["output"][0]["content"] == [{"type": "output_text", "text": WHOLE}]
        assert voice.spoken == []


@pytest.mark.parametrize(("rate", "law"), [(24_000, "pcmu"), (16_000, "pcma")])
async def test_a_telephone_gets_g711(rate: int, law: str) -> None:
    voice = FakeSynthesizer(100, rate)
    async with gateway(lambda _: ORDER, handler, synthesizer=voice) as running, talking_to(running) as talk:
        output = {"output": {"format": {"type": f"audio/{law}"}}}
        await talk.send({"type": "session.update", "session": {"type": "realtime", "audio": output}})
        await talk.next("session.updated")
        await ordered(talk)
        assert abs(len(sound_of(talk)) - WORDS * 100 * 8) <= 8
        assert max(len(base64.b64decode(e["delta"])) for e in talk.of("response.output_audio.delta")) <= 1_600


async def test_what_is_spoken_over_is_cut() -> None:
    voice = FakeSynthesizer(100)
    voice.pause_s = 0.3
    async with gateway(lambda _: "no wait", handler, synthesizer=voice) as running, talking_to(running) as talk:
        await talk.ask(text_item("user", ORDER))
        await talk.next("response.output_audio.delta")
        await talk.say(line(clip("to_catherine"), 1.0))
        done = (await talk.next("response.done"))["response"]
        assert (done["status"], done["status_details"]["reason"]) == ("cancelled", "turn_detected")
        assert len(voice.spoken) < WORDS
        await talk.next("response.done")
        assert running.handler.told("interrupted") == [done["id"]]
        assert voice.open == 0, "no voice goes on speaking"


async def test_it_is_heard_once_its_sound_is_over() -> None:
    voice = FakeSynthesizer(100)
    async with gateway(lambda _: ORDER, handler, synthesizer=voice) as running, talking_to(running) as talk:
        done = await ordered(talk)
        assert not running.handler.told("delivered")
        for _ in range(10):
            await talk.settled_without_clearing()
        assert running.handler.told("delivered") == [done["id"]]


@pytest.mark.parametrize(("ms", "words"), [(10_000, WHOLE), (250, "Send fifty"), (0, "")])
async def test_a_truncation_tells_what_was_heard(ms: int, words: str) -> None:
    voice = FakeSynthesizer(100)
    async with gateway(lambda _: ORDER, handler, synthesizer=voice) as running, talking_to(running) as talk:
        done = await ordered(talk)
        item = done["output"][0]["id"]
        truncate = {"type": "conversation.item.truncate", "item_id": item, "content_index": 0, "audio_end_ms": ms}
        await talk.send(truncate)
        assert (await talk.next("conversation.item.truncated"))["audio_end_ms"] == min(ms, WORDS * 100)
        await talk.send({"type": "conversation.item.retrieve", "item_id": item})
        shown = (await talk.next("conversation.item.retrieved"))["item"]
        assert shown["content"] == [{"type": "output_audio", "transcript": words}]
        await talk.settled_without_clearing()
        assert running.handler.told("interrupted") == ([] if words == WHOLE else [done["id"]])


@pytest.mark.parametrize("fails_at", [0, 2])
async def test_without_a_voice_the_words_go_out_and_are_not_taken_for_heard(fails_at: int) -> None:
    voice = FakeSynthesizer(20)
    voice.error, voice.fails_at = SpeechUnavailable(), fails_at
    async with gateway(lambda _: ORDER, handler, synthesizer=voice) as running, talking_to(running) as talk:
        done = await ordered(talk)
        assert done["status"] == "completed"
        assert done["output"][0]["content"][0]["transcript"] == WHOLE
        for _ in range(6):
            await talk.settled_without_clearing()
        assert not running.handler.told("delivered")
        assert not talk.of("error")


async def test_a_long_reply_is_given_out_a_little_ahead_alone() -> None:
    voice = FakeSynthesizer(2_000)
    async with gateway(lambda _: ORDER, handler, synthesizer=voice) as running, talking_to(running) as talk:
        await talk.ask(text_item("user", ORDER))
        await talk.next("response.output_audio.delta")
        await talk.settled_without_clearing()
        assert len(sound_of(talk)) / 48_000 <= 8
        await talk.send({"type": "response.cancel"})
        await talk.next("response.done")
        peak = np.abs(np.frombuffer(sound_of(talk), dtype="<i2")).max()
        assert 11_000 < peak < 13_000
