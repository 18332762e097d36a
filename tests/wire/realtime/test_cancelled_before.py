"""A reply that is cancelled before it begins is stopped, whatever asked for it; what is about no reply is told so."""

from pathlib import Path

import pytest

from tests.fakes.synthesizer import FakeSynthesizer
from tests.harness.gateway import clip
from tests.harness.realtime import Event, Talk, realtime, talking, text_item, told
from tests.wire.realtime.test_money_walls import ORDER, READ_BACK, states

CREATE: Event = {"type": "response.create"}
CANCEL: Event = {"type": "response.cancel", "event_id": "c"}
PUSH = {"type": "realtime", "audio": {"input": {"turn_detection": None}}}


def typed(text: str) -> Event:
    return {"type": "conversation.item.create", "item": text_item("user", text)}


async def ended(talk: Talk, *events: Event) -> tuple[str, str | None, list[str]]:
    """How the reply to these ends, and the codes of the errors on the way."""
    before = len(talk.heard)
    for event in events:
        await talk.send(event)
    response = (await talk.next("response.done"))["response"]
    await talk.settled()
    codes = [event["error"]["code"] for event in talk.heard[before:] if event["type"] == "error"]
    return response["status"], (response["status_details"] or {}).get("reason"), codes


@pytest.mark.parametrize("voiced", [False, True])
@pytest.mark.parametrize("asking", [(CREATE,), (typed("what's my balance"), CREATE), (typed(ORDER), CREATE)])
async def test_what_was_asked_for_and_cancelled_at_once_ends_cancelled(
    tmp_path: Path, asking: tuple[Event, ...], voiced: bool
) -> None:
    voice = {"voice": FakeSynthesizer(60)} if voiced else {}
    async with realtime(tmp_path, **voice) as running, talking(running) as talk:
        assert await ended(talk, *asking, CANCEL) == ("cancelled", "client_cancelled", [])
        assert (await ended(talk, typed("what's my balance"), CREATE))[0] == "completed"


async def test_a_second_reply_asked_for_in_between_is_refused_and_one_alone_is_cancelled(tmp_path: Path) -> None:
    async with realtime(tmp_path) as running, talking(running) as talk:
        events = (CREATE, CREATE, CANCEL)
        refused = ["conversation_already_has_active_response"]
        assert await ended(talk, *events) == ("cancelled", "client_cancelled", refused)


async def test_what_is_asked_for_while_the_caller_speaks_is_cancelled_too(tmp_path: Path) -> None:
    async with realtime(tmp_path) as running, talking(running) as talk:
        await talk.send({"type": "session.update", "session": PUSH})
        await talk.say(clip("balance"))
        assert await ended(talk, CREATE, CANCEL) == ("cancelled", "client_cancelled", [])


async def test_a_read_back_that_was_cancelled_before_it_began_is_not_agreed_to(tmp_path: Path) -> None:
    async with realtime(tmp_path) as running, talking(running) as talk:
        await ended(talk, typed(ORDER), CREATE, CANCEL)
        assert READ_BACK in await talk.type("yes")
        assert await states(running) == ["proposed"]


async def test_a_yes_whose_answer_is_cancelled_is_told_of_once_and_moves_money_once(tmp_path: Path) -> None:
    async with realtime(tmp_path) as running, told(running) as talk:
        await talk.type(ORDER)
        await talk.played()
        await ended(talk, typed("yes"), CREATE, CANCEL)
        told_then = await talk.type("yes")
        assert "50" in told_then, told_then
        assert await states(running) == ["succeeded"]


@pytest.mark.parametrize("named", [None, "resp_x"])
async def test_a_cancel_of_nothing_is_told_by_its_event(tmp_path: Path, named: str | None) -> None:
    async with realtime(tmp_path) as running, talking(running) as talk:
        await talk.type("what's my balance")
        await talk.send(CANCEL | ({"response_id": named} if named else {}))
        (error,) = [one["error"] for one in await talk.settled() if one["type"] == "error"]
        assert (error["code"], error["event_id"]) == ("response_cancel_not_active", "c")
        assert error["message"].startswith("Cancellation failed")


async def test_a_report_on_a_reply_that_is_none_is_told_and_one_on_an_old_one_is_not(tmp_path: Path) -> None:
    async with realtime(tmp_path) as running, told(running) as talk:
        for _ in range(2):
            await talk.type("what's my balance")
        first, last = (event["response"] for event in talk.of("response.done"))
        for name in (first["id"], last["id"]):
            await talk.send({"type": "tellerline.playback", "response_id": name, "state": "completed"})
        assert "error" not in [one["type"] for one in await talk.settled()]
        for name in (last["output"][0]["id"], "nope", ""):
            await talk.send({"type": "tellerline.playback", "response_id": name, "state": "completed", "event_id": "p"})
            (error,) = [one["error"] for one in await talk.settled() if one["type"] == "error"]
            assert (error["code"], error["event_id"], error["param"]) == ("wrong_state", "p", "response_id")


@pytest.mark.parametrize("kind", ["input_audio_bufer.append", "session.teleport", "response.done", "", 5, None, ["x"]])
async def test_an_event_that_the_api_does_not_have_is_an_error_and_the_call_goes_on(
    tmp_path: Path, kind: object
) -> None:
    async with realtime(tmp_path) as running, talking(running) as talk:
        await talk.send({"type": kind, "event_id": "e"})
        (error,) = [one["error"] for one in await talk.settled() if one["type"] == "error"]
        assert (error["type"], error["event_id"], error["param"]) == ("invalid_request_error", "e", "type")
        assert "input_audio_buffer.append" in error["message"]
        await talk.type("what's my balance")


async def test_an_event_of_the_api_for_other_sessions_is_let_through(tmp_path: Path) -> None:
    async with realtime(tmp_path) as running, talking(running) as talk:
        for kind in ("output_audio_buffer.clear", "transcription_session.update"):
            await talk.send({"type": kind})
            assert "error" not in [one["type"] for one in await talk.settled()]
