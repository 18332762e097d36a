"""The Realtime protocol without a line: what events come to, in the odd cases that no honest client makes."""

import base64
from collections.abc import Callable
from typing import Any

import orjson
import pytest

from app.transports.live.dialect import Given
from app.transports.realtime.items import MAX_ITEMS, MAX_SIZE, Items
from app.transports.realtime.protocol import Realtime
from app.transports.realtime.settings import CallSettings, first_config
from schemas.call import (
    AskIn,
    AudioIn,
    CallEvent,
    CancelIn,
    Cleared,
    ConfigureIn,
    CutReason,
    Fault,
    KeyPressed,
    NoSuchReply,
    PlaybackIn,
    PlaybackState,
    ReplyBegan,
    ReplyCut,
    ReplyEnded,
    ReplyProgress,
    ReplyStatus,
)
from schemas.errors import BankUnavailable, CallTooLong, Unauthenticated, WrongState
from schemas.ids import EN_US, RuleId
from schemas.transcript import Hypothesis, Transcript
from schemas.turn import Discarded, Ended, ItemId, ReplyId, ReplyText, SpeechStarted, SpeechStopped, Waste
from schemas.wire.realtime.items import InputText, Message
from schemas.wire.realtime.server import Failure, SessionChanged
from services.timing.clock import ManualClock
from tests.harness.money import START

R, I = ReplyId("r"), ItemId("i")  # noqa: E741 - as the protocol's reference has them
TURNS = "audio", "input", "turn_detection"


class Line:
    """A protocol, and what it says."""

    def __init__(self, *, final: bool = False, events: bool = False, speaks: bool = False) -> None:
        self.clock = ManualClock(START)
        settings = CallSettings("call", first_config(EN_US, speaks=speaks), 1, events=events)
        self.protocol = Realtime(settings, self.clock, "call", None, final=final)

    def send(self, **event: Any) -> Given:
        return self.protocol.read(orjson.dumps(event).decode())

    def hear(self, *events: CallEvent, audible: bool = False) -> list[dict[str, Any]]:
        texts = [text for event in events for text in self.protocol.encode(event, audible=audible)]
        return [orjson.loads(text) for text in texts]

    def kinds(self, *events: CallEvent, audible: bool = False) -> list[str]:
        return [event["type"] for event in self.hear(*events, audible=audible)]


def user(text: str, **more: Any) -> dict[str, Any]:
    return {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]} | more


def ended(item: ItemId = I) -> Ended:
    return Ended(item, 1, Transcript("hello", EN_US, (Hypothesis("hello", -0.1),)), RuleId("r@1"), 900, 1_000)


def test_an_id_of_ours_that_a_client_has_taken_is_ours() -> None:
    line = Line()
    line.send(type="conversation.item.create", item=user("x", id="i"))
    line.send(type="conversation.item.create", item=user("x", id="item_r"))
    assert "conversation.item.added" in line.kinds(ended())
    assert "conversation.item.added" in line.kinds(ReplyBegan(R, I), ReplyProgress(R, ReplyText("Hi.")))
    (shown,) = line.send(type="conversation.item.retrieve", item_id="item_r").answers
    assert shown.item.role == "assistant"  # type: ignore[attr-defined] # an item


def test_the_oldest_items_are_forgotten() -> None:
    items = Items()
    for number in range(MAX_ITEMS + 3):
        items.add(Message(id=str(number), role="user", content=(InputText(text="x"),)))
    assert items.get("2") is None
    assert items.get("3") is not None
    for name in "ab":
        items.add(Message(id=name, role="user", content=(InputText(text="x" * (MAX_SIZE - 100)),)))
    assert items.get("a") is None
    assert items.last == "b"


@pytest.mark.parametrize(
    ("before", "typed"),
    [
        ([user("yes")], "yes"),
        ([user("yes", id="a"), user("no")], None),
        ([user("x" * 501)], None),
        ([user("")], None),
        ([user("yes") | {"content": []}], None),
        ([], None),
    ],
)
def test_words_are_typed_if_they_stand_alone(before: list[dict[str, Any]], typed: str | None) -> None:
    line = Line()
    for item in before:
        line.send(type="conversation.item.create", item=item)
    (asked,) = line.send(type="response.create").inputs
    assert isinstance(asked, AskIn)
    assert asked.typed == typed


@pytest.mark.parametrize("between", [ended(), ReplyBegan(R, None)], ids=["a turn", "a reply"])
def test_words_after_which_something_happened_are_no_more_typed(between: CallEvent) -> None:
    line = Line()
    line.send(type="conversation.item.create", item=user("yes"))
    line.hear(between)
    line.hear(ReplyEnded(R, ReplyStatus.COMPLETED, ""))
    assert line.send(type="response.create").inputs == (AskIn(),)


def test_typed_words_carry_the_moment_they_were_written() -> None:
    line = Line()
    line.send(type="conversation.item.create", item=user("yes"))
    at = line.clock.monotonic()
    line.clock.advance(30)
    assert line.send(type="response.create").inputs == (AskIn("yes", at),)


def test_sound_comes_in_pieces_that_a_call_takes() -> None:
    line = Line()
    audio = "A" * 4 * 40_000  # 120,000 bytes
    pieces = line.send(type="input_audio_buffer.append", audio=audio).inputs
    assert [isinstance(piece, AudioIn) and len(piece.data) for piece in pieces] == [32_768, 32_768, 32_768, 21_696]


def test_who_ends_turns_itself_is_not_told_when_speech_begins_and_ends() -> None:
    line = Line()
    line.send(type="session.update", session={"audio": {"input": {"turn_detection": None}}})
    assert line.kinds(SpeechStarted(I, 0), SpeechStopped(I, 9)) == []
    assert line.kinds(SpeechStarted(I, 0), audible=True) == []
    assert line.kinds(ReplyCut(R, CutReason.TURN_DETECTED)) == []
    assert line.kinds(ended())[0] == "input_audio_buffer.committed"


NO_REPLY = (ended(), Discarded(I, Waste.NO_SPEECH), KeyPressed("1"), Cleared(), Fault(WrongState()))


@pytest.mark.parametrize("settles", [ReplyBegan(R, None), *NO_REPLY], ids=lambda event: type(event).__name__)
def test_a_reply_is_asked_for_once_until_it_begins_or_may_never_come(settles: CallEvent) -> None:
    line = Line()
    assert line.send(type="response.create", response={"metadata": {"of": "first"}}).inputs
    refused = line.send(type="response.create", response={"metadata": {"of": "second"}})
    assert refused.inputs == ()
    (told,) = refused.answers
    assert isinstance(told, Failure)
    assert told.error.code == "conversation_already_has_active_response"
    begun = line.hear(settles)
    if isinstance(settles, ReplyBegan):
        assert begun[0]["response"]["metadata"]["of"] == "first"
        line.hear(ReplyEnded(R, ReplyStatus.COMPLETED, ""))
    assert line.send(type="response.create").inputs


def test_speech_over_a_reply_is_told_once_it_counts() -> None:
    line = Line()
    assert line.kinds(SpeechStarted(I, 0), SpeechStopped(I, 9), audible=True) == []
    assert line.kinds(Discarded(I, Waste.BACKCHANNEL)) == []
    assert line.kinds(SpeechStarted(I, 0), audible=True) == []
    assert line.kinds(ReplyCut(R, CutReason.TURN_DETECTED)) == ["input_audio_buffer.speech_started"]
    assert line.kinds(SpeechStarted(I, 0), SpeechStopped(I, 9), audible=True) == []
    told = line.kinds(ended())
    assert told[:3] == [f"input_audio_buffer.{what}" for what in ("speech_started", "speech_stopped", "committed")]


def test_a_truncation_of_words_is_an_interruption_and_of_anything_else_is_nothing() -> None:
    line = Line()
    line.hear(ReplyBegan(R, None), ReplyProgress(R, ReplyText("Hi.")), ReplyEnded(R, ReplyStatus.COMPLETED, "Hi."))
    cut = (PlaybackIn(R, PlaybackState.INTERRUPTED),)
    assert line.send(type="conversation.item.truncate", item_id="item_r", audio_end_ms=10**9).inputs == cut
    assert line.send(type="conversation.item.delete", item_id="item_r").inputs == cut
    assert line.send(type="conversation.item.truncate", item_id="i", audio_end_ms=0).inputs == ()


def test_a_cancellation_always_stops_what_may_be_heard() -> None:
    line = Line()
    given = line.send(type="response.cancel")
    assert (given.inputs, given.answers) == ((CancelIn(said=False),), ())
    assert line.hear(Fault(NoSuchReply("none")))[0]["error"]["code"] == "response_cancel_not_active"
    line.hear(ReplyBegan(R, None))
    given = line.send(type="response.cancel", response_id="r")
    assert (given.inputs, given.answers) == ((CancelIn(R, said=False),), ())


def test_settings_are_changed_only_where_they_change() -> None:
    line = Line()
    assert line.send(type="session.update", session={"type": "realtime", "instructions": "x"}).inputs == ()
    (given,) = line.send(type="session.update", session={"audio": {"input": {"format": {"type": "audio/pcmu"}}}}).inputs
    assert isinstance(given, ConfigureIn)
    assert given.form is not None
    assert given.patience is None


HEARD = {"type": "semantic_vad", "create_response": True, "interrupt_response": True}
IN_FORCE: list[tuple[dict[str, Any], tuple[str, ...], object]] = [
    ({"audio": {"input": {"turn_detection": HEARD | {"eagerness": named}}}}, TURNS, HEARD | {"eagerness": shown})
    for named, shown in {"low": "low", "medium": "medium", "high": "high", "auto": "auto", "hasty": "auto"}.items()
]
IN_FORCE += [
    ({"audio": {"input": {"turn_detection": {"type": "none"}}}}, TURNS, None),
    ({"output_modalities": ["image"]}, ("output_modalities",), ["audio"]),
    ({"output_modalities": ["text", "image"]}, ("output_modalities",), ["text"]),
]
IN_FORCE += [
    ({"audio": {"input": {"transcription": {"language": named}}}}, ("tellerline", "locale"), shown)
    for named, shown in {
        "en_GB": "en-GB",
        "EN-gb": "en-GB",
        "ja": "ja-JP",
        "ja_JP": "ja-JP",
        "ja-Hira": "ja-JP",
        "en": "en-US",
        "en-AU": "en-US",
        "fr": "en-US",
        "": "en-US",
    }.items()
]


@pytest.mark.parametrize(("session", "where", "shown"), IN_FORCE)
def test_what_is_in_force_is_shown(session: dict[str, Any], where: tuple[str, ...], shown: object) -> None:
    line = Line(speaks=True)
    (answer,) = line.send(type="session.update", session=session).answers
    assert isinstance(answer, SessionChanged)
    found: Any = answer.session.model_dump(mode="json", by_alias=True)
    for name in where:
        found = found[name]
    assert found == shown


@pytest.mark.parametrize(("ms", "refused"), [(10.0, False), (10.9, False), (-1, True), ("ten", True), (None, True)])
def test_a_player_may_reckon_in_fractions(ms: object, refused: bool) -> None:
    line = Line()
    line.send(type="conversation.item.create", item={"type": "message", "role": "assistant", "content": [], "id": "a"})
    cut = line.send(type="conversation.item.truncate", item_id="a", content_index=0, audio_end_ms=ms)
    told = line.send(type="tellerline.playback", response_id="r", state="started", played_ms=ms)
    assert (cut.refused is not None) is refused
    assert (told.refused is not None) is (refused and ms is not None)


@pytest.mark.parametrize("made", [base64.b64encode, base64.urlsafe_b64encode])
def test_sound_is_read_in_either_alphabet(made: Callable[[bytes], bytes]) -> None:
    sound = bytes([251, 255, 190]) * 8
    assert line_of(made(sound)) == line_of(made(sound).rstrip(b"=")) == sound


def test_alphabets_do_not_mix() -> None:
    assert Line().send(type="input_audio_buffer.append", audio="+_-/").refused is not None


def line_of(sound: bytes) -> bytes:
    (given,) = Line().send(type="input_audio_buffer.append", audio=sound.decode()).inputs
    assert isinstance(given, AudioIn)
    return given.data


def test_errors_that_a_client_can_do_nothing_about_are_not_sent() -> None:
    line = Line()
    assert line.kinds(Fault(BankUnavailable())) == []
    (ended_,) = line.hear(Fault(CallTooLong()))
    assert ended_["error"]["code"] == "call_too_long"
    (over,) = line.hear(Fault(Unauthenticated("the token's time is over")))
    assert over["error"]["code"] == "invalid_api_key"


def test_a_client_that_would_call_again_is_told_that_the_call_is_over() -> None:
    assert Line().protocol.farewell() == []
    (last,) = Line(final=True).protocol.farewell()
    assert orjson.loads(last)["error"]["code"] == "account_deactivated"
