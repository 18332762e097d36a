"""A live call's line, whatever is spoken on it: admission, reading, writing, standing, and the goodbye."""

import asyncio
import contextlib
from collections.abc import Callable, Collection
from typing import Final

from fastapi import WebSocket
from fastapi.responses import Response
from starlette.types import Message as Received
from starlette.websockets import WebSocketDisconnect, WebSocketState

from app.errors import error_response
from app.transports.live.deps import FIRST_MESSAGE_S, FLUSH_S, CallDeps
from app.transports.live.dialect import Dialect, Message
from app.transports.live.lease import Admitted, CallLease
from app.transports.live.together import Hung, first_end, together
from schemas.call import Answered, AskIn, CallInput, CommitIn, ConfigureIn, Fault, KeyIn, TypedIn
from schemas.errors import BadInput, CallIdle, DependencyFailed, SlowConsumer, TellerlineError
from schemas.ids import CallId
from services.call import CAPACITY, CallPorts, LiveCall, OutboundQueue
from services.ports import TurnHandler
from services.timing import ANSWER_S, finish, within

SEND_S: Final = 10.0
"""A message that the client does not take within this time ends the call."""
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


Opens = Callable[[CallId], Dialect]
"""What is spoken in a new call."""


async def serve(socket: WebSocket, deps: CallDeps, opens: Opens, subprotocols: Collection[str]) -> None:
    """One connection, from the handshake to its end. The first of `subprotocols` that was offered is answered.

    A browser that offers its token must be answered with one that it offered.
    """
    try:
        async with contextlib.AsyncExitStack() as held:
            with within(ANSWER_S):
                deps.shares.connection(socket.client.host if socket.client else "")
                deps.admission.check()  # first: another gateway may be asked instead, the nonce not yet taken
                admitted = await deps.authenticate(socket)
                held.enter_context(deps.admission.enter())
                line = _Line(socket, deps, admitted, opens)
                handler = await line.open(held)
            chosen = next((one for one in subprotocols if one in socket.scope.get("subprotocols", ())), None)
            await line.serve(handler, chosen)
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


class _Line:
    """One accepted connection: reads into the call, writes out of it."""

    def __init__(self, socket: WebSocket, deps: CallDeps, admitted: Admitted, opens: Opens) -> None:
        self._socket = socket
        self._deps = deps
        self._outbound = OutboundQueue()
        self._id = CallId(deps.clock.new_id())
        self._dialect = opens(self._id)
        self._customer = admitted.customer
        self._lease = CallLease(admitted, deps.verify, deps.admission, self._outbound, deps.clock)
        self._refused = 0
        self._due = 0.0

    async def open(self, held: contextlib.AsyncExitStack) -> TurnHandler:
        """The call's dialogue; one of the customer's calls, wherever the others are, for as long as `held` is."""
        await held.enter_async_context(self._deps.place(self._customer, self._id))
        async with self._deps.shares.opening():
            handler = await self._deps.handler(self._customer, self._id, self._dialect.named)
        self._dialect.begin(handler.locale)
        return handler

    async def serve(self, handler: TurnHandler, subprotocol: str | None) -> None:
        """The call, from its handshake's answer to its end."""
        deps, config = self._deps, self._dialect.config
        try:
            await self._socket.accept(subprotocol)
        except BaseException as gone:  # before it was answered; or we are
            await finish(handler.close())
            if isinstance(gone, WebSocketDisconnect | RuntimeError | OSError):
                return
            raise
        ports = CallPorts(handler, deps.recognizer, deps.vad, deps.clock, deps.synthesizer)
        call = LiveCall(ports, self._outbound, config, seconds=deps.max_call_seconds)
        reason = await self._converse(call)
        if reason is None:
            await _close(self._socket, 1000, "the call is over")
            return
        deps.metrics.error(reason.code)
        await _close(self._socket, reason.ws_close, reason.code)

    async def _converse(self, call: LiveCall) -> TellerlineError | None:
        """Read, live and write until one of them ends; why it did. A client that hung up is no reason."""
        async with together(call.run(), self._read(call), self._write(call), self._lease.run()) as tasks:
            reason = await first_end(tasks)
            if not isinstance(reason, Hung | SlowConsumer):
                await self._say_last(reason, tasks[2])
        return None if isinstance(reason, Hung) else reason

    async def _say_last(self, reason: TellerlineError | None, writing: asyncio.Task[TellerlineError | None]) -> None:
        with contextlib.suppress(SlowConsumer):
            if reason is not None:
                self._outbound.put(Fault(reason))
        self._outbound.close()
        await asyncio.wait({writing}, timeout=FLUSH_S)

    async def _read(self, call: LiveCall) -> None:
        """Messages in, until the client hangs up. Reading waits while the call has too much unheard."""
        message = await self._first_message()
        while True:
            if message["type"] == "websocket.disconnect":
                call.hung_up = message.get("code") == HUNG_UP
                raise Hung
            try:
                await self._take(call, message.get("bytes"), message.get("text"))
            except DependencyFailed as error:
                self._outbound.put(Fault(error))
            message = await self._socket.receive()

    async def _first_message(self) -> Received:
        try:
            async with asyncio.timeout(FIRST_MESSAGE_S):
                return await self._socket.receive()
        except TimeoutError:
            raise CallIdle("the client sent nothing") from None

    async def _take(self, call: LiveCall, data: bytes | None, text: str | None) -> None:
        """What a message is goes into the call, is answered at once, or is about the line itself."""
        given = self._dialect.sound(data) if data is not None else self._dialect.read(text or "")
        if given.refused is not None:
            self._refuse(given.refused, given.cause)
        for answer in given.answers:
            await self._room()
            self._outbound.put(Answered(answer))
        if given.token is not None:
            await self._lease.renew(given.token)
        for one in given.inputs:
            await self._put(call, one, given.cause)

    async def _room(self) -> None:
        """Let what was answered go out: no more is read while the client has much to take."""
        await asyncio.sleep(0)
        while len(self._outbound) > CAPACITY // 2:  # noqa: ASYNC110 - the client empties it
            await asyncio.sleep(ROOM_S)

    async def _put(self, call: LiveCall, given: CallInput, cause: str | None) -> None:
        if isinstance(given, ConfigureIn) and given.recording is not None:
            await self._deps.consent(self._id, given.recording)
        if isinstance(given, TypedIn | AskIn | KeyIn | CommitIn):
            await self._in_time()
        await call.put(given, cause)

    async def _in_time(self) -> None:
        """Wait where turns are taken faster than anybody means them: past TURNS of them, one in TURN_S."""
        now = self._deps.clock.monotonic()
        self._due = max(now, self._due) + TURN_S
        await asyncio.sleep(max(0.0, self._due - now - TURNS * TURN_S))

    def _refuse(self, error: BadInput, cause: str | None) -> None:
        self._deps.metrics.error(error.code)
        self._refused += 1
        if error.fatal or self._refused > MAX_REFUSED:
            raise error
        self._outbound.put(Fault(error, cause))

    async def _write(self, call: LiveCall) -> None:
        """Events out, until there are no more."""
        for text in self._dialect.opening():
            await self._send(text)
        event = None
        while (following := await self._outbound.get()) is not None:
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
            raise Hung from None


async def _close(socket: WebSocket, code: int, reason: str) -> None:
    """Say goodbye, unless the client does not even read that."""
    with contextlib.suppress(RuntimeError, WebSocketDisconnect, OSError, TimeoutError):
        async with asyncio.timeout(FLUSH_S):
            await socket.close(code, reason)
