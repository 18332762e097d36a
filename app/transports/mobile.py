"""WS /v1/calls: a live call from an app. Audio as binary messages or in base64, everything else as JSON text."""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from fastapi import APIRouter, WebSocket
from fastapi.responses import Response
from starlette.websockets import WebSocketDisconnect, WebSocketState

from app.errors import error_response
from app.transports._decode import to_input
from app.transports._encode import Encoder
from schemas.call import AudioIn, CallConfig, CallInput, Fault
from schemas.errors import BadInput, CallIdle, SlowConsumer, TellerlineError
from schemas.ids import CallId, CustomerId, Locale
from schemas.wire import parse_client_event
from services.audio.vad import SileroVad
from services.call import CallPorts, LiveCall, Outbox
from services.finish import finish
from services.guard.admission import Admission
from services.observe import Metrics
from services.ports import Clock, Recognizer, TurnHandler

log = logging.getLogger(__name__)

SUBPROTOCOL: Final = "tellerline.v1"
"""Chosen where it is offered: a browser that offers its token must be answered with one it offered."""
FIRST_MESSAGE_S: Final = 20.0
"""A client that opens a call and says nothing at all is let go after this."""
SEND_S: Final = 10.0
"""A message that the client does not take within this time ends the call."""
FLUSH_S: Final = 2.0
"""What the last events of a call may take."""
HUNG_UP: Final = 1000
"""The close code of a client that hung up; with any other, or none at all, the line dropped."""
MAX_REFUSED: Final = 64
"""Events of a client that may be refused before it is let go."""


@dataclass(frozen=True, slots=True)
class MobileDeps:
    """What the composition root provides. `authenticate` raises NotAllowed; `handler` opens a call's dialogue."""

    admission: Admission
    authenticate: Callable[[WebSocket], Awaitable[CustomerId]]
    handler: Callable[[CustomerId, CallId, Locale], Awaitable[TurnHandler]]
    recognizer: Recognizer
    vad: SileroVad
    clock: Clock
    metrics: Metrics
    max_call_seconds: float = 900.0


def router(deps: MobileDeps) -> APIRouter:
    """The route of the calls."""
    routes = APIRouter()

    @routes.websocket("/v1/calls")
    async def calls(socket: WebSocket) -> None:
        try:
            with deps.admission.enter():
                customer = await deps.authenticate(socket)
                await _Line(socket, deps).serve(customer)
        except TellerlineError as refused:
            deps.metrics.error(refused.code)
            await _refuse(socket, error_response(refused), refused)

    return routes


async def _refuse(socket: WebSocket, denial: Response, error: TellerlineError) -> None:
    """Before the call is accepted, an HTTP answer; after that, a close code."""
    with contextlib.suppress(RuntimeError, WebSocketDisconnect):
        if socket.application_state is WebSocketState.CONNECTING:
            await socket.send_denial_response(denial)
        elif socket.application_state is WebSocketState.CONNECTED:
            await _close(socket, error.ws_close, error.code)


class _Hung(Exception):
    """The client closed the connection."""


class _Line:
    """One accepted connection: reads into the call, writes out of it."""

    def __init__(self, socket: WebSocket, deps: MobileDeps) -> None:
        self._socket = socket
        self._deps = deps
        self._outbox = Outbox()
        self._id = CallId(deps.clock.new_id())
        self._encoder = Encoder(deps.clock, self._id)
        self._refused = 0

    async def serve(self, customer: CustomerId) -> None:
        """The whole call."""
        deps, config = self._deps, CallConfig()
        handler = await deps.handler(customer, self._id, config.locale)
        offered = self._socket.scope.get("subprotocols", ())
        try:
            await self._socket.accept(SUBPROTOCOL if SUBPROTOCOL in offered else None)
        except (WebSocketDisconnect, RuntimeError, OSError):  # gone before it was answered
            await finish(handler.close())
            return
        ports = CallPorts(handler, deps.recognizer, deps.vad, deps.clock)
        call = LiveCall(ports, self._outbox, config, seconds=deps.max_call_seconds)
        reason = await self._converse(call)
        if reason is None:
            await _close(self._socket, 1000, "the call is over")
            return
        deps.metrics.error(reason.code)
        await _close(self._socket, reason.ws_close, reason.code)

    async def _converse(self, call: LiveCall) -> TellerlineError | None:
        """Read, live and write until one of them ends; why it did. A client that hung up is no reason."""
        reading, living, writing = (asyncio.create_task(work) for work in (self._read(call), call.run(), self._write()))
        tasks = {reading, living, writing}
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            reason = next((_outcome(task) for task in (living, reading, writing) if task.done()), None)
            if not isinstance(reason, _Hung | SlowConsumer):
                await self._say_last(reason, writing)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        if isinstance(reason, _Hung):
            return None
        return reason

    async def _say_last(self, reason: TellerlineError | None, writing: "asyncio.Task[TellerlineError | None]") -> None:
        with contextlib.suppress(SlowConsumer):
            if reason is not None:
                self._outbox.put(Fault(reason))
        self._outbox.close()
        await asyncio.wait({writing}, timeout=FLUSH_S)

    async def _read(self, call: LiveCall) -> None:
        """Messages in, until the client hangs up. Reading waits while the call has too much unheard."""
        limit: float | None = FIRST_MESSAGE_S
        while True:
            try:
                message = await asyncio.wait_for(self._socket.receive(), limit)
            except TimeoutError:
                raise CallIdle("the client sent nothing") from None
            limit = None
            if message["type"] == "websocket.disconnect":
                call.hung_up = message.get("code") == HUNG_UP
                raise _Hung
            try:
                await call.put(*self._given(message.get("bytes"), message.get("text")))
            except BadInput as error:
                self._refuse(error)

    def _given(self, data: bytes | None, text: str | None) -> tuple[CallInput, str | None]:
        """The input that a message is, and the client's id of it."""
        if data is not None:
            return AudioIn(data), None
        event = parse_client_event(text or "")
        return to_input(event), event.event_id

    def _refuse(self, error: BadInput) -> None:
        self._deps.metrics.error(error.code)
        self._refused += 1
        if error.fatal or self._refused > MAX_REFUSED:
            raise error
        self._outbox.put(Fault(error))

    async def _write(self) -> None:
        """Events out, until there are no more."""
        await self._send(self._encoder.created(CallConfig()))
        while (event := await self._outbox.get()) is not None:
            for text in self._encoder.encode(event):
                await self._send(text)

    async def _send(self, text: str) -> None:
        try:
            async with asyncio.timeout(SEND_S):
                await self._socket.send_text(text)
        except TimeoutError:
            raise SlowConsumer("the client does not read its events") from None
        except (WebSocketDisconnect, RuntimeError, OSError):
            raise _Hung from None


def _outcome(task: "asyncio.Task[TellerlineError | None]") -> "TellerlineError | _Hung | None":
    """Why a task ended; exceptions that nobody foresaw are raised."""
    error = task.exception()
    if error is None:
        return task.result()
    if isinstance(error, TellerlineError | _Hung):
        return error
    raise error


async def _close(socket: WebSocket, code: int, reason: str) -> None:
    """Say goodbye, unless the client does not even read that."""
    with contextlib.suppress(RuntimeError, WebSocketDisconnect, OSError, TimeoutError):
        async with asyncio.timeout(FLUSH_S):
            await socket.close(code, reason)
