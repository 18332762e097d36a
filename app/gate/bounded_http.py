"""HTTP as uvicorn serves it: every answer counted, and every refusal in the form of all our errors."""

import asyncio
import json
from collections.abc import Callable
from typing import Any, Final, cast

import h11
from starlette.types import Message, Receive, Scope, Send
from uvicorn._types import ASGI3Application
from uvicorn.protocols.http.h11_impl import H11Protocol

from app.auth.dependencies import SIGNATURE

MAX_HEAD: Final = 16 * 1024
"""Bytes of a head, or of what stands between the chunks of a body."""
CREDENTIALS: Final = frozenset({b"authorization", SIGNATURE.encode()})


class _OneLength(h11.Connection):
    """Refuses a request that tells its length in two ways: whoever stands before us may have read the other one."""

    def next_event(self) -> h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]:
        """As it is. Raises RemoteProtocolError."""
        event = super().next_event()
        if isinstance(event, h11.Request):
            names = {name for name, _ in event.headers}
            if b"transfer-encoding" in names and (b"content-length" in names or event.http_version < b"1.1"):
                raise h11.RemoteProtocolError("two lengths")
        return event


class BoundedHttp(H11Protocol):
    """uvicorn's, which calls a head that is too long a malformed one."""

    answered = 0
    """Requests that have had their answer."""
    refused = 0
    """And those whose answer was a refusal."""
    welcome = False
    """Whether the last one said who asks, and was answered well."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.conn = _OneLength(h11.SERVER, MAX_HEAD)
        self.idle_since = self.loop.time()
        self.settled: Callable[[], None] = lambda: None
        """Called when a request has had its answer."""
        served, self._status = self.app, 0

        async def told(scope: Scope, receive: Receive, send: Send) -> None:
            async def noted(message: Message) -> None:
                self._status = message.get("status", self._status)
                await send(message)

            await served(scope, receive, noted)

        self.app = cast("ASGI3Application", told)

    @property
    def in_a_body(self) -> bool:
        """Whether a body of a known length is on its way."""
        if self.cycle is None or not self.cycle.more_body:
            return False
        names = {name for name, _ in self.cycle.scope["headers"]}
        return b"content-length" in names and b"transfer-encoding" not in names

    def on_response_complete(self) -> None:
        """Count it: those that came in one piece follow one another without the door."""
        well = self._status < 400  # noqa: PLR2004 - refusals begin there
        self.answered, self.idle_since = self.answered + 1, self.loop.time()
        self.refused += not well
        self.welcome = well and not CREDENTIALS.isdisjoint(name for name, _ in self.cycle.scope["headers"])
        self.settled()
        super().on_response_complete()

    def send_400_response(self, msg: str) -> None:
        """Answer 431 or 400, in the form of all our errors."""
        late = len(self.conn.trailing_data[0]) >= MAX_HEAD
        status, code = (431, "too_large") if late else (400, "bad_input")
        answer(self.transport, status, code, msg)


def answer(transport: asyncio.Transport, status: int, code: str, message: str) -> None:
    """Write a whole refusal by hand, and close."""
    body = json.dumps({"error": {"code": code, "message": message, "retryable": status >= 500}}).encode()  # noqa: PLR2004 - server errors
    reason = {400: "Bad Request", 408: "Request Timeout", 431: "Request Header Fields Too Large"}
    head = (
        f"HTTP/1.1 {status} {reason.get(status, 'Service Unavailable')}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    transport.write(head.encode() + body)
    transport.close()
