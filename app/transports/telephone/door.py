"""The way in that every telephone's WebSocket has: an address's share, the bridge's proof, then the call."""

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from fastapi import WebSocket

from app.transports.telephone.connection import PhoneDeps
from app.transports.telephone.driver import serve
from app.transports.telephone.line import CallTransport
from app.transports.telephone.sockets import WebSocketConnection
from schemas.errors import TellerlineError

log = logging.getLogger(__name__)

Prove = Callable[[WebSocket], Awaitable[bool]]
"""Whether a connection is the bridge's; False where it does not say. Raises Unauthenticated: it says so and is not."""


@dataclass(frozen=True, slots=True)
class PhoneLine:
    """What is spoken on a connection. `voiced`: replies are spoken by us."""

    transport: CallTransport
    voiced: bool = True


async def answer(
    socket: WebSocket,
    said: Callable[[], PhoneLine],
    deps: PhoneDeps,
    prove: Prove,
    *subprotocols: str,
) -> None:
    """One connection, from the handshake to its end; the first of `subprotocols` that was offered is answered.

    `said`: what the address says is spoken on it. It raises BadInput for words that are not known.
    """
    connection = WebSocketConnection(socket, *subprotocols)
    try:
        deps.calls.shares.connection(socket.client.host if socket.client else "")
        proven = await prove(socket)
        line = said()
    except TellerlineError as refused:
        log.info("a telephone was refused: %s", refused.message)
        deps.calls.metrics.error(refused.code)
        await connection.close(refused)
        return
    await serve(connection, line.transport, deps, proven=proven, voiced=line.voiced)
