"""Turns over a real WebSocket: audio in as fast as it goes, because audio time alone decides."""

import asyncio

import numpy as np

from app.client import typed
from schemas.ids import JA_JP
from schemas.transcript import Decode, Onward
from schemas.turn import Awaits, Completeness, ReplyDone, ReplyText
from tests.fakes.turn_handler import FakeTurnHandler
from tests.harness.gateway import caller, clip, gateway, line

BALANCE = "what's my balance"
SEND = "send five hundred dollars"
YES = "go ahead"
SEND_TO = "send five hundred dollars to catherine nguyen"


def complete(*texts: str) -> FakeTurnHandler:
    return FakeTurnHandler(judgements=dict.fromkeys(texts, Completeness.COMPLETE))


def by_length(seconds: float) -> str:
    """What the clips of the long command say, by how much of it was heard (pre-roll and padding included)."""
    return SEND if seconds < 2.8 else SEND_TO


async def test_a_command_is_heard_ended_and_answered() -> None:
    async with gateway(lambda _: BALANCE, lambda: complete(BALANCE)) as running, caller(running) as call:
        await call.say(line(0.5, clip("balance"), 1.0))
        done = await call.next("response.done")
        assert done["response"]["status"] == "completed"
        kinds = call.kinds()
        order = [
            "session.created",
            "input_audio_buffer.speech_started",
            "tellerline.transcript.partial",
            "tellerline.turn.eager",
            "input_audio_buffer.speech_stopped",
            "tellerline.turn.ended",
            "conversation.item.input_audio_transcription.completed",
            "response.created",
            "response.output_text.delta",
            "response.output_text.done",
            "response.done",
        ]
        assert [kinds.index(kind) for kind in order] == sorted(kinds.index(kind) for kind in order)
        assert call.of("conversation.item.input_audio_transcription.completed")[0]["transcript"] == BALANCE
        assert call.of("response.output_text.done")[0]["text"] == f"You said: {BALANCE}."
        ended = call.of("tellerline.turn.ended")[0]
        assert 150 <= ended["ended_at_ms"] - ended["voiced_until_ms"] <= 190
        assert ended["rule"] == "endpointing.en.complete@11"
        assert running.handler.told("take") == [BALANCE]


async def test_the_final_text_is_the_last_eager_text_or_resumed_came_first() -> None:
    async with gateway(by_length, lambda: complete(SEND_TO)) as running, caller(running) as call:
        await call.say(line(0.5, clip("send_five_hundred"), 0.5, clip("to_catherine"), 1.0))
        await call.next("response.done")
        eager = None
        for event in call.heard:
            if event["type"] == "tellerline.turn.eager":
                assert eager is None, "an eager transcript followed another without a resumption"
                eager = event
            elif event["type"] == "tellerline.turn.resumed":
                assert eager is not None
                assert eager["revision"] == event["revision"]
                eager = None
            elif event["type"] == "conversation.item.input_audio_transcription.completed":
                assert eager is not None
                assert event["transcript"] == eager["transcript"]
        assert running.handler.told("take") == [SEND_TO]


async def test_an_unfinished_command_is_waited_for() -> None:
    judged = {SEND: Completeness.MISSING_SLOT, SEND_TO: Completeness.COMPLETE}
    async with gateway(by_length, lambda: FakeTurnHandler(judgements=judged)) as running, caller(running) as call:
        await call.say(line(0.5, clip("send_five_hundred"), 1.2, clip("to_catherine"), 1.0))
        await call.next("response.done")
        assert running.handler.told("take") == [SEND_TO]
        assert len(call.of("tellerline.turn.ended")) == 1


async def test_speech_of_no_rule_is_answered_soon_where_nothing_may_follow() -> None:
    waits = []
    for follows in (None, Onward(comma=-12.0, word=-12.0)):
        async with gateway(lambda _: "the rain in spain", FakeTurnHandler) as running, caller(running) as call:
            running.recognizer.follows = follows
            await call.say(line(0.5, clip("balance"), 2.0))
            await call.next("response.done")
            (ended,) = call.of("tellerline.turn.ended")
            waits.append(ended["ended_at_ms"] - ended["voiced_until_ms"])
    assert (waits[0] > 1_300, waits[1] < 450) == (True, True), waits


async def test_a_fixed_silence_cuts_the_same_caller_off() -> None:
    fixed = {"audio": {"input": {"turn_detection": {"type": "server_vad", "silence_duration_ms": 500}}}}
    async with gateway(by_length, FakeTurnHandler) as running, caller(running) as call:
        await call.send({"type": "session.update", "session": fixed})
        await call.next("session.updated")
        await call.say(line(0.5, clip("send_five_hundred"), 1.2, clip("to_catherine"), 1.0))
        await call.next("response.done")
        await call.next("response.done")
        assert len(call.of("tellerline.turn.ended")) == 2
        assert call.of("tellerline.turn.ended")[0]["rule"] == "endpointing.fixed@1"


async def test_going_on_after_the_end_is_merged_and_decided_again() -> None:
    handler = complete(SEND, SEND_TO)
    async with gateway(by_length, lambda: handler) as running, caller(running, playback="acknowledged") as call:
        await call.say(line(0.5, clip("send_five_hundred"), 0.45))
        await call.next("response.done")
        await call.say(line(clip("to_catherine"), 1.0))
        merged = await call.next("tellerline.turn.merged")
        first = call.of("tellerline.turn.ended")[0]
        assert merged["item_id"] == first["item_id"]
        done = await call.next("tellerline.turn.ended")
        assert done["item_id"] == merged["into_item_id"]
        await call.next("response.done")
        assert handler.told("take") == [SEND, SEND_TO]
        assert len(handler.told("withdraw")) == 1
        assert len(call.of("tellerline.reply.interrupted")) == 1


async def test_what_is_irrevocable_is_not_merged() -> None:
    handler = complete(SEND, SEND_TO, "to catherine")
    handler.undo = False
    async with gateway(lambda _: SEND, lambda: handler) as running, caller(running) as call:
        await call.say(line(0.5, clip("send_five_hundred"), 0.45))
        await call.next("response.done")
        running.recognizer.words = lambda _: "to catherine"
        await call.say(line(clip("to_catherine"), 1.0))
        await call.next("response.done")
        assert not call.of("tellerline.turn.merged")
        assert handler.told("take") == [SEND, "to catherine"]


async def test_please_after_a_whole_command_is_not_answered_again() -> None:
    reply = (ReplyText("A sentence that takes quite a while to be said, you know."), ReplyDone())
    handler = FakeTurnHandler({BALANCE: reply}, {BALANCE: Completeness.COMPLETE, "please": Completeness.COMPLETE})
    async with gateway(lambda _: BALANCE, lambda: handler) as running, caller(running) as call:
        await call.say(line(0.5, clip("balance"), 0.3))
        await call.next("response.done")
        running.recognizer.words = lambda _: "please"
        await call.say(line(clip("yes"), 1.0))
        assert (await call.next("tellerline.turn.discarded"))["reason"] == "courtesy"
        await call.for_a_while(0.2)
        assert handler.told("take") == [BALANCE]
        assert not handler.told("withdraw")
        assert not call.of("tellerline.reply.interrupted")


async def test_please_after_what_was_no_command_belongs_to_it() -> None:
    reply = (ReplyText("A sentence that takes quite a while to be said, you know."), ReplyDone())
    handler = FakeTurnHandler({YES: reply})
    async with gateway(lambda _: YES, lambda: handler) as running, caller(running) as call:
        await call.say(line(0.5, clip("balance"), 0.3))
        await call.next("response.done")
        running.recognizer.words = lambda _: "please"
        await call.say(line(clip("yes"), 1.6))
        await call.next("tellerline.turn.merged")
        await call.next("response.done")
        assert len(handler.told("withdraw")) == 1


async def test_words_over_a_reply_cancel_it() -> None:
    reply = (ReplyText("The first of many sentences."), ReplyText("The second."), ReplyDone(Awaits.ANSWER))
    handler = FakeTurnHandler({BALANCE: reply}, {BALANCE: Completeness.COMPLETE})
    handler.pause_s = 0.4
    async with gateway(lambda _: "to catherine", lambda: handler) as running, caller(running) as call:
        await call.send(typed(BALANCE))
        await call.next("response.output_text.delta")
        await call.say(line(clip("to_catherine"), 1.0))
        cut = await call.next("tellerline.reply.interrupted")
        assert cut["reason"] == "turn_detected"
        done = await call.next("response.done")
        assert done["response"]["status"] == "cancelled"
        assert done["response"]["status_details"]["reason"] == "turn_detected"
        await call.next("response.created")
        assert handler.told("interrupted") == [cut["response_id"]]
        assert not handler.told("delivered")


async def test_a_cough_or_a_backchannel_stops_nothing() -> None:
    reply = (ReplyText("A sentence that takes quite a while to be said, you know."), ReplyDone(Awaits.CONFIRMATION))
    handler = FakeTurnHandler({BALANCE: reply})
    rng = np.random.default_rng(3)
    cough = (rng.normal(0, 0.2, 5000) * np.hanning(5000)).astype(np.float32)
    async with gateway(lambda _: "uh huh", lambda: handler) as running, caller(running) as call:
        await call.send(typed(BALANCE))
        await call.next("response.done")
        await call.say(line(cough, 1.0, clip("uh_huh"), 1.5))
        discarded = await call.next("tellerline.turn.discarded")
        while discarded["reason"] != "backchannel":
            discarded = await call.next("tellerline.turn.discarded")
        assert not call.of("tellerline.reply.interrupted")
        assert handler.told("take") == [BALANCE]
        reply_id = call.of("response.done")[0]["response"]["id"]
        await call.send({"type": "tellerline.playback", "response_id": reply_id, "state": "completed"})
        async with asyncio.timeout(10):
            while handler.told("delivered") != [reply_id]:
                await call.for_a_while(0.05)


async def test_a_yes_that_began_before_the_read_back_ended_meets_an_undelivered_one() -> None:
    reply = (ReplyText("Send five hundred dollars to Catherine. Is that right?"), ReplyDone(Awaits.CONFIRMATION))
    handler = FakeTurnHandler({SEND_TO: reply})
    async with gateway(lambda _: "yes", lambda: handler) as running, caller(running) as call:
        await call.send(typed(SEND_TO))
        done = await call.next("response.done")
        await call.say(line(0.3, clip("yes")))
        await call.next("input_audio_buffer.speech_started")
        await call.send({"type": "tellerline.playback", "response_id": done["response"]["id"], "state": "completed"})
        await call.say(line(1.0))
        await call.next("response.done")
        assert handler.told("take") == [SEND_TO, "yes"]
        assert not handler.told("delivered")
    assert any(decode is Decode.CONFIRMING for _, decode in running.recognizer.decodes)


async def test_a_yes_after_the_read_back_meets_a_delivered_one() -> None:
    reply = (ReplyText("Send five hundred dollars to Catherine. Is that right?"), ReplyDone(Awaits.CONFIRMATION))
    handler = FakeTurnHandler({SEND_TO: reply})
    async with gateway(lambda _: "yes", lambda: handler) as running, caller(running) as call:
        await call.send(typed(SEND_TO))
        done = await call.next("response.done")
        reply_id = done["response"]["id"]
        await call.send({"type": "tellerline.playback", "response_id": reply_id, "state": "completed"})
        await call.say(line(0.3, clip("yes"), 1.0))
        await call.next("response.done")
        assert handler.journal.index(("delivered", reply_id)) < handler.journal.index(("take", "yes"))


async def test_estimated_playback_delivers_after_the_speaking_time() -> None:
    reply = (ReplyText("Thirteen characters a second."), ReplyDone(Awaits.CONFIRMATION))
    handler = FakeTurnHandler({SEND_TO: reply})
    async with gateway(lambda _: "yes", lambda: handler) as running, caller(running, playback="estimated") as call:
        await call.send(typed(SEND_TO))
        await call.next("response.done")
        await call.for_a_while(1.5)
        assert not handler.told("delivered")
        await call.for_a_while(2.0)
        assert len(handler.told("delivered")) == 1


async def test_keyed_digits_end_on_hash_and_on_a_pause() -> None:
    async with gateway(lambda _: BALANCE) as running, caller(running) as call:
        for key in "4321#":
            await call.send({"type": "tellerline.dtmf", "digit": key})
        ended = await call.next("tellerline.turn.ended")
        assert (ended["source"], ended["rule"]) == ("dtmf", "keypad.hash@1")
        await call.next("response.done")
        for key in "77*12":
            await call.send({"type": "tellerline.dtmf", "digit": key})
        ended = await call.next("tellerline.turn.ended")
        assert (ended["source"], ended["rule"]) == ("dtmf", "keypad.pause@1")
        await call.next("response.done")
        assert running.handler.told("take") == ["4321", "12"]
        assert {event["event"] for event in call.of("input_audio_buffer.dtmf_event_received")} == {"digit", "#", "*"}


async def test_committing_ends_the_turn_at_once_and_clearing_drops_it() -> None:
    async with gateway(lambda _: SEND) as running, caller(running) as call:
        await call.say(line(0.3, clip("send_five_hundred")))
        await call.send({"type": "input_audio_buffer.commit"})
        assert (await call.next("tellerline.turn.ended"))["rule"] == "endpointing.commit@1"
        await call.next("response.done")
        await call.say(line(0.5, clip("to_catherine")))
        await call.send({"type": "input_audio_buffer.clear"})
        await call.next("input_audio_buffer.cleared")
        assert call.of("tellerline.turn.discarded")[0]["reason"] == "cleared"
        await call.say(line(1.0))
        await call.for_a_while(0.2)
        assert running.handler.told("take") == [SEND]


async def test_a_client_that_stops_sending_still_ends_its_turn() -> None:
    async with gateway(lambda _: BALANCE, lambda: complete(BALANCE)) as running, caller(running) as call:
        await call.say(line(0.3, clip("balance")))
        await call.next("response.done", within_s=3.0)
        assert running.handler.told("take") == [BALANCE]


async def test_a_call_begins_in_the_language_of_its_customer() -> None:
    handler = FakeTurnHandler()
    handler.locale = JA_JP
    async with gateway(lambda _: BALANCE, lambda: handler) as running, caller(running) as call:
        assert call.of("session.created")[0]["session"]["tellerline"]["locale"] == JA_JP
