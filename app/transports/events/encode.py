"""A call's events to events of the wire."""

from collections.abc import Iterator
from functools import singledispatch
from typing import Literal

from pydantic import BaseModel

from app.transports.events.decode import to_session
from app.transports.events.encode_stages import stage_event
from schemas import call, turn
from schemas.transcript import Source
from schemas.wire.event import Event
from schemas.wire.failure import ErrorEvent, body_of, kind_of
from schemas.wire.line import DrainingEvent, TokenExpiringEvent, TokenRenewedEvent
from schemas.wire.listening import (
    AudioCleared,
    AudioCommitted,
    DurationUsage,
    KeyReceived,
    PartialEvent,
    SpeechStartedEvent,
    SpeechStoppedEvent,
    TranscriptCompleted,
    TranscriptDelta,
)
from schemas.wire.reply import (
    CitationBody,
    CitationsEvent,
    ReplyInterrupted,
    Response,
    ResponseCreated,
    ResponseDone,
    ResponseError,
    StatusDetails,
    TextDelta,
    TextDone,
)
from schemas.wire.server import SessionCreated, SessionUpdated
from schemas.wire.turn_taking import DiscardedEvent, EagerEvent, EndedEvent, MergedEvent, ResumedEvent
from schemas.wire.understood import TimingsEvent
from services.ports import Clock


class Encoder:
    """One call's way out. Numbers its events and remembers what was shown as stable."""

    def __init__(self, clock: Clock, identity: str) -> None:
        self._clock = clock
        self._identity = identity
        self._count = 0
        self._previous: str | None = None
        self._started_ms = 0
        self._shown: tuple[str, str] = ("", "")
        self._said: dict[str, str | None] = {}  # by reply, the template that it began with

    def created(self, config: call.CallConfig) -> str:
        """The first event."""
        return self.text(SessionCreated(session=to_session(config, self._identity)))

    def encode(self, event: call.CallEvent) -> list[str]:
        """The messages that tell of `event`, in order."""
        return [self.text(told) for told in self.tell(event)]

    def text(self, event: BaseModel) -> str:
        """An event as a message, with the next number."""
        self._count += 1
        if isinstance(event, Event):
            event = event.model_copy(update={"event_id": f"event_{self._count}"})
        return event.model_dump_json(by_alias=True)

    def tell(self, event: call.CallEvent) -> Iterator[BaseModel]:
        """The events that tell of `event`, not yet numbered."""
        match event:
            case turn.Partial():
                yield from self._partial(event)
            case turn.Ended():
                yield from self._ended(event)
            case call.ReplyProgress(reply, said, between):
                yield from self._reply(reply, said, between)
            case call.ReplyEnded():
                yield from self._reply_ended(event)
            case call.Configured(config):
                yield SessionUpdated(session=to_session(config, self._identity))
            case call.KeyPressed(key):
                yield KeyReceived(event=_masked(key), received_at=int(self._clock.now().timestamp()))
            case call.Voiced() | call.Answered():
                return  # every door has its own way
            case turn.SpeechStarted(item, at_ms):
                self._started_ms = at_ms
                yield SpeechStartedEvent(item_id=item, audio_start_ms=at_ms)
            case _:
                yield _plain(event)

    def _partial(self, event: turn.Partial) -> Iterator[BaseModel]:
        yield PartialEvent(item_id=event.item, revision=event.revision, text=event.text, stable_chars=event.stable)
        item, shown = self._shown
        shown = shown if item == event.item else ""
        stable = event.text[: event.stable]
        if len(stable) > len(shown) and stable.startswith(shown):
            self._shown = (event.item, stable)
            yield TranscriptDelta(item_id=event.item, delta=stable[len(shown) :])

    def _ended(self, event: turn.Ended) -> Iterator[BaseModel]:
        yield EndedEvent(
            item_id=event.item,
            revision=event.revision,
            rule=event.rule,
            source=event.transcript.source.value,
            voiced_until_ms=event.voiced_until_ms,
            ended_at_ms=event.ended_at_ms,
        )
        yield AudioCommitted(item_id=event.item, previous_item_id=self._previous)
        self._previous = event.item
        if event.transcript.source is Source.SPEECH:
            seconds = (event.voiced_until_ms - self._started_ms) / 1000
            usage = DurationUsage(seconds=seconds)
            yield TranscriptCompleted(item_id=event.item, transcript=event.transcript.text, usage=usage)

    def _reply_ended(self, event: call.ReplyEnded) -> Iterator[BaseModel]:
        if event.status is call.ReplyStatus.COMPLETED:
            yield TextDone(response_id=event.reply, item_id=_output(event.reply), text=event.text)
        error = ResponseError(code=event.error.code, type=kind_of(event.error)) if event.error else None
        details = StatusDetails(type=event.status.value, reason=event.cut.value if event.cut else None, error=error)
        template = self._said.pop(event.reply, None)
        yield ResponseDone(
            response=Response(
                id=event.reply,
                status=event.status.value,
                status_details=details,
                metadata={"awaits": event.awaits.value} | ({"template": template} if template else {}),
            )
        )

    def _reply(self, reply: str, said: turn.ReplyEvent, between: str) -> Iterator[BaseModel]:
        match said:
            case turn.ReplyText(text, citations, template):
                if citations:
                    bodies = [CitationBody(passage=c.passage, title=c.title) for c in citations]
                    yield CitationsEvent(response_id=reply, citations=bodies)
                self._said[reply] = self._said.get(reply) or template
                yield TextDelta(response_id=reply, item_id=_output(reply), delta=between + text)
            case turn.ReplyDone():
                return
            case _:
                yield stage_event(reply, said)


def _output(reply: str) -> str:
    return f"{reply}.text"


def _masked(key: str) -> Literal["*", "#", "digit"]:
    """Digits may be a card number or a code: none is repeated."""
    return "*" if key == "*" else "#" if key == "#" else "digit"


@singledispatch
def _plain(event: object) -> BaseModel:
    """Events that need no memory."""
    raise AssertionError(type(event))


@_plain.register
def _(event: turn.SpeechStopped) -> BaseModel:
    return SpeechStoppedEvent(item_id=event.item, audio_end_ms=event.at_ms)


@_plain.register
def _(event: turn.Eager) -> BaseModel:
    return EagerEvent(
        item_id=event.item,
        revision=event.revision,
        transcript=event.transcript.text,
        completeness=event.completeness.value,
        wait_ms=event.wait_ms,
        rule=event.rule,
    )


@_plain.register
def _(event: turn.Resumed) -> BaseModel:
    return ResumedEvent(item_id=event.item, revision=event.revision)


@_plain.register
def _(event: turn.Discarded) -> BaseModel:
    return DiscardedEvent(item_id=event.item, reason=event.reason.value)


@_plain.register
def _(event: turn.Merged) -> BaseModel:
    return MergedEvent(item_id=event.item, into_item_id=event.into)


@_plain.register
def _(event: call.ReplyBegan) -> BaseModel:
    return ResponseCreated(response=Response(id=event.reply, status="in_progress"))


@_plain.register
def _(event: call.ReplyCut) -> BaseModel:
    return ReplyInterrupted(response_id=event.reply, reason=event.reason.value)


@_plain.register
def _(event: call.Timed) -> BaseModel:
    return TimingsEvent(response_id=event.reply, item_id=event.item, moments=event.moments, stages=event.stages)


@_plain.register
def _(_event: call.Cleared) -> BaseModel:
    return AudioCleared()


@_plain.register
def _(event: call.TokenExpiring) -> BaseModel:
    return TokenExpiringEvent(expires_in_s=round(event.in_s))


@_plain.register
def _(event: call.TokenRenewed) -> BaseModel:
    return TokenRenewedEvent(expires_in_s=round(event.in_s))


@_plain.register
def _(event: call.Leaving) -> BaseModel:
    return DrainingEvent(closes_in_s=round(event.closes_in_s), retry_after_s=round(event.retry_after_s))


@_plain.register
def _(event: call.Fault) -> BaseModel:
    return ErrorEvent(error=body_of(event.error, event.cause))
