"""A call's events to events of the wire."""

from collections.abc import Iterator
from datetime import date
from functools import singledispatch
from typing import Literal, assert_never

from pydantic import BaseModel, JsonValue

from app.transports._decode import to_session
from schemas import call, turn
from schemas.errors import BadInput, NotAllowed, TellerlineError
from schemas.intent import Slots
from schemas.span import DateValue, MoneyValue, Span, SpanValue, TimeValue
from schemas.transcript import Source
from schemas.wire import server
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
        self._said: set[str] = set()

    def created(self, config: call.CallConfig) -> str:
        """The first event."""
        return self._text(server.SessionCreated(session=to_session(config, self._identity)))

    def encode(self, event: call.CallEvent) -> list[str]:
        """The messages that tell of `event`, in order."""
        return [self._text(told) for told in self._tell(event)]

    def _text(self, event: BaseModel) -> str:
        self._count += 1
        if isinstance(event, server.Event):
            event = event.model_copy(update={"event_id": f"event_{self._count}"})
        return event.model_dump_json(by_alias=True)

    def _tell(self, event: call.CallEvent) -> Iterator[BaseModel]:
        match event:
            case turn.Partial():
                yield from self._partial(event)
            case turn.Ended():
                yield from self._ended(event)
            case call.Said(reply, said):
                yield from self._reply(reply, said)
            case call.ReplyEnded():
                yield from self._reply_ended(event)
            case call.Configured(config):
                yield server.SessionUpdated(session=to_session(config, self._identity))
            case call.KeyPressed(key):
                yield server.KeyReceived(event=_masked(key), received_at=int(self._clock.now().timestamp()))
            case turn.SpeechStarted(item, at_ms):
                self._started_ms = at_ms
                yield server.SpeechStartedEvent(item_id=item, audio_start_ms=at_ms)
            case _:
                yield _plain(event)

    def _partial(self, event: turn.Partial) -> Iterator[BaseModel]:
        yield server.PartialEvent(
            item_id=event.item, revision=event.revision, text=event.text, stable_chars=event.stable
        )
        item, shown = self._shown
        shown = shown if item == event.item else ""
        stable = event.text[: event.stable]
        if len(stable) > len(shown) and stable.startswith(shown):
            self._shown = (event.item, stable)
            yield server.TranscriptDelta(item_id=event.item, delta=stable[len(shown) :])

    def _ended(self, event: turn.Ended) -> Iterator[BaseModel]:
        yield server.EndedEvent(
            item_id=event.item,
            revision=event.revision,
            rule=event.rule,
            source=event.transcript.source.value,
            voiced_until_ms=event.voiced_until_ms,
            ended_at_ms=event.ended_at_ms,
        )
        yield server.AudioCommitted(item_id=event.item, previous_item_id=self._previous)
        self._previous = event.item
        if event.transcript.source is Source.SPEECH:
            seconds = (event.voiced_until_ms - self._started_ms) / 1000
            usage = server.DurationUsage(seconds=seconds)
            yield server.TranscriptCompleted(item_id=event.item, transcript=event.transcript.text, usage=usage)

    def _reply_ended(self, event: call.ReplyEnded) -> Iterator[BaseModel]:
        if event.status is call.ReplyStatus.COMPLETED:
            yield server.TextDone(response_id=event.reply, item_id=_output(event.reply), text=event.text)
        error = server.ResponseError(code=event.error.code, type=_kind(event.error)) if event.error else None
        details = server.StatusDetails(
            type=event.status.value, reason=event.cut.value if event.cut else None, error=error
        )
        self._said.discard(event.reply)
        yield server.ResponseDone(
            response=server.Response(
                id=event.reply,
                status=event.status.value,
                status_details=details,
                metadata={"awaits": event.awaits.value},
            )
        )

    def _reply(self, reply: str, said: turn.ReplyEvent) -> Iterator[BaseModel]:
        match said:
            case turn.ReplyText(text, citations):
                if citations:
                    bodies = [server.CitationBody(passage=c.passage, title=c.title) for c in citations]
                    yield server.CitationsEvent(response_id=reply, citations=bodies)
                delta = f" {text}" if reply in self._said else text
                self._said.add(reply)
                yield server.TextDelta(response_id=reply, item_id=_output(reply), delta=delta)
            case turn.ReplyDone():
                return
            case _:
                yield _stage_event(reply, said)


def _kind(error: TellerlineError) -> "server.ErrorKind":
    return "invalid_request_error" if isinstance(error, BadInput | NotAllowed) else "server_error"


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
    return server.SpeechStoppedEvent(item_id=event.item, audio_end_ms=event.at_ms)


@_plain.register
def _(event: turn.Eager) -> BaseModel:
    return server.EagerEvent(
        item_id=event.item,
        revision=event.revision,
        transcript=event.transcript.text,
        completeness=event.completeness.value,
        wait_ms=event.wait_ms,
        rule=event.rule,
    )


@_plain.register
def _(event: turn.Resumed) -> BaseModel:
    return server.ResumedEvent(item_id=event.item, revision=event.revision)


@_plain.register
def _(event: turn.Discarded) -> BaseModel:
    return server.DiscardedEvent(item_id=event.item, reason=event.reason.value)


@_plain.register
def _(event: turn.Merged) -> BaseModel:
    return server.MergedEvent(item_id=event.item, into_item_id=event.into)


@_plain.register
def _(event: call.ReplyBegan) -> BaseModel:
    return server.ResponseCreated(response=server.Response(id=event.reply, status="in_progress"))


@_plain.register
def _(event: call.ReplyCut) -> BaseModel:
    return server.ReplyInterrupted(response_id=event.reply, reason=event.reason.value)


@_plain.register
def _(event: call.Timed) -> BaseModel:
    return server.TimingsEvent(response_id=event.reply, item_id=event.item, moments=event.moments, stages=event.stages)


@_plain.register
def _(_event: call.Cleared) -> BaseModel:
    return server.AudioCleared()


@_plain.register
def _(event: call.Fault) -> BaseModel:
    error = event.error
    body = server.ErrorBody(type=_kind(error), code=error.code, message=error.message, event_id=event.cause)
    return server.ErrorEvent(error=body)


def _stage_event(
    reply: str,
    said: turn.Normalized
    | turn.PayeesMatched
    | turn.Decided
    | turn.ReadBackReady
    | turn.TransferMoved
    | turn.HandedOff,
) -> BaseModel:
    match said:
        case turn.Normalized(spans):
            return server.SpansEvent(response_id=reply, spans=[_span(span) for span in spans])
        case turn.PayeesMatched():
            return _payees(reply, said)
        case turn.Decided():
            return _decision(reply, said)
        case turn.ReadBackReady():
            return _read_back(reply, said)
        case turn.TransferMoved(receipt):
            return server.LedgerEvent(
                response_id=reply,
                proposal_id=receipt.proposal,
                state=receipt.state.value,
                reference=receipt.reference,
                reason=receipt.reason,
            )
        case turn.HandedOff(reason, summary):
            return server.HandoffEvent(response_id=reply, reason=reason, summary=summary)
        case _:
            assert_never(said)


def _payees(reply: str, said: turn.PayeesMatched) -> server.PayeesEvent:
    match_ = said.match
    found = [server.PayeeCandidateBody(id=c.id, name=c.display_name, score=c.score) for c in match_.candidates]
    return server.PayeesEvent(
        response_id=reply,
        heard=match_.heard,
        outcome=match_.outcome.value,
        candidates=found,
        choice=match_.choice,
    )


def _decision(reply: str, said: turn.Decided) -> server.DecisionEvent:
    understood = said.understood
    return server.DecisionEvent(
        response_id=reply,
        decision=said.decision.kind.value,
        intent=understood.intent.value if understood.intent else None,
        route=understood.route.value,
        confidence=understood.confidence,
        rule=understood.rule,
        missing=[slot.value for slot in understood.missing],
        evidence=_evidence(understood.slots),
    )


def _evidence(slots: Slots) -> dict[str, str]:
    """The caller's words behind each slot."""
    found = {name: getattr(slots, name) for name in type(slots).__dataclass_fields__}
    return {name: slot.evidence.surface for name, slot in found.items() if slot is not None}


def _read_back(reply: str, said: turn.ReadBackReady) -> server.ReadBackEvent:
    proposal = said.proposal
    return server.ReadBackEvent(
        response_id=reply,
        proposal_id=proposal.id,
        amount_minor=proposal.order.amount.minor,
        currency=proposal.order.amount.currency,
        payee_id=proposal.order.payee_id,
        verification=proposal.verification.value,
        step_up_required=proposal.step_up_required,
        expires_at=proposal.expires_at.isoformat(),
    )


def _span(span: Span) -> server.SpanBody:
    return server.SpanBody(
        kind=span.kind.value,
        surface=span.surface,
        start=span.start,
        end=span.end,
        value=_value(span.value),
        rule=span.rule,
        ambiguity=span.ambiguity.value if span.ambiguity else None,
    )


def _value(value: SpanValue) -> JsonValue:
    """A span's value as the text contract writes it."""
    match value:
        case MoneyValue(amount_minor, currency):
            return {"amount_minor": amount_minor, "currency": currency}
        case DateValue(start, end):
            return _day(start) if start == end else {"start": _day(start), "end": _day(end)}
        case TimeValue(start, end):
            return start if start == end else {"start": start, "end": end}
        case _:
            return value


def _day(day: date) -> str:
    return day.isoformat()
