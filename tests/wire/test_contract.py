"""The wire's schemas against their documents: AsyncAPI is current, and OpenAI's own types read our events."""

import shutil
import subprocess
from pathlib import Path
from typing import Any

import orjson
import pytest
from jsonschema import Draft202012Validator
from openai.types.realtime import RealtimeServerEvent
from pydantic import TypeAdapter

from app.client import typed
from app.transports.asyncapi import document
from schemas.turn import Completeness
from schemas.wire import parse_client_event
from tests.fakes.turn_handler import FakeTurnHandler
from tests.harness.gateway import caller, clip, gateway, line

DOCUMENT = Path(__file__).parents[2] / "deploy/asyncapi.json"
TEXT = "what's my balance"


async def a_whole_call() -> list[dict[str, Any]]:
    """Every kind of event that a plain call holds."""
    handler = FakeTurnHandler(judgements={TEXT: Completeness.COMPLETE})
    async with gateway(lambda _: TEXT, lambda: handler) as running, caller(running, playback="acknowledged") as call:
        await call.say(line(0.5, clip("balance"), 1.0))
        await call.next("tellerline.timings")
        await call.socket.send('{"type": "nonsense"}')
        await call.send({"type": "tellerline.dtmf", "digit": "5"})
        await call.send({"type": "tellerline.dtmf", "digit": "#"})
        await call.next("tellerline.timings")
        await call.send({"type": "input_audio_buffer.clear"})
        await call.next("input_audio_buffer.cleared")
        return call.heard


def test_the_asyncapi_document_is_current() -> None:
    assert orjson.loads(DOCUMENT.read_bytes()) == orjson.loads(orjson.dumps(document())), (
        "run `tellerline asyncapi` and commit deploy/asyncapi.json"
    )


def test_the_official_parser_finds_no_error_in_it() -> None:
    parser = DOCUMENT.parent / "lock/asyncapi"
    node = shutil.which("node")
    if node is None or not (parser / "node_modules").is_dir():
        pytest.skip("the official parser is not installed: npm ci --prefix deploy/lock/asyncapi")
    found = subprocess.run([node, parser / "check.js", DOCUMENT], capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout


async def test_every_event_of_a_call_is_in_the_document() -> None:
    found = document()
    names = found["channels"]["calls"]["messages"]
    messages = [found["components"]["messages"][name] for name in names]
    by_name = {message["name"]: message["payload"]["$ref"] for message in messages if "$ref" in message["payload"]}
    events = await a_whole_call()
    assert len({event["type"] for event in events}) >= 16
    for event in events:
        schema = {"$ref": by_name[event["type"]], "components": found["components"]}
        Draft202012Validator(schema).validate(event)


async def test_openais_own_types_read_our_events() -> None:
    oracle: TypeAdapter[Any] = TypeAdapter(RealtimeServerEvent)
    shared = [event for event in await a_whole_call() if not event["type"].startswith(("tellerline.", "session."))]
    assert len({event["type"] for event in shared}) >= 10
    for event in shared:
        read = oracle.validate_python(event)
        assert read.type == event["type"]
        for name, value in event.items():
            assert name in type(read).model_fields, f"{event['type']} has no {name}"
            if isinstance(value, str | int):
                assert getattr(read, name) == value


def _input(**settings: Any) -> dict[str, Any]:
    return {"type": "session.update", "session": {"type": "realtime", "audio": {"input": settings}}}


@pytest.mark.parametrize(
    "event",
    [
        _input(format={"type": "audio/pcm", "rate": 24000}),
        _input(format={"type": "audio/pcmu"}),
        _input(turn_detection={"type": "semantic_vad", "eagerness": "high"}),
        _input(turn_detection={"type": "server_vad", "silence_duration_ms": 500}),
        {"type": "input_audio_buffer.append", "audio": "AAAA", "event_id": "e1"},
        {"type": "input_audio_buffer.commit"},
        {"type": "input_audio_buffer.clear"},
        typed("hi"),
        {"type": "response.cancel"},
        {"type": "response.cancel", "response_id": "r1"},
    ],
)
def test_what_an_openai_client_sends_is_read(event: dict[str, Any]) -> None:
    assert parse_client_event(orjson.dumps(event).decode()).type == event["type"]
