"""A line that is a WebSocket."""

import contextlib
from typing import Final

from fastapi import WebSocket
from starlette.websockets import WebSocketDisconnect, WebSocketState

from app.errors import error_response
from app.transports.live.together import Hung
from app.transports.telephone.line import Wire
from schemas.errors import TellerlineError

_REASON: Final = 120
"""Bytes of a close frame's reason."""
_OVER: Final = 1000


class WebSocketConnection:
    """One line. The first of `subprotocols` that was offered is answered."""

    def __init__(self, socket: WebSocket, *subprotocols: str) -> None:
        self._socket = socket
        self._subprotocols = subprotocols

    async def open(self) -> None:
        """Answer the handshake. Raises Hung."""
        offered = self._socket.scope.get("subprotocols", ())
        try:
            await self._socket.accept(next((one for one in self._subprotocols if one in offered), None))
        except (WebSocketDisconnect, RuntimeError, OSError):
            raise Hung from None

    async def receive(self) -> Wire | None:
        """The next message; null where the other side has closed."""
        message = await self._socket.receive()
        if message["type"] == "websocket.disconnect":
            return None
        data: bytes | None = message.get("bytes")
        return data if data is not None else str(message.get("text") or "")

    async def send(self, message: Wire) -> None:
        """Send one. Raises Hung."""
        try:
            if isinstance(message, bytes):
                await self._socket.send_bytes(message)
            else:
                await self._socket.send_text(message)
        except (WebSocketDisconnect, RuntimeError, OSError):
            raise Hung from None

    async def close(self, error: TellerlineError | None) -> None:
        """A close code, or before the handshake was answered an HTTP status."""
        with contextlib.suppress(WebSocketDisconnect, RuntimeError, OSError):
            if self._socket.application_state is WebSocketState.CONNECTED:
                await self._socket.close(error.ws_close if error else _OVER, error.code[:_REASON] if error else None)
            elif error is not None and self._socket.application_state is WebSocketState.CONNECTING:
                await self._socket.send_denial_response(error_response(error))
