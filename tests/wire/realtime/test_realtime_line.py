"""The line of /v1/realtime: how long a message may be, and how a call ends."""

import contextlib
from pathlib import Path

import orjson
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from app.client import Transport, session
from app.client import line as calling
from schemas.turn import Awaits, Completeness, ReplyDone, ReplyText
from schemas.wire.realtime import MAX_MESSAGE
from tests.fakes.turn_handler import FakeTurnHandler
from tests.harness.gateway import clip, gateway
from tests.harness.realtime import realtime, talking, text_item


async def test_a_message_may_be_longer_here_and_no_longer_than_that(quick_folder: Path) -> None:
    async with realtime(quick_folder) as running, talking(running) as talk:
        await talk.send({"type": "session.update", "session": {"type": "realtime", "instructions": "x" * 900_000}})
        await talk.next("session.updated")
        with contextlib.suppress(ConnectionClosed):  # while it is still sending
            await talk.send({"type": "session.update", "session": {"instructions": "x" * 15 * MAX_MESSAGE}})
        assert (await talk.next("error"))["error"]["code"] == "too_large"
        with pytest.raises(ConnectionClosed) as closed:
            await talk.next("session.updated")
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1009
        async with connect(running.calls, additional_headers=running.token("alex-morgan")) as native:
            await native.send(" " * 100_000)
            assert "session.created" in str(await native.recv())
            assert orjson.loads(await native.recv())["error"]["code"] == "too_large"
            with pytest.raises(ConnectionClosed):
                await native.recv()


async def test_a_long_history_is_taken_in(quick_folder: Path) -> None:
    async with realtime(quick_folder) as running, talking(running) as talk:
        for number in range(600):
            await talk.send({"type": "conversation.item.create", "item": text_item("user", "hello", id=f"i{number}")})
        await talk.settled()
        assert len(talk.of("conversation.item.done")) == 600


async def test_the_benchmarks_own_caller_is_heard_and_told_when(quick_folder: Path) -> None:
    async with realtime(quick_folder) as running:
        setup = session("en-GB", "estimated", {"type": "semantic_vad", "tellerline.patience": 1.25})
        kinds = []
        async with calling(running.http, running.key(), setup, transport=Transport.REALTIME) as opened:
            opened.say(clip("balance"))
            async for event in opened.events():
                kinds.append(event["type"])
                if event["type"] == "session.updated":
                    detection = event["session"]["audio"]["input"]["turn_detection"]
                if event["type"] == "tellerline.timings":
                    break
        assert detection["tellerline.patience"] == 1.25
        wanted = ["tellerline.turn.ended", "conversation.item.input_audio_transcription.completed", "response.created"]
        assert [kinds.index(kind) for kind in wanted] == sorted(kinds.index(kind) for kind in wanted)


@pytest.mark.parametrize(("agent", "told"), [("LiveKit Agents", True), ("somebody/1.0", False)])
async def test_the_end_of_a_call_is_an_error_to_those_who_would_call_again(agent: str, told: bool) -> None:
    said = (ReplyText("Goodbye."), ReplyDone(Awaits.END))
    handler = FakeTurnHandler({"bye": said}, {"bye": Completeness.COMPLETE})
    async with gateway(lambda _: "bye", lambda: handler) as running:
        url = running.url.replace("/calls", "/realtime")
        async with connect(url, user_agent_header=agent, compression=None) as socket:
            create = {"type": "conversation.item.create", "item": text_item("user", "bye")}
            for event in (create, {"type": "response.create"}):
                await socket.send(orjson.dumps(event).decode())
            heard = [orjson.loads(message) async for message in socket]
            assert socket.close_code == 1000
            assert ([event["type"] for event in heard][-1] == "error") is told
