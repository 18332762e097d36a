"""Hostile and clumsy clients of WS /v1/realtime: the same crowd as that of WS /v1/calls, in another protocol."""

import base64
import random  # noqa: TID251 - seeded where it is used
from typing import Any

from tests.harness.fuzz_events import VALUES, WORDS, sound

FORMS = ({"type": "audio/pcm", "rate": 24000}, {"type": "audio/pcm"}, {"type": "audio/pcmu"}, {"type": "audio/pcma"})
ENDS = (None, {"type": "server_vad", "create_response": False}, {"type": "server_vad"}, {"type": "semantic_vad"})


def valid(rng: random.Random, replies: list[str]) -> dict[str, Any]:
    """An event of the protocol; `replies` are the ids of replies so far."""
    reply = rng.choice(replies) if replies and rng.random() < 0.8 else "nobody"
    item = f"item_{reply}" if rng.random() < 0.7 else rng.choice(["a", "b", "c"])
    event: dict[str, Any] = rng.choice(
        [
            lambda: {"type": "input_audio_buffer.append", "audio": base64.b64encode(sound(rng)).decode()},
            lambda: {"type": "input_audio_buffer.commit"},
            lambda: {"type": "output_audio_buffer.clear"},
            lambda: {"type": "conversation.item.create", "item": _item(rng)}
            | ({"previous_item_id": rng.choice(["root", item])} if rng.random() < 0.3 else {}),
            lambda: {"type": "conversation.item.truncate", "item_id": item, "content_index": 0, "audio_end_ms": 9},
            lambda: {"type": "conversation.item.delete", "item_id": item},
            lambda: {"type": "conversation.item.retrieve", "item_id": item},
            lambda: {"type": "response.create"},
            lambda: {"type": "response.create", "response": {"metadata": {"a": "b"}, "tools": WORDS}},
            lambda: {"type": "response.cancel"} | ({"response_id": reply} if rng.random() < 0.5 else {}),
            lambda: {"type": "session.update", "session": _settings(rng)},
            lambda: {"type": "tellerline.dtmf", "digit": rng.choice("0123456789*#ABCD")},
            lambda: {"type": "tellerline.playback", "response_id": reply, "state": "completed"},
        ]
    )()  # fmt: skip
    return event | ({"event_id": f"e{rng.randrange(99)}"} if rng.random() < 0.3 else {})


def _item(rng: random.Random) -> dict[str, Any]:
    words = rng.choice(WORDS)
    part = rng.choice(
        [
            {"type": "input_text", "text": words},
            {"type": "output_text", "text": words},
            {"type": "input_audio", "audio": "AAAA", "transcript": words},
            {"type": "input_image", "image_url": "data:,"},
        ]
    )
    role = rng.choice(["user", "user", "assistant", "system"])
    item: dict[str, Any] = rng.choice(
        [
            {"type": "message", "role": role, "content": [part] * rng.randrange(3)},
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": words}]},
            {"type": "function_call", "call_id": "k", "name": "confirm", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "k", "output": words},
        ]
    )
    return item | ({"id": rng.choice(["a", "b", "c", "x" * 128])} if rng.random() < 0.3 else {})


def _settings(rng: random.Random) -> dict[str, Any]:
    given: dict[str, Any] = rng.choice(
        [
            {"audio": {"input": {"format": rng.choice(FORMS)}}},
            {"audio": {"input": {"turn_detection": rng.choice(ENDS)}}},
            {"audio": {"input": {"transcription": rng.choice([None, {"language": "ja"}, {"language": "xx"}])}}},
            {"audio": {"output": {"format": rng.choice(FORMS), "voice": "marin", "speed": 1.5}}},
            {"instructions": rng.choice(WORDS), "tools": [rng.choice(VALUES)], "model": "gpt-realtime"},
            {"tellerline": {"events": rng.random() < 0.5, "playback": rng.choice(["acknowledged", "estimated"])}},
        ]
    )
    return {"type": "realtime"} | given
