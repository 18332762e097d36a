"""The caller speaks over a reply: what clients are told, and what counts as heard."""

from typing import Any

import pytest

from schemas.errors import BankUnavailable, RecognizerUnavailable
from schemas.turn import Awaits, Completeness, ReplyDone, ReplyText
from tests.fakes.turn_handler import FakeTurnHandler
from tests.harness.gateway import clip, gateway, line
from tests.harness.realtime import Talk, talking_to, text_item

BALANCE = "what's my balance"
KNOWN = {BALANCE: Completeness.COMPLETE}
LONG = (ReplyText("The first of many sentences."), ReplyText("The second."), ReplyDone(Awaits.ANSWER))
ONE = (ReplyText("A sentence that takes quite a while to be said, you know."), ReplyDone(Awaits.CONFIRMATION))


def slow() -> FakeTurnHandler:
    handler = FakeTurnHandler({BALANCE: LONG}, KNOWN)
    handler.pause_s = 0.5
    return handler


async def test_words_over_a_reply_end_it_as_clients_expect() -> None:
    async with gateway(lambda _: "to catherine", slow) as running, talking_to(running) as talk:
        await talk.ask(text_item("user", BALANCE))
        await talk.next("response.output_text.delta")
        await talk.say(line(clip("to_catherine"), 1.0))
        done = (await talk.next("response.done"))["response"]
        assert (done["status"], done["status_details"]["reason"]) == ("cancelled", "turn_detected")
        assert done["output"][0]["status"] == "incomplete"
        kinds = talk.kinds()
        order = ["input_audio_buffer.speech_started", "response.output_item.done", "response.done"]
        assert [kinds.index(kind) for kind in order] == sorted(kinds.index(kind) for kind in order)
        await talk.next("response.done")
        assert running.handler.told("interrupted") == [done["id"]]
        assert running.handler.told("take") == [BALANCE, "to catherine"]


async def test_an_uh_huh_over_a_reply_is_not_told_and_stops_nothing() -> None:
    handler = FakeTurnHandler({BALANCE: ONE}, KNOWN)
    async with gateway(lambda _: "uh huh", lambda: handler) as running, talking_to(running) as talk:
        await talk.ask(text_item("user", BALANCE))
        done = await talk.next("response.done")
        await talk.say(line(0.2, clip("uh_huh"), 1.5))
        await talk.settled_without_clearing()
        await talk.settled_without_clearing()
        assert not [kind for kind in talk.kinds() if kind.startswith("input_audio_buffer.")]
        await talk.send({"type": "tellerline.playback", "response_id": done["response"]["id"], "state": "completed"})
        await talk.settled_without_clearing()
        assert handler.told("delivered") == [done["response"]["id"]]


async def test_what_clients_do_about_it_is_survived() -> None:
    async with gateway(lambda _: "to catherine", slow) as running, talking_to(running) as talk:
        await talk.ask(text_item("user", BALANCE))
        item = (await talk.next("response.output_text.delta"))["item_id"]
        await talk.say(line(clip("to_catherine"), 1.0))
        await talk.next("response.done")
        await talk.next("response.done")
        truncate = {"type": "conversation.item.truncate", "item_id": item, "content_index": 0, "audio_end_ms": 99_999}
        for event in (truncate, {"type": "response.cancel"}, {"type": "input_audio_buffer.commit"}):
            await talk.send(event)
        told = await talk.settled()
        assert [event["type"] for event in told if event["type"] != "response.done"] == [
            "conversation.item.truncated",
            "error",
        ]
        assert [event["error"]["code"] for event in talk.of("error")] == ["response_cancel_not_active"]


async def test_a_client_stops_a_reply() -> None:
    async with gateway(lambda _: BALANCE, slow) as running, talking_to(running) as talk:
        await talk.ask(text_item("user", BALANCE))
        await talk.next("response.output_text.delta")
        await talk.send({"type": "response.cancel"})
        done = (await talk.next("response.done"))["response"]
        assert (done["status"], done["status_details"]["reason"]) == ("cancelled", "client_cancelled")
        await talk.settled()
        assert running.handler.told("interrupted") == [done["id"]]
        assert not talk.of("error")


@pytest.mark.parametrize("late", [False, True], ids=["before it was heard", "after"])
@pytest.mark.parametrize("how", ["conversation.item.truncate", "conversation.item.delete"])
async def test_a_reply_that_was_cut_short_was_not_heard(how: str, late: bool) -> None:
    handler = FakeTurnHandler({BALANCE: ONE}, KNOWN)
    async with gateway(lambda _: BALANCE, lambda: handler) as running, talking_to(running) as talk:
        await talk.ask(text_item("user", BALANCE))
        reply = (await talk.next("response.done"))["response"]
        if late:
            await talk.send({"type": "tellerline.playback", "response_id": reply["id"], "state": "completed"})
        await talk.send(cut(how, reply["output"][0]["id"]))
        await talk.settled()
        await quiet(talk)
        assert running.handler.told("delivered") == ([reply["id"]] if late else [])
        assert running.handler.told("interrupted") == [reply["id"]]


def cut(how: str, item: str) -> dict[str, Any]:
    more = {"content_index": 0, "audio_end_ms": 300} if how.endswith("truncate") else {}
    return {"type": how, "item_id": item} | more


async def quiet(talk: Talk) -> None:
    await talk.settled_without_clearing()


async def test_a_recogniser_that_fails_is_said_and_is_no_error_event() -> None:
    async with gateway(lambda _: BALANCE) as running, talking_to(running) as talk:
        running.recognizer.error = RecognizerUnavailable()
        await talk.say(line(0.5, clip("balance"), 1.0))
        done = await talk.next("response.done")
        assert "went wrong" in talk.words(done)
        assert not talk.of("error")


async def test_a_reply_that_fails_says_why_and_is_followed_by_words() -> None:
    def broken() -> FakeTurnHandler:
        handler = FakeTurnHandler({BALANCE: LONG}, KNOWN)
        handler.error = BankUnavailable()
        return handler

    async with gateway(lambda _: BALANCE, broken) as running, talking_to(running) as talk:
        await talk.ask(text_item("user", BALANCE))
        done = await talk.next("response.done")
        assert "went wrong" in talk.words(done)
        assert running.handler.told("failed") == ["bank_unavailable"]
