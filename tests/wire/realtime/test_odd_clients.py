"""What clients of the Realtime API do that is odd and allowed: the call goes on, and money keeps its walls."""

import base64
from pathlib import Path

import numpy as np
import pytest

from schemas.audio import SAMPLE_RATE, Samples
from tests.fakes.synthesizer import FakeSynthesizer
from tests.harness.gateway import clip, line
from tests.harness.realtime import Event, Realtime, Talk, at_24k, realtime, talking, text_item, told
from tests.wire.realtime.test_money_walls import BOOKED, ORDER, READ_BACK, ordered, states

PUSH = {"type": "realtime", "audio": {"input": {"turn_detection": None}}}
SURVIVED: dict[str, tuple[Event, str | None]] = {
    "cancel of nothing": ({"type": "response.cancel"}, "response_cancel_not_active"),
    "commit of nothing": ({"type": "input_audio_buffer.commit"}, None),
    "truncation of nobody": (
        {"type": "conversation.item.truncate", "item_id": "item_x", "content_index": 0, "audio_end_ms": 10},
        "item_truncate_invalid_item_id",
    ),
    "deletion of nobody": (
        {"type": "conversation.item.delete", "item_id": "item_x"},
        "item_delete_invalid_item_id",
    ),
    "an item behind nobody": (
        {"type": "conversation.item.create", "previous_item_id": "item_x", "item": text_item("user", "hello")},
        "item_create_invalid_previous_item_id",
    ),
    "an item": ({"type": "conversation.item.create", "item": text_item("user", "hello", id="item_u")}, None),
    "truncation of the user": (
        {"type": "conversation.item.truncate", "item_id": "item_u", "content_index": 0, "audio_end_ms": 0},
        "unsupported_content_type",
    ),
    "deletion": ({"type": "conversation.item.delete", "item_id": "item_u"}, None),
    "a second deletion": ({"type": "conversation.item.delete", "item_id": "item_u"}, "item_delete_invalid_item_id"),
    "sound in lines": ({"type": "input_audio_buffer.append", "audio": "AAAA\r\nAAAA\n"}, None),
    "sound without padding": ({"type": "input_audio_buffer.append", "audio": "AAA"}, None),
    "retrieval of nobody": (
        {"type": "conversation.item.retrieve", "item_id": "item_x"},
        "item_retrieve_invalid_item_id",
    ),
    "WebRTC's clear": ({"type": "output_audio_buffer.clear"}, None),
    "a beta session": (
        {
            "type": "session.update",
            "session": {"modalities": ["text"], "voice": "alloy", "input_audio_format": "pcm16"},
        },
        None,
    ),
    "a future event": ({"type": "session.teleport", "where": "here"}, "unknown_event"),
    "sound that is no base64": ({"type": "input_audio_buffer.append", "audio": "%%%"}, "malformed_audio"),
}
"""What clients send, and the error that they are told: some take any for the end of the call."""


async def test_what_can_not_be_done_is_told_by_its_event_or_let_through_and_the_call_goes_on(tmp_path: Path) -> None:
    async with realtime(tmp_path) as running, talking(running) as talk:
        told_of: dict[str, list[tuple[str, str]]] = {}
        for name, (event, _) in SURVIVED.items():
            await talk.send(event | {"event_id": f"evt {name}"})
            errors = [one["error"] for one in await talk.settled() if one["type"] == "error"]
            told_of[name] = [(error["code"], error["event_id"]) for error in errors]
        assert told_of == {name: [(code, f"evt {name}")] if code else [] for name, (_, code) in SURVIVED.items()}
        assert "session.updated" in talk.kinds()
        await talk.ask()
        await talk.next("response.done")  # items were added: what is typed now is a new beginning
        assert READ_BACK in await talk.type(ORDER)


async def heard(running: Realtime, talk: Talk, said: Samples, step: int = 4_800) -> Samples:
    """What the ear gets of an utterance that is sent in pieces of `step` bytes, and committed."""
    pcm = at_24k(said)
    for at in range(0, len(pcm), step):
        await talk.line.input_audio_buffer.append(audio=base64.b64encode(pcm[at : at + step]).decode())
    await talk.send({"type": "input_audio_buffer.commit"})
    await talk.next("conversation.item.input_audio_transcription.completed")
    return running.ear.heard[-1]


async def test_samples_cut_in_two_between_appends_are_whole(tmp_path: Path) -> None:
    found = []
    async with realtime(tmp_path) as running:
        for step in (4_800, 4_801, 333):
            async with talking(running) as talk:
                await talk.send({"type": "session.update", "session": PUSH})
                found.append(await heard(running, talk, clip("yes"), step))
    whole, *cut = found
    for one in cut:
        assert one.shape == whole.shape
        assert np.abs(one - whole).max() < 0.01


async def test_what_was_cleared_is_not_heard_also_right_before_words(tmp_path: Path) -> None:
    async with realtime(tmp_path) as running:
        async with talking(running) as talk:
            await talk.send({"type": "session.update", "session": PUSH})
            alone = await heard(running, talk, clip("yes"))
        async with talking(running) as talk:
            await talk.send({"type": "session.update", "session": PUSH})
            await talk.say(clip("to_catherine"))
            await talk.settled()
            behind = await heard(running, talk, clip("yes"))
    assert len(behind) <= len(alone) + SAMPLE_RATE // 20


async def test_an_item_that_is_there_already_is_refused_and_stays(tmp_path: Path) -> None:
    async with realtime(tmp_path) as running, talking(running) as talk:
        item = text_item("user", "hello", id="item_twice")
        for _ in range(2):
            await talk.send({"type": "conversation.item.create", "item": item, "event_id": "evt_1"})
        assert "error" in [event["type"] for event in await talk.settled()]
        await talk.send({"type": "conversation.item.retrieve", "item_id": "item_twice"})
        assert (await talk.next("conversation.item.retrieved"))["item"]["id"] == "item_twice"


async def test_a_second_reply_asked_for_at_once_is_refused_not_queued_twice(tmp_path: Path) -> None:
    async with realtime(tmp_path) as running, told(running) as talk:
        await talk.ask(text_item("user", ORDER))
        await talk.send({"type": "response.create"})
        await talk.send({"type": "response.create"})
        await talk.next("response.done")
        await talk.settled()
        assert await states(running) == ["proposed"]


async def test_push_to_talk_over_a_read_back_that_was_not_heard_is_no_consent(tmp_path: Path) -> None:
    async with realtime(tmp_path) as running, told(running) as talk:
        await talk.send({"type": "session.update", "session": PUSH})
        await ordered(talk, heard=False)
        running.ear.says = "yes"
        await talk.say(line(0.2, clip("yes"), 0.3))
        await talk.send({"type": "input_audio_buffer.commit"})
        await talk.ask()
        assert READ_BACK in talk.words(await talk.next("response.done"))
        assert await states(running) == ["proposed"]


async def spoken_order(talk: Talk) -> Event:
    """An order is typed, and its read-back begins to sound; its item."""
    await talk.ask(text_item("user", ORDER))
    return await talk.next("response.output_audio.delta")


@pytest.mark.parametrize("end_ms", [0, 300])
async def test_a_read_back_truncated_while_it_sounds_is_not_agreed_to(tmp_path: Path, end_ms: int) -> None:
    async with realtime(tmp_path, voice=FakeSynthesizer(60)) as running, talking(running) as talk:
        began = await spoken_order(talk)
        await talk.next("response.done")
        cut = {"item_id": began["item_id"], "content_index": 0, "audio_end_ms": end_ms}
        await talk.send({"type": "conversation.item.truncate"} | cut)
        await talk.next("conversation.item.truncated")
        assert READ_BACK in await talk.type("yes")
        assert await states(running) == ["proposed"]


async def test_a_truncation_behind_the_end_is_an_error_and_changes_nothing(tmp_path: Path) -> None:
    async with realtime(tmp_path) as running, told(running) as talk:
        item = await ordered(talk)
        cut = {"item_id": item, "content_index": 0, "audio_end_ms": 10_000_000, "event_id": "evt_far"}
        await talk.send({"type": "conversation.item.truncate"} | cut)
        await talk.settled()
        words = await talk.type("yes")
        assert (BOOKED in words) is (await states(running) == ["succeeded"])
        assert BOOKED in words or READ_BACK in words
