"""What a client says of a reply means one of the call's: anything else is told, names its place, and is not counted."""

import pytest

from app.client import typed
from app.transports.live.line import MAX_REFUSED
from tests.harness.gateway import Caller, Event, caller, gateway


async def error_of(call: Caller, event: Event) -> Event:
    await call.send(event | {"event_id": "mine"})
    error: Event = (await call.next("error"))["error"]
    assert error["event_id"] == "mine"
    return error


async def test_a_report_by_the_items_id_is_told_and_by_the_replys_it_is_not() -> None:
    async with gateway(lambda _: "") as running, caller(running) as call:
        await call.send(typed("what's my balance"))
        reply = (await call.next("response.done"))["response"]["id"]
        report = {"type": "tellerline.playback", "state": "completed"}
        for wrong in (f"{reply}.text", "nope", "", reply.upper() + "x"):
            error = await error_of(call, report | {"response_id": wrong})
            assert (error["code"], error["param"]) == ("wrong_state", "response_id")
        assert not running.handler.told("delivered")
        await call.send(report | {"response_id": reply})
        await call.for_a_while(0.3)
        assert running.handler.told("delivered") == [reply]


@pytest.mark.parametrize("event", [{"type": "response.cancel"}, {"type": "response.cancel", "response_id": "nope"}])
async def test_a_cancel_of_nothing_is_told_however_often_and_the_call_goes_on(event: Event) -> None:
    async with gateway(lambda _: "") as running, caller(running) as call:
        for _ in range(MAX_REFUSED + 5):
            assert (await error_of(call, event))["code"] == "wrong_state"
        await call.send(typed("what's my balance"))
        await call.next("response.done")


async def test_a_reply_to_typed_words_is_cancelled_before_it_begins() -> None:
    async with gateway(lambda _: "") as running, caller(running) as call:
        await call.send(typed("what's my balance"))
        await call.send({"type": "response.cancel"})
        assert (await call.next("response.done"))["response"]["status"] == "cancelled"
        assert not call.of("error")


@pytest.mark.parametrize(
    ("event", "param"),
    [
        ({"type": "nothing"}, "type"),
        ({"type": "tellerline.dtmf", "digit": "x"}, "digit"),
        ({"type": "session.update", "session": {"tellerline": {"locale": "fr-FR"}}}, "session.tellerline.locale"),
        ({"type": "session.update", "session": {"tellerline": {"playback": "no"}}}, "session.tellerline.playback"),
        (typed("x" * 501), "item.content.0.text"),
        ({"type": "input_audio_buffer.commit"}, None),
    ],
)
async def test_an_error_says_where_the_fault_is(event: Event, param: str | None) -> None:
    async with gateway(lambda _: "") as running, caller(running) as call:
        assert (await error_of(call, event))["param"] == param


async def test_a_text_too_long_is_told_once_by_what_is_wrong_with_it() -> None:
    async with gateway(lambda _: "") as running, caller(running) as call:
        error = await error_of(call, typed("x" * 501))
        assert error["message"] == "item.content.0.text: write at most 500 characters"
        error = await error_of(call, typed("") | {"item": typed("x")["item"] | {"content": []}})
        assert error["message"] == "item.content: write at least 1"
