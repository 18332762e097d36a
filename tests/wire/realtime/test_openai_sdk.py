"""WS /v1/realtime through the OpenAI Python SDK: a turn, its settings, its sound, its items, and what stops a reply."""

import asyncio
import base64
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from schemas.audio import SAMPLE_RATE, AudioFormat, Encoding, Samples
from services.audio.codec import decode
from tests.harness.calls import calling
from tests.harness.gateway import clip, line
from tests.harness.realtime import Event, Talk, at_24k, realtime, talking, text_item

LADDER = [
    "input_audio_buffer.speech_started",
    "input_audio_buffer.speech_stopped",
    "input_audio_buffer.committed",
    "conversation.item.added",
    "conversation.item.done",
    "conversation.item.input_audio_transcription.delta",
    "conversation.item.input_audio_transcription.completed",
    "response.created",
    "response.output_item.added",
    "conversation.item.added",
    "response.content_part.added",
    "response.output_text.delta",
    "response.output_text.done",
    "response.content_part.done",
    "conversation.item.done",
    "response.output_item.done",
    "response.done",
]
PCM: Event = {"type": "audio/pcm", "rate": 24000}
WORDS: Event = {"model": "gpt-4o-mini-transcribe"}
SEMANTIC: Event = {"type": "semantic_vad", "eagerness": "medium", "create_response": True, "interrupt_response": True}
SPOKEN: Event = {"format": PCM, "speed": 1.0, "voice": "marin"}
TOOL: Event = {"type": "function", "name": "transfer", "description": "…", "parameters": {"type": "object"}}
UPDATES: dict[str, Event] = {
    "pipecat": {"type": "realtime", "model": "gpt-realtime-2.1", "instructions": "You are a bank.", "tools": [TOOL]},
    "livekit": {
        "type": "realtime",
        "model": "gpt-realtime",
        "output_modalities": ["audio"],
        "audio": {
            "input": {"format": PCM, "noise_reduction": None, "transcription": WORDS, "turn_detection": SEMANTIC},
            "output": SPOKEN,
        },
        "max_output_tokens": "inf",
        "tool_choice": "auto",
        "tracing": None,
    },
    "openai-agents": {
        "type": "realtime",
        "model": "gpt-realtime-2.1",
        "output_modalities": ["audio"],
        "instructions": "",
        "tools": [],
        "audio": {
            "input": {
                "format": PCM,
                "transcription": WORDS,
                "turn_detection": {"type": "semantic_vad", "interrupt_response": True},
            },
            "output": {"format": PCM, "voice": "ash"},
        },
    },
    "openai-agents, tracing": {"type": "realtime", "tracing": "auto"},
    "@openai/agents": {
        "type": "realtime",
        "model": "gpt-realtime-2.1",
        "output_modalities": ["audio"],
        "instructions": "",
        "audio": {
            "input": {
                "format": PCM,
                "noise_reduction": None,
                "transcription": WORDS,
                "turn_detection": {"type": "semantic_vad"},
            },
            "output": {"format": PCM, "speed": 1},
        },
    },
    "of tomorrow": {"type": "realtime", "holograms": {"depth": 3}, "audio": {"input": {"smell": 1}}, "reasoning": None},
}


async def test_a_whole_turn_is_the_ladder_that_clients_climb(quick_folder: Path) -> None:
    async with realtime(quick_folder) as running, talking(running) as talk:
        await talk.say(line(0.5, clip("balance"), 1.0))
        done = await talk.next("response.done")
        assert talk.kinds()[1:] == LADDER
        assert "checking" in talk.words(done)
        added = talk.of("conversation.item.added")
        assert [item["item"]["role"] for item in added] == ["user", "assistant"]
        assert added[1]["previous_item_id"] == added[0]["item"]["id"]
        assert done["response"]["metadata"]["tellerline.awaits"] == "nothing"
        assert talk.of("conversation.item.input_audio_transcription.completed")[0]["transcript"] == "what's my balance"
        assert [event["event_id"] for event in talk.heard] == [f"event_{n + 1}" for n in range(len(talk.heard))]


@pytest.mark.parametrize("name", UPDATES)
async def test_the_settings_that_each_client_sends_are_answered_once(name: str, quick_folder: Path) -> None:
    async with realtime(quick_folder) as running, talking(running) as talk:
        await talk.send({"type": "session.update", "session": UPDATES[name]})
        (updated,) = await talk.settled()
        assert updated["type"] == "session.updated"
        session = updated["session"]
        assert session["audio"]["input"]["format"] == session["audio"]["output"]["format"] == PCM
        assert session["audio"]["input"]["turn_detection"]["interrupt_response"] is True
        assert (session["output_modalities"], session["instructions"], session["tools"]) == (["text"], "", [])


async def test_sound_is_24_khz_where_nobody_says_so(quick_folder: Path) -> None:
    said = line(0.5, clip("balance"), 1.0)
    tone = 0.05 * np.sin(2 * np.pi * 1_000 * np.arange(said.size) / SAMPLE_RATE).astype(np.float32)
    async with realtime(quick_folder) as running:
        async with talking(running) as talk:
            await talk.say(said)
            stopped = await talk.next("input_audio_buffer.speech_stopped")
            await talk.next("response.done")
        async with calling(running, "alex-morgan", "en-US") as native:
            await native.say(said)
            expected = await native.next("input_audio_buffer.speech_stopped")
            await native.next("response.done")
        assert abs(stopped["audio_end_ms"] - expected["audio_end_ms"]) <= 20
        seconds = [samples.size / SAMPLE_RATE for samples in running.ear.heard]
        assert abs(seconds[0] - seconds[-1]) < 0.1
        async with talking(running) as talk:
            await talk.say(said + tone)
            await talk.send({"type": "input_audio_buffer.commit"})
            await talk.next("response.done")
        heard = running.ear.heard[-1]
        spectrum = np.abs(np.fft.rfft(heard * np.hanning(heard.size)))
        assert abs(np.argmax(spectrum) * SAMPLE_RATE / heard.size - 1_000) < 5


def companded(samples: Samples, encoding: Encoding) -> bytes:
    """G.711 by the nearest of its 256 values."""
    values = decode(bytes(range(256)), AudioFormat(encoding, 8_000))
    order = np.argsort(values)
    nearest = np.searchsorted(values[order], samples).clip(0, 255)
    return bytes(order[nearest].astype(np.uint8))


@pytest.mark.parametrize("law", ["pcmu", "pcma"])
async def test_a_telephone_sends_g711(law: str, quick_folder: Path) -> None:
    async with realtime(quick_folder) as running, talking(running) as talk:
        form = {"type": f"audio/{law}"}
        await talk.send(
            {"type": "session.update", "session": {"type": "realtime", "audio": {"input": {"format": form}}}}
        )
        assert (await talk.next("session.updated"))["session"]["audio"]["input"]["format"] == form
        sent = companded(line(0.5, clip("balance"), 1.0)[::2], Encoding.MULAW if law == "pcmu" else Encoding.ALAW)
        for at in range(0, len(sent), 160):
            await talk.line.input_audio_buffer.append(audio=base64.b64encode(sent[at : at + 160]).decode())
        assert "checking" in talk.words(await talk.next("response.done"))


async def test_a_format_that_would_be_noise_is_refused_and_changes_nothing(quick_folder: Path) -> None:
    wrong: list[Event] = [{"type": "audio/pcm", "rate": 16000}, {"type": "audio/opus"}]
    async with realtime(quick_folder) as running, talking(running) as talk:
        for form in wrong:
            update = {"type": "realtime", "audio": {"input": {"format": form, "transcription": None}}}
            await talk.send({"type": "session.update", "session": update, "event_id": "mine"})
            error = (await talk.next("error"))["error"]
            assert (error["param"], error["event_id"]) == ("session.audio.input.format", "mine")
        await talk.send({"type": "session.update", "session": {"type": "realtime"}})
        assert (await talk.next("session.updated"))["session"]["audio"]["input"]["transcription"] is not None


async def test_samples_may_be_cut_in_two(quick_folder: Path) -> None:
    async with realtime(quick_folder) as running, talking(running) as talk:
        pcm = at_24k(line(0.5, clip("balance"), 1.0))
        for at in range(0, len(pcm), 4_801):
            await talk.line.input_audio_buffer.append(audio=base64.b64encode(pcm[at : at + 4_801]).decode())
        assert "checking" in talk.words(await talk.next("response.done"))
        assert not talk.of("error")


async def test_the_first_word_is_said_where_it_is_asked_for(quick_folder: Path) -> None:
    async with realtime(quick_folder) as running, talking(running) as talk:
        await talk.ask(metadata={"client_event_id": "one"})
        done = await talk.next("response.done")
        assert talk.words(done).startswith("Hello")
        assert talk.of("response.created")[0]["response"]["metadata"]["client_event_id"] == "one"
        assert done["response"]["metadata"]["client_event_id"] == "one"
        await talk.ask(metadata={"client_event_id": "two"})
        again = (await talk.next("response.done"))["response"]
        assert (again["output"], again["status"], again["metadata"]["client_event_id"]) == ([], "completed", "two")


async def test_the_language_is_that_of_the_transcription(quick_folder: Path) -> None:
    japanese = {"input": {"transcription": {"model": "whisper-1", "language": "ja"}}}
    async with realtime(quick_folder) as running:
        async with talking(running, "takahashi-misaki") as talk:
            await talk.send({"type": "session.update", "session": {"type": "realtime", "audio": japanese}})
            session = (await talk.next("session.updated"))["session"]
            assert session["tellerline"]["locale"] == "ja-JP"
            assert "円" in await talk.type("残高を教えて")
        async with talking(running, "takahashi-misaki", locale="ja-JP") as talk:
            await talk.ask()
            assert "アシスタント" in talk.words(await talk.next("response.done"))


async def test_without_a_language_it_is_the_customers_own(quick_folder: Path) -> None:
    async with realtime(quick_folder) as running, talking(running, "takahashi-misaki") as talk:
        (began,) = talk.of("session.created")
        assert began["session"]["tellerline"]["locale"] == "ja-JP"
        assert "円" in await talk.type("残高を教えて")


async def test_items_are_created_shown_and_taken_out(quick_folder: Path) -> None:
    async with realtime(quick_folder) as running, talking(running) as talk:
        for name, after in (("b", None), ("a", "root"), ("c", "b")):
            item = text_item("user", name, id=name)
            more = {"previous_item_id": after} if after else {}
            await talk.send({"type": "conversation.item.create", "item": item} | more)
        await talk.settled()
        added = {event["item"]["id"]: event["previous_item_id"] for event in talk.of("conversation.item.added")}
        assert added == {"b": None, "a": None, "c": "b"}
        await talk.send({"type": "conversation.item.create", "item": text_item("user", "x", id="a"), "event_id": "e1"})
        error = (await talk.next("error"))["error"]
        assert (error["code"], error["event_id"]) == ("item_create_duplicate_item_id", "e1")
        await talk.send({"type": "conversation.item.retrieve", "item_id": "c", "event_id": "e2"})
        assert (await talk.next("conversation.item.retrieved"))["item"]["content"][0]["text"] == "c"
        await talk.send({"type": "conversation.item.delete", "item_id": "c"})
        assert (await talk.next("conversation.item.deleted"))["item_id"] == "c"
        await talk.send({"type": "conversation.item.retrieve", "item_id": "c", "event_id": "e3"})
        error = (await talk.next("error"))["error"]
        assert (error["code"], error["event_id"]) == ("item_retrieve_invalid_item_id", "e3")
        assert not talk.of("response.created"), "no item starts a reply"


async def test_every_kind_of_item_is_taken_and_shown_in_parts_that_fit(quick_folder: Path) -> None:
    items: list[Event] = [
        text_item("system", "be kind", id="s"),
        {"type": "message", "role": "user", "id": "u", "content": [
            {"type": "input_image", "image_url": "data:image/png;base64,AA=="},
            {"type": "input_audio", "audio": "AAAA", "transcript": "hi"}, {"type": "input_text", "text": "there"}]},
        text_item("assistant", "hello", id="a"),
        {"type": "function_call", "id": "f", "call_id": "k", "name": "n", "arguments": "{}"},
        {"type": "function_call_output", "id": "o", "call_id": "k", "output": "yes"},
    ]  # fmt: skip
    async with realtime(quick_folder) as running, talking(running) as talk:
        for item in items:
            await talk.send({"type": "conversation.item.create", "item": item})
        await talk.settled()
        added = [event["item"] for event in talk.of("conversation.item.added")]
        assert [item["id"] for item in added] == ["s", "u", "a", "f", "o"]
        kinds = [[part["type"] for part in item.get("content", ())] for item in added]
        assert kinds == [["input_text"], ["input_audio", "input_text"], ["output_text"], [], []]


async def test_what_the_caller_says_can_be_retrieved_with_its_words(quick_folder: Path) -> None:
    async with realtime(quick_folder) as running, talking(running) as talk:
        await talk.say(line(0.5, clip("balance"), 1.0))
        await talk.next("response.done")
        item = talk.of("input_audio_buffer.committed")[0]["item_id"]
        await talk.send({"type": "conversation.item.retrieve", "item_id": item})
        shown = (await talk.next("conversation.item.retrieved"))["item"]
        assert shown["content"] == [{"type": "input_audio", "transcript": "what's my balance"}]


async def test_words_are_not_told_to_whom_did_not_want_them(quick_folder: Path) -> None:
    quiet = {"type": "realtime", "audio": {"input": {"transcription": None}}}
    async with realtime(quick_folder) as running, talking(running) as talk:
        await talk.send({"type": "session.update", "session": quiet})
        await talk.say(line(0.5, clip("balance"), 1.0))
        await talk.next("response.done")
        assert not [kind for kind in talk.kinds() if "transcription" in kind]
        assert "balance" not in str(talk.of("conversation.item.done")[0])


async def test_what_is_not_known_or_does_not_fit_is_survived(quick_folder: Path) -> None:
    odd: list[Event] = [
        {"type": "transcription_session.update", "session": {}},
        {"type": "input_audio_buffer.commit"},
        {"type": "output_audio_buffer.clear"},
    ]
    async with realtime(quick_folder) as running, talking(running) as talk:
        for event in odd:
            await talk.send(event)
        assert await talk.settled() == []
        await talk.send({"type": "response.cancel", "event_id": "c"})
        error = (await talk.next("error"))["error"]
        assert (error["code"], error["event_id"]) == ("response_cancel_not_active", "c")
        assert error["message"].startswith("Cancellation failed")
        await talk.ask(conversation="none", metadata={"topic": "x"})
        aside = (await talk.next("response.done"))["response"]
        assert (aside["output"], aside["conversation_id"], aside["metadata"]["topic"]) == ([], None, "x")
        assert "checking" in await talk.type("what's my balance")


@pytest.mark.parametrize(
    ("sent", "param"),
    [
        ('{"type":"session.update","session":{"audio":7},"event_id":"mine"}', "session.audio"),
        ('{"type":"input_audio_buffer.append","audio":"@@@","event_id":"mine"}', None),
        ('{"type":"conversation.item.create","item":{"type":"dance"},"event_id":"mine"}', "item.type"),
        ('{"type":"conversation.item.create","item":{"type":"message"},"event_id":"mine"}', "item.role"),
        ('{"type":"response.create","response":{"metadata":{"a":1}},"event_id":"mine"}', "response.metadata"),
    ],
)
async def test_what_is_malformed_is_answered_with_the_protocols_own_error(
    sent: str, param: str | None, quick_folder: Path
) -> None:
    async with realtime(quick_folder) as running, talking(running) as talk:
        await talk.line.send_raw(sent)
        error = (await talk.next("error"))["error"]
        assert (error["type"], error["param"], error["event_id"]) == ("invalid_request_error", param, "mine")
        assert "@@@" not in str(error)
        assert "dance" not in str(error)
        assert "checking" in await talk.type("what's my balance")


async def test_our_own_events_come_to_those_who_ask(quick_folder: Path) -> None:
    async with realtime(quick_folder) as running:
        async with talking(running) as plain:
            await plain.say(line(0.5, clip("balance"), 1.0))
            await plain.next("response.done")
            await plain.settled()
            assert not [kind for kind in plain.kinds() if kind.startswith("tellerline.")]
        async with talking(running, tellerline_events="1") as asked:
            await asked.say(line(0.5, clip("balance"), 1.0))
            await asked.next("tellerline.timings")
            assert {"tellerline.decision", "tellerline.turn.ended"} <= set(asked.kinds())
            inside = asked.kinds()
            ladder = inside[inside.index("response.output_item.added") : inside.index("response.done")]
            assert not [kind for kind in ladder if kind.startswith("tellerline.")]
        async with talking(running) as later:
            await later.send({"type": "session.update", "session": {"tellerline": {"events": True}}})
            await later.send({"type": "tellerline.dtmf", "digit": "#"})
            await later.next("input_audio_buffer.dtmf_event_received")


async def by_hand(talk: Talk) -> None:
    """Turns end by the client's word alone."""
    manual: dict[str, Any] = {"type": "realtime", "audio": {"input": {"turn_detection": None}}}
    await talk.send({"type": "session.update", "session": manual})
    assert (await talk.next("session.updated"))["session"]["audio"]["input"]["turn_detection"] is None


async def test_without_turn_detection_the_client_commits_and_asks(quick_folder: Path) -> None:
    async with realtime(quick_folder) as running, talking(running) as talk:
        await by_hand(talk)
        await talk.say(line(0.5, clip("balance"), 3.0))
        await talk.settled_without_clearing()
        assert "input_audio_buffer.committed" not in talk.kinds()
        await talk.send({"type": "input_audio_buffer.commit"})
        await talk.next("conversation.item.input_audio_transcription.completed")
        assert not talk.of("response.created")
        await talk.ask()
        assert "checking" in talk.words(await talk.next("response.done"))
        await talk.say(line(0.5, clip("balance"), 0.2))
        await talk.send({"type": "input_audio_buffer.commit"})
        await talk.ask(metadata={"n": "2"})
        done = await talk.next("response.done")
        assert "checking" in talk.words(done)
        assert done["response"]["metadata"]["n"] == "2"
        await talk.say(line(0.4))
        await talk.send({"type": "input_audio_buffer.commit"})
        await talk.next("input_audio_buffer.committed")
        await talk.ask()
        assert talk.words(await talk.next("response.done")) == ""


async def test_a_reply_can_be_left_to_be_asked_for(quick_folder: Path) -> None:
    held = {
        "type": "realtime",
        "audio": {"input": {"turn_detection": {"type": "server_vad", "create_response": False}}},
    }
    async with realtime(quick_folder) as running, talking(running) as talk:
        await talk.send({"type": "session.update", "session": held})
        detection = (await talk.next("session.updated"))["session"]["audio"]["input"]["turn_detection"]
        assert (detection["create_response"], detection["silence_duration_ms"]) == (False, 500)
        await talk.say(line(0.5, clip("balance"), 1.0))
        await talk.next("conversation.item.input_audio_transcription.completed")
        await asyncio.sleep(0.3)
        assert not [event for event in await talk.settled() if event["type"].startswith("response.")]
        await talk.ask()
        assert "checking" in talk.words(await talk.next("response.done"))


async def test_a_busy_reply_is_not_asked_for_twice(quick_folder: Path) -> None:
    async with realtime(quick_folder) as running, talking(running) as talk:
        await talk.ask()
        await talk.next("response.created")
        await talk.send({"type": "response.create", "event_id": "again"})
        await talk.next("response.done")
        await talk.settled()
        told = [event["error"]["code"] for event in talk.of("error")]
        assert told in ([], ["conversation_already_has_active_response"])
        assert len(talk.of("response.done")) == (1 if told else 2)
