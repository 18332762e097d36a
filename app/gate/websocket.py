"""WebSockets as uvicorn serves them, with bounds on what moves no call on, and an answer to every handshake."""

import asyncio
from http import HTTPStatus
from typing import Any, Final

from uvicorn._types import ASGISendEvent
from uvicorn.config import Config
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from uvicorn.server import ServerState
from websockets.exceptions import PayloadTooBig, ProtocolError
from websockets.frames import CTRL_OPCODES, CloseCode, Frame, Opcode
from websockets.http11 import Request
from websockets.protocol import State
from websockets.server import ServerProtocol

from schemas.errors import TooLarge
from schemas.wire import client
from schemas.wire.failure import ErrorBody, ErrorEvent
from schemas.wire.realtime import MAX_MESSAGE

MAX_CONTROL: Final = 64
"""Pings and pongs between two messages; an honest client's come seconds apart, and speech fifty times a second."""
MAX_FRAGMENTS: Final = 64
"""Frames of one message: a kilobyte each of the longest."""
HANDSHAKE_S: Final = 15.0
"""A handshake is answered within this, whatever happens behind it."""
LONGEST: Final = {"/v1/realtime": MAX_MESSAGE, "/v1/calls": client.MAX_MESSAGE}
"""Bytes of a message, by path, where a client is told of one that is longer."""
LINGER_S: Final = 2.0
"""Cut while more is coming, a line loses what was said last."""


class BoundedFrames(ServerProtocol):
    """Fails the connection in the middle of what it is reading, before the rest of a flood is even looked at."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._control = self._fragments = 0
        self.too_large: bytes | None = None
        """What is said of a message that is too long."""

    def recv_frame(self, frame: Frame) -> None:
        """Count, then take. Raises ProtocolError."""
        if frame.opcode in CTRL_OPCODES:
            self._control += 1
        else:
            self._fragments = self._fragments + 1 if frame.opcode is Opcode.CONT else 1
            self._control = 0 if frame.fin else self._control
        if self._control > MAX_CONTROL or self._fragments > MAX_FRAGMENTS:
            raise ProtocolError("too many frames that are no message")
        if frame.opcode is Opcode.CLOSE:
            self.current_size = None  # it may come within a message, which the library takes for a fault
        super().recv_frame(frame)

    def fail(self, code: CloseCode | int, reason: str = "") -> None:
        """Say what a client reads, before what its library does."""
        if code == CloseCode.MESSAGE_TOO_BIG and self.too_large is not None and self.state is State.OPEN:
            self.send_text(self.too_large)
        super().fail(code, reason)


class BoundedWebSocket(WebSocketsSansIOProtocol):
    """One connection. `frames_seen` counts every frame, for whoever paces it; `accepted` tells that it is a call."""

    accepted = False

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self.conn = BoundedFrames(max_size=config.ws_max_size, logger=self.logger)
        self.frames_seen = 0

    def handle_connect(self, event: Request) -> None:
        """Let messages be as long as the path that is asked for takes them."""
        most = LONGEST.get(event.path.partition("?")[0])
        if most is not None:
            assert isinstance(self.conn, BoundedFrames)
            self.conn.max_message_size, self.conn.too_large = most, _too_large(most)
        super().handle_connect(event)

    def handle_parser_exception(self) -> None:
        """Where a message is too long, the line is kept for a moment."""
        if not isinstance(self.conn.parser_exc, PayloadTooBig):
            super().handle_parser_exception()
        elif not self.close_sent:
            self.close_sent = True
            self.queue.put_nowait({"type": "websocket.disconnect", "code": CloseCode.MESSAGE_TOO_BIG, "reason": ""})
            self.transport.write(b"".join(self.conn.data_to_send()))
            if self.transport.can_write_eof():
                self.transport.write_eof()
            self.close_timer = self.loop.call_later(LINGER_S, self.transport.close)

    def handle_events(self) -> None:
        """Count what came; then answer a handshake that could not be read, of which uvicorn hears nothing."""
        self.frames_seen += len(self.conn.events)
        super().handle_events()
        if self.conn.handshake_exc is not None and not self.handshake_initiated and not self.close_sent:
            self._refuse_unreadable()

    async def send(self, message: ASGISendEvent) -> None:
        """Pass it on, and note that the handshake was accepted."""
        await super().send(message)
        self.accepted |= message["type"] == "websocket.accept"

    def handle_ping(self) -> None:
        """Pongs that the peer does not read are not kept for it."""
        if self.writable.is_set():
            super().handle_ping()
        else:
            self.conn.data_to_send()

    def _refuse_unreadable(self) -> None:
        """Send the refusal that `websockets` has prepared (414, 431), or a 400."""
        self.handshake_complete = self.close_sent = True
        output = b"".join(self.conn.data_to_send())
        if not output:
            output = self.conn.reject(HTTPStatus.BAD_REQUEST, "not a handshake\n").serialize()
        self.transport.write(output)
        self.transport.close()


def _too_large(most: int) -> bytes:
    said = f"a message is at most {most} bytes long"
    body = ErrorBody(type="invalid_request_error", code=TooLarge.code, message=said)
    return ErrorEvent(event_id="event_too_large", error=body).model_dump_json().encode()
