"""The OpenAI Realtime API over one call, sans I/O: a client's events to the call's inputs, and the call's to its own.

What a client adds to the conversation is context, and decides nothing, but for one thing: words of the user, written in
one item at the end, to which a reply is asked for before anything else happens, are what the caller typed.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import singledispatchmethod
from typing import Final

from pydantic import BaseModel

from app.transports.events.decode import to_input
from app.transports.events.encode import Encoder
from app.transports.live.dialect import Given
from app.transports.live.reply_sound import UNTOLD, reported
from app.transports.realtime.asked_for import AskedFor
from app.transports.realtime.failures import Refusal, failure
from app.transports.realtime.input_audio import InputBuffer, Speech
from app.transports.realtime.items import ROOT, UNKNOWN, Items, shown, words_of
from app.transports.realtime.ladder import item_of
from app.transports.realtime.replies import Replies
from app.transports.realtime.settings import CallSettings
from schemas import call, turn
from schemas.call import NoSuchReply
from schemas.errors import BadInput, TellerlineError, UnknownEvent, WrongState
from schemas.ids import Locale
from schemas.transcript import Source
from schemas.turn import ReplyId
from schemas.wire.client import PlaybackReport, PressKey, RenewToken
from schemas.wire.listening import (
    AudioCleared,
    AudioCommitted,
    DurationUsage,
    SpeechStartedEvent,
    SpeechStoppedEvent,
    TranscriptCompleted,
    TranscriptDelta,
)
from schemas.wire.realtime import client, parse_client_event, server
from schemas.wire.realtime.items import MAX_ID, InputAudio, Message
from schemas.wire.unreadable import Refused, cause_of
from services.ports import Clock

OWN: Final = "tellerline."
_SETTLES: Final = (turn.Ended, turn.Discarded, call.KeyPressed, call.Cleared, call.Fault)
"""After these a reply that was asked for may not come, and may be asked for again."""
_ATTENDS: Final = (SpeechStartedEvent, SpeechStoppedEvent)


class Realtime:
    """One call's `Dialect`. `final`: what ends the call is told as an error that no client takes for a lost line."""

    def __init__(
        self, settings: CallSettings, clock: Clock, identity: str, named: Locale | None, *, final: bool = False
    ) -> None:
        self.settings = settings
        self.config = settings.config
        self.named = named
        self._clock = clock
        self._final = final
        self._own = Encoder(clock, identity)
        self._items = Items()
        self._replies = Replies(settings, self._items, f"conv_{identity}")
        self._buffer = InputBuffer()
        self._speech = Speech()
        self._asked = AskedFor()

    # The dialect

    def begin(self, locale: Locale) -> None:
        """In the language that the address named, or the customer's own."""
        self.settings.config = self.config = replace(self.config, locale=locale)

    def opening(self) -> list[str]:
        """The settings in force."""
        return [self._own.text(server.SessionBegan(session=self.settings.shown()))]

    def sound(self, data: bytes) -> Given:  # noqa: ARG002 - whatever it is
        """Sound comes in base64 here."""
        return Given(refused=BadInput("this protocol has no binary messages"))

    def read(self, text: str) -> Given:
        """An event; what can't be read, or is none of the API's, is refused."""
        try:
            event = parse_client_event(text)
        except Refused as refused:
            return Given(refused=refused, cause=refused.cause)
        except UnknownEvent as refused:
            return Given(refused=refused, cause=cause_of(text, MAX_ID))
        except BadInput as refused:
            return Given(refused=refused)
        try:
            return replace(self._take(event), cause=event.event_id)
        except Refusal as known:  # clients cause these in good order
            return Given(answers=(failure(known, event.event_id),))
        except BadInput as refused:
            return Given(refused=refused, cause=event.event_id)

    def encode(self, event: call.CallEvent, *, audible: bool) -> list[str]:
        """The messages that tell of `event`, our own events among them where they are wanted."""
        own = [one for one in self._own.tell(event) if self.settings.events and _kind(one).startswith(OWN)]
        if isinstance(event, _SETTLES):
            self._asked.waits = False
        told = [one for one in self._tell(event, audible) if not (self._unattended and isinstance(one, _ATTENDS))]
        within = isinstance(event, call.ReplyProgress)
        return [self._own.text(one) for one in ([*told, *own] if within else [*own, *told])]

    @property
    def _unattended(self) -> bool:
        """Whether the client alone says when the caller speaks, and is not told of it."""
        return self.settings.config.patience.manual

    def farewell(self) -> list[str]:
        """A client that would take the end for a lost line, and call again, is told otherwise."""
        if not self._final:
            return []
        over = server.ErrorDetails(type="invalid_request_error", code="account_deactivated", message="the call is over")
        return [self._own.text(server.Failure(error=over))]

    # What the client says

    @singledispatchmethod
    def _take(self, event: client.ClientEvent) -> Given:
        raise AssertionError(type(event))

    @_take.register
    def _(self, event: client.SessionUpdate) -> Given:
        changes = self.settings.change(event.session)
        answer = server.SessionChanged(session=self.settings.shown())
        return Given((changes,) if changes else (), (answer,))

    @_take.register
    def _(self, event: client.BufferAppend) -> Given:
        return Given(self._buffer.append(event.audio))

    @_take.register
    def _(self, _event: client.BufferCommit) -> Given:
        return Given((call.CommitIn(),))

    @_take.register
    def _(self, _event: client.BufferClear) -> Given:
        self._buffer.clear()
        return Given((call.ClearIn(),))

    @_take.register
    def _(self, _event: client.OutputClear | client.Elsewhere) -> Given:
        return Given()

    @_take.register
    def _(self, event: client.ItemCreate) -> Given:
        item = shown(event.item, event.item.id or f"item_{self._clock.new_id()}")
        last, alone = self._items.last, self._asked.add()
        before = self._items.add(item, event.previous_item_id)
        if alone and event.previous_item_id in {None, last or ROOT}:
            self._asked.write(item.id, words_of(event.item), self._clock.monotonic())
        return Given(
            answers=(
                server.ItemAdded(previous_item_id=before, item=item),
                server.ItemDone(previous_item_id=before, item=item),
            )
        )

    @_take.register
    def _(self, event: client.ItemTruncate) -> Given:
        sent, item = self._replies.of(event.item_id), self._items.get(event.item_id)
        if sent is None and item is None:
            raise Refusal("item_truncate_invalid_item_id", UNKNOWN, "item_id")
        if sent is None and getattr(item, "role", "") != "assistant":
            raise Refusal("unsupported_content_type", "Only model output audio messages can be truncated", "item_id")
        total = int(sent.out.sent_ms) if sent and sent.speaks else event.audio_end_ms
        heard = min(event.audio_end_ms, total)
        answer = server.ItemTruncated(item_id=event.item_id, content_index=event.content_index, audio_end_ms=heard)
        over = sent is not None and sent.speaks and sent is not self._replies.open
        whole = sent is not None and over and sent.out.whole(event.audio_end_ms)
        if sent is not None and sent.speaks and not whole:
            sent.heard(heard)
        return Given(() if whole or sent is None else _unheard(sent.reply), (answer,))

    @_take.register
    def _(self, event: client.ItemDelete) -> Given:
        sent = self._replies.of(event.item_id)
        if self._items.get(event.item_id) is None and sent is None:
            raise Refusal("item_delete_invalid_item_id", UNKNOWN, "item_id")
        self._items.remove(event.item_id)
        self._asked.remove(event.item_id)
        return Given(_unheard(sent.reply) if sent else (), (server.ItemDeleted(item_id=event.item_id),))

    @_take.register
    def _(self, event: client.ItemRetrieve) -> Given:
        item = self._items.get(event.item_id)
        if item is None:
            raise Refusal("item_retrieve_invalid_item_id", UNKNOWN, "item_id")
        return Given(answers=(server.ItemRetrieved(item=item),))

    @_take.register
    def _(self, event: client.ResponseCreate) -> Given:
        wish = event.response or client.ResponseWish()
        if wish.conversation == "none" or wish.input is not None:
            reply = ReplyId(self._clock.new_id())
            return Given(answers=tuple(self._replies.aside(reply, wish.metadata)))
        if self._replies.open is not None or self._asked.waits:
            raise Refusal("conversation_already_has_active_response", "a reply is being given")
        self._replies.wished = wish.metadata
        return Given((self._asked.ask(),))

    @_take.register
    def _(self, event: client.ResponseCancel) -> Given:
        return Given((call.CancelIn(ReplyId(event.response_id) if event.response_id else None, said=False),))

    @_take.register
    def _(self, event: PressKey) -> Given:
        return Given((to_input(event),))

    @_take.register
    def _(self, event: PlaybackReport) -> Given:
        if not self._replies.knows(event.response_id):
            raise Refusal(NoSuchReply.code, UNTOLD, "response_id")
        sent = self._replies.of(item_of(event.response_id))
        return Given((reported(event, sent.out if sent and sent.speaks else None),))

    @_take.register
    def _(self, event: RenewToken) -> Given:
        return Given(token=event.token)

    # What the call says

    def _tell(self, event: call.CallEvent, audible: bool) -> Iterator[BaseModel]:  # noqa: C901, PLR0912 - one case an event
        match event:
            case call.Answered(answer):
                assert isinstance(answer, BaseModel)
                yield answer
            case turn.SpeechStarted(item, at_ms):
                started = SpeechStartedEvent(item_id=item, audio_start_ms=at_ms)
                yield from self._speech.start(started, over_reply=audible)
            case turn.SpeechStopped(item, at_ms):
                yield from self._speech.stop(SpeechStoppedEvent(item_id=item, audio_end_ms=at_ms))
            case turn.Discarded():
                self._speech.drop()
            case turn.Ended() if event.transcript.source is Source.SPEECH:
                yield from self._ended(event)
            case call.ReplyCut(_, reason):
                if reason is call.CutReason.TURN_DETECTED:
                    yield from self._speech.count()
            case call.ReplyBegan(reply):
                self._asked.settle()
                yield self._replies.begin(reply)
            case call.ReplyProgress(reply, turn.ReadBackReady(proposal)):
                self._replies.propose(reply, proposal.id)
            case call.ReplyProgress(reply, turn.ReplyText(text, _, template), between):
                yield from self._replies.say(reply, between + text, template)
            case call.Voiced(reply, chunk):
                yield from self._replies.sound(reply, chunk)
            case call.ReplyEnded():
                yield from self._replies.end(event)
            case call.Cleared():
                yield AudioCleared()
            case call.KeyPressed() if self.settings.events:
                yield from self._own.tell(event)
            case call.Fault(error, cause):
                yield from self._fault(error, cause)

    def _ended(self, event: turn.Ended) -> Iterator[BaseModel]:
        yield from self._speech.count()
        seconds = self._speech.seconds(event.item, event.voiced_until_ms)
        yield from self._committed(event.item, event.transcript.text, seconds)

    def _committed(self, item: str, words: str, seconds: float) -> Iterator[BaseModel]:
        self._asked.settle()
        self._buffer.uncommitted = 0
        message = Message(id=item, role="user", content=(InputAudio(),))
        before = self._items.put(message)
        yield AudioCommitted(item_id=item, previous_item_id=before)
        yield server.ItemAdded(previous_item_id=before, item=message)
        yield server.ItemDone(previous_item_id=before, item=message)
        if self.settings.transcribes:
            self._items.change(message.model_copy(update={"content": (InputAudio(transcript=words),)}))
            yield TranscriptDelta(item_id=item, delta=words)
            yield TranscriptCompleted(item_id=item, transcript=words, usage=DurationUsage(seconds=max(0.0, seconds)))

    def _fault(self, error: TellerlineError, cause: str | None) -> Iterator[BaseModel]:
        """A failure that is said, or after which the caller is asked again, is no error: some clients would hang up."""
        if isinstance(error, NoSuchReply):
            yield failure(Refusal("response_cancel_not_active", f"Cancellation failed: {error.message}"), cause)
        elif error.fatal or (isinstance(error, BadInput) and not isinstance(error, WrongState)):
            yield failure(error, cause)
        elif isinstance(error, WrongState) and self.settings.config.patience.manual and self._buffer.uncommitted:
            yield from self._committed(f"item_{self._clock.new_id()}", "", 0.0)


def _unheard(reply: ReplyId) -> tuple[call.CallInput, ...]:
    return (call.PlaybackIn(reply, call.PlaybackState.INTERRUPTED),)


def _kind(event: BaseModel) -> str:
    return str(getattr(event, "type", ""))
