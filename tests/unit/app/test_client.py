"""The caller's end of a call: frames in time and in order, and events that the wire takes."""

import numpy as np
import orjson
import pytest
from websockets.asyncio.server import ServerConnection, serve

from app.client import FRAME, HISS, Event, Microphone, calls_url, heard_out, key, line, session, typed
from schemas.audio import SAMPLE_RATE
from schemas.wire import parse_client_event

LOUD = np.full(FRAME, 0.5, dtype=np.float32)


def heard(frame: bytes) -> float:
    """The middle of what a frame holds."""
    return float(np.median(np.frombuffer(frame, dtype="<i2")) / 32767)


def test_an_open_microphone_sends_its_noise_without_end() -> None:
    microphone = Microphone()
    frames = [np.frombuffer(microphone.frame(), dtype="<i2") / 32767 for _ in range(50)]
    assert {frame.size for frame in frames} == {FRAME}
    assert 0.5 * HISS < np.concatenate(frames).std() < 2 * HISS


def test_what_is_said_follows_what_is_being_said() -> None:
    microphone = Microphone()
    assert microphone.say(LOUD) == 0
    assert microphone.say(-LOUD[: FRAME // 2]) == FRAME
    assert heard(microphone.frame()) == pytest.approx(0.5, abs=0.01)
    assert microphone.say(LOUD) == FRAME + FRAME // 2
    assert heard(microphone.frame()[: FRAME // 2]) == pytest.approx(-0.5, abs=0.01)
    microphone.frame()
    microphone.frame()
    assert microphone.say(LOUD) == 4 * FRAME


def test_a_frame_is_due_when_its_last_sample_was_captured() -> None:
    microphone = Microphone()
    assert microphone.due_s() == FRAME / SAMPLE_RATE
    microphone.frame()
    assert microphone.due_s() == 2 * FRAME / SAMPLE_RATE


def test_frames_are_stamped_by_their_number() -> None:
    microphone = Microphone(stamp=lambda pcm, number: pcm + bytes([number]))
    assert [microphone.frame()[-1] for _ in range(3)] == [0, 1, 2]


@pytest.mark.parametrize(
    "event",
    [
        session("ja-JP"),
        session("en-US", "estimated", {"type": "semantic_vad", "tellerline.patience": 1.5}),
        session("en-US", "estimated", {"type": "server_vad", "silence_duration_ms": 500}),
        typed("what's my balance"),
        key("#"),
        heard_out("reply-1"),
    ],
    ids=lambda event: str(event["type"]),
)
def test_the_wire_takes_every_event(event: Event) -> None:
    assert parse_client_event(orjson.dumps(event).decode()).type == event["type"]


@pytest.mark.parametrize("base", ["http://127.0.0.1:8080", "http://127.0.0.1:8080/"])
def test_calls_are_taken_beside_the_rest(base: str) -> None:
    assert calls_url(base) == "ws://127.0.0.1:8080/v1/calls"


async def test_events_end_where_the_service_ends_the_call() -> None:
    async def answer(socket: ServerConnection) -> None:
        await socket.recv()
        await socket.send('{"type": "response.done"}')
        await socket.close(1000, "the call is over")

    async with serve(answer, "127.0.0.1", 0) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        async with line(f"http://127.0.0.1:{port}", "token", session("en-US"), live=False) as opened:
            assert [event["type"] async for event in opened.events()] == ["response.done"]
