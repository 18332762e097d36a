"""A live call's line, whatever is spoken on it: admission, reading, writing, standing, and the goodbye."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Final

from fastapi import WebSocket
from fastapi.responses import Response
from starlette.websockets import WebSocketDisconnect, WebSocketState

from app.errors import error_response
from app.transports._dialect import Dialect, Message
from app.transports._standing import Admitted, Standing, Verify
from schemas.call import Answered, AskIn, CallInput, CommitIn, ConfigureIn, Fault, KeyIn, TypedIn
from schemas.errors import BadInput, CallIdle, DependencyFailed, SlowConsumer, TellerlineError
from schemas.ids import CallId, CustomerId, Locale
from services.audio.vad import SileroVad
from services.call import CAPACITY, CallPorts, LiveCall, Outbox
from services.guard.admission import Admission
from services.guard.shares import Shares
from services.observability.metrics import Metrics
from services.ports import Clock, Recognizer, Synthesizer, TurnHandler
from services.timing.finish import finish

log = logging.getLogger(__name__)

FIRST_MESSAGE_S: Final = 20.0
"""A client that opens a call and says nothing at all is let go after this."""
SEND_S: Final = 10.0
"""A message that the client does not take within this time ends the call."""
FLUSH_S: Final = 2.0
"""What the last events of a call may take."""
HUNG_UP: Final = 1000
"""The close code of a client that hung up; with any other, or none at all, the line dropped."""
TURNS: Final = 50
"""What may be typed or keyed at once."""
TURN_S: Final = 0.1
"""And then one in so many seconds: faster, it is not read."""
ROOM_S: Final = 0.01
"""How often it is looked whether there is room for more answers."""
MAX_REFUSED: Final = 64
"""Events of a client that may be refused before it is let go."""


def _alone(_customer: CustomerId, _call: CallId) -> AbstractAsyncContextManager[None]:
    """There is no other gateway."""
    return contextlib.nullcontext()


@dataclass(frozen=True, slots=True)
class CallDeps:
    """What the composition root provides. `authenticate` raises NotAllowed; `handler` opens a call's dialogue."""

    admission: Admission
    shares: Shares
    authenticate: Callable[[WebSocket], Awaitable[Admitted]]
    handler: Callable[[CustomerId, CallId, Locale], Awaitable[TurnHandler]]
    recognizer: Recognizer
    vad: SileroVad
    clock: Clock
    metrics: Metrics
    verify: Verify
    consent: Callable[[CallId, bool], None]
    synthesizer: Synthesizer | None = None
    max_call_seconds: float = 900.0
    together: Callable[[CustomerId, CallId], AbstractAsyncContextManager[None]] = _alone
    """Counts a call with those of every other gateway, as long as it lasts. Raises RateLimited, StoreUnavailable."""

    @asynccontextmanager
    async def place(self, customer: CustomerId, call: CallId) -> AsyncIterator[None]:
        """One of the calls a customer may have at once, at all gateways. Raises RateLimited, StoreUnavailable."""
        with self.shares.call(customer):
            async with self.together(customer, call):
                yield


Opens = Callable[[CallId], Dialect]
"""What is spoken in a new call."""


async def serve(socket: WebSocket, deps: CallDeps, opens: Opens, subprotocols: Collection[str]) -> None:
    """One connection, from the handshake to its end. The first of `subprotocols` that was offered is answered.

    A browser that offers its token must be answered with one that it offered.
    """
    try:
        deps.shares.connection(socket.client.host if socket.client else "")
        deps.admission.check()  # first: what is refused here may be asked of another gateway, its nonce not yet taken
        admitted = await deps.authenticate(socket)
        with deps.admission.enter():
            chosen = next((one for one in subprotocols if one in socket.scope.get("subprotocols", ())), None)
            await _Line(socket, deps, admitted, opens).serve(chosen)
    except TellerlineError as refused:
        deps.metrics.error(refused.code)
        await _refuse(socket, error_response(refused), refused)


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

    def __init__(self, socket: WebSocket, deps: CallDeps, admitted: Admitted, opens: Opens) -> None:
        self._socket = socket
        self._deps = deps
        self._outbox = Outbox()
        self._id = CallId(deps.clock.new_id())
        self._dialect = opens(self._id)
        self._customer = admitted.customer
        self._standing = Standing(admitted, deps.verify, deps.admission, self._outbox, deps.clock)
        self._refused = 0
        self._due = 0.0

    async def serve(self, subprotocol: str | None) -> None:
        """The whole call, one of the customer's wherever the others are."""
        async with self._deps.place(self._customer, self._id):
            await self._serve(subprotocol)

    async def _serve(self, subprotocol: str | None) -> None:
        deps, config = self._deps, self._dialect.config
        async with deps.shares.opening():
            handler = await deps.handler(self._customer, self._id, config.locale)
        try:
            await self._socket.accept(subprotocol)
        except (WebSocketDisconnect, RuntimeError, OSError):  # gone before it was answered
            await finish(handler.close())
            return
        ports = CallPorts(handler, deps.recognizer, deps.vad, deps.clock, deps.synthesizer)
        call = LiveCall(ports, self._outbox, config, seconds=deps.max_call_seconds)
        reason = await self._converse(call)
        if reason is None:
            await _close(self._socket, 1000, "the call is over")
            return
        deps.metrics.error(reason.code)
        await _close(self._socket, reason.ws_close, reason.code)

    async def _converse(self, call: LiveCall) -> TellerlineError | None:
        """Read, live and write until one of them ends; why it did. A client that hung up is no reason."""
        reading, living, writing = (
            asyncio.create_task(work) for work in (self._read(call), call.run(), self._write(call))
        )
        standing = asyncio.create_task(self._stand())
        tasks = {reading, living, writing, standing}
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            reason = next((_outcome(task) for task in (living, reading, writing, standing) if task.done()), None)
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
                async with asyncio.timeout(limit):
                    message = await self._socket.receive()
            except TimeoutError:
                raise CallIdle("the client sent nothing") from None
            limit = None
            if message["type"] == "websocket.disconnect":
                call.hung_up = message.get("code") == HUNG_UP
                raise _Hung
            try:
                await self._take(call, message.get("bytes"), message.get("text"))
            except DependencyFailed as error:
                self._outbox.put(Fault(error))

    async def _take(self, call: LiveCall, data: bytes | None, text: str | None) -> None:
        """What a message is goes into the call, is answered at once, or is about the line itself."""
        given = self._dialect.sound(data) if data is not None else self._dialect.read(text or "")
        if given.refused is not None:
            self._refuse(given.refused, given.cause)
        for answer in given.answers:
            await self._room()
            self._outbox.put(Answered(answer))
        if given.token is not None:
            await self._standing.renew(given.token)
        for one in given.inputs:
            await self._put(call, one, given.cause)

    async def _room(self) -> None:
        """Let what was answered go out: no more is read while the client has much to take."""
        await asyncio.sleep(0)
        while len(self._outbox) > CAPACITY // 2:  # noqa: ASYNC110 - the client empties it
            await asyncio.sleep(ROOM_S)

    async def _put(self, call: LiveCall, given: CallInput, cause: str | None) -> None:
        if isinstance(given, ConfigureIn) and given.recording is not None:
            self._deps.consent(self._id, given.recording)
        if isinstance(given, TypedIn | AskIn | KeyIn | CommitIn):
            await self._in_time()
        await call.put(given, cause)

    async def _in_time(self) -> None:
        """Wait where turns are taken faster than anybody means them: past TURNS of them, one in TURN_S."""
        now = self._deps.clock.monotonic()
        self._due = max(now, self._due) + TURN_S
        await asyncio.sleep(max(0.0, self._due - now - TURNS * TURN_S))

    async def _stand(self) -> TellerlineError | None:
        await self._standing.run()
        return None

    def _refuse(self, error: BadInput, cause: str | None) -> None:
        self._deps.metrics.error(error.code)
        self._refused += 1
        if error.fatal or self._refused > MAX_REFUSED:
            raise error
        self._outbox.put(Fault(error, cause))

    async def _write(self, call: LiveCall) -> None:
        """Events out, until there are no more."""
        for text in self._dialect.opening():
            await self._send(text)
        event = None
        while (following := await self._outbox.get()) is not None:
            event = following
            for message in self._dialect.encode(event, audible=call.audible):
                await self._send(message)
        for text in () if isinstance(event, Fault) else self._dialect.farewell():
            await self._send(text)

    async def _send(self, message: Message) -> None:
        send = self._socket.send_text(message) if isinstance(message, str) else self._socket.send_bytes(message)
        try:
            async with asyncio.timeout(SEND_S):
                await send
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
