"""WS /v1/calls: a live call from an app. Audio as binary messages or in base64, everything else as JSON text."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from fastapi import APIRouter, WebSocket
from pydantic import BaseModel

from app.transports.events.decode import to_input
from app.transports.events.encode import Encoder
from app.transports.live.deps import CallDeps
from app.transports.live.dialect import Given, Message
from app.transports.live.line import serve
from app.transports.live.reply_sound import TOLD, UNTOLD, AudioChunk, ReplySound, reported
from schemas.call import (
    Answered,
    AudioIn,
    CallConfig,
    CallEvent,
    CallInput,
    Configured,
    ConfigureIn,
    NoSuchReply,
    ReplyBegan,
    ReplyEnded,
    ReplyStatus,
    Voiced,
)
from schemas.errors import BadInput
from schemas.ids import CallId, Locale
from schemas.turn import ReplyId
from schemas.wire import ClientEvent, PlaybackReport, RenewToken, parse_client_event
from schemas.wire.client import MAX_EVENT_ID
from schemas.wire.failure import ErrorEvent, body_of
from schemas.wire.reply import ReplyAudio
from schemas.wire.unreadable import cause_of
from services.ports import Clock

SUBPROTOCOL: Final = "tellerline.v1"
REMEMBERED: Final = 32
"""Replies of which it is known how much sound was sent."""


def router(deps: CallDeps) -> APIRouter:
    """The route of the calls."""
    routes = APIRouter()
    voice = deps.synthesizer is not None

    @routes.websocket("/v1/calls")
    async def calls(socket: WebSocket) -> None:
        await serve(socket, deps, lambda call: Calls(deps.clock, call, deps.recordable, voice=voice), (SUBPROTOCOL,))

    return routes


class Calls:
    """One call's `Dialect`: our own events. `voice`: replies can be spoken, where a client wants it.

    `recordable` says whether the call is recorded where that is agreed to.
    """

    def __init__(self, clock: Clock, identity: CallId, recordable: Callable[[CallId], bool], *, voice: bool) -> None:
        self._identity = identity
        self._recordable = recordable
        self.config = CallConfig()
        self.named: Locale | None = None
        self._encoder = Encoder(clock, identity)
        self._voice = voice
        self._output = self.config.output
        self._sounds: dict[ReplyId, ReplySound] = {}
        self._told_of: deque[str] = deque(maxlen=TOLD)

    def begin(self, locale: Locale) -> None:
        """In the customer's own language."""
        self.config = replace(self.config, locale=locale)

    def opening(self) -> list[str]:
        """The settings in force."""
        return [self._encoder.created(self.config)]

    def sound(self, data: bytes) -> Given:
        """Sound in the call's format."""
        return Given((AudioIn(data),))

    def read(self, text: str) -> Given:
        """An event; what can't be read is refused."""
        try:
            event = parse_client_event(text)
            if isinstance(event, RenewToken):
                return Given(token=event.token)
            return Given((self._input(event),), cause=event.event_id)
        except NoSuchReply as known:  # clients cause these in good order
            return Given(answers=(ErrorEvent(error=body_of(known, event.event_id)),))
        except BadInput as refused:
            return Given(refused=refused, cause=cause_of(text, MAX_EVENT_ID))

    def encode(self, event: CallEvent, *, audible: bool) -> Sequence[Message]:  # noqa: ARG002 - it is told whatever is heard
        """The messages that tell of `event`, in order."""
        match event:
            case Answered(answer):
                assert isinstance(answer, BaseModel)
                return [self._encoder.text(answer)]
            case ReplyBegan(reply):
                self._told_of.append(reply)
            case Configured(config):
                self._output = config.output
            case Voiced(reply, chunk):
                return list(self._told(reply, self._sound_of(reply).pieces(chunk)))
            case ReplyEnded(reply, ReplyStatus.COMPLETED) if reply in self._sounds:
                return [*self._told(reply, self._sounds[reply].rest()), *self._encoder.encode(event)]
        return self._encoder.encode(event)

    def farewell(self) -> list[str]:
        """The close code says it."""
        return []

    def _input(self, event: ClientEvent) -> CallInput:
        if isinstance(event, PlaybackReport):
            if event.response_id not in self._told_of:
                raise NoSuchReply(UNTOLD)
            return reported(event, self._sounds.get(ReplyId(event.response_id)))
        given = to_input(event)
        if isinstance(given, ConfigureIn) and given.speaks:
            given = replace(given, speaks=self._voice)
        if isinstance(given, ConfigureIn) and given.recording and not self._recordable(self._identity):
            given = replace(given, recording=False)
        return given

    def _sound_of(self, reply: ReplyId) -> ReplySound:
        """A reply's way out, in the format in force when it began."""
        if reply not in self._sounds:
            self._sounds[reply] = ReplySound(self._output)
            while len(self._sounds) > REMEMBERED:
                del self._sounds[next(iter(self._sounds))]
        return self._sounds[reply]

    def _told(self, reply: ReplyId, pieces: Iterable[AudioChunk]) -> Iterator[Message]:
        """Each piece as an event that tells where it belongs, and its sound."""
        for piece in pieces:
            yield self._encoder.text(
                ReplyAudio(response_id=reply, start_ms=piece.at_ms, duration_ms=piece.ms, text_end=piece.text_end)
            )
            yield piece.data
