"""WS /v1/ivr/twilio, /v1/ivr/telnyx and /v1/ivr/plivo: streams of carriers."""

from collections.abc import Mapping

from fastapi import APIRouter, WebSocket

from app.auth.carriers import PLIVO_NONCE, PLIVO_SIGNATURE, TWILIO_SIGNATURE, check_plivo, check_twilio
from app.transports.telephone.driver import PhoneDeps, serve
from app.transports.telephone.sockets import WebSocketConnection
from app.transports.telephone.twilio import PLIVO, TELNYX, TWILIO, Carrier, Credential, MediaStream
from schemas.errors import TellerlineError


def router(deps: PhoneDeps, credentials: Mapping[str, Credential]) -> APIRouter:
    """The routes. `credentials` are the carriers' by name; one without a key takes only calls with a statement."""
    routes = APIRouter(prefix="/v1/ivr")

    @routes.websocket("/twilio")
    async def twilio(socket: WebSocket) -> None:
        await _stream(socket, deps, TWILIO, credentials["twilio"])

    @routes.websocket("/telnyx")
    async def telnyx(socket: WebSocket) -> None:
        await _stream(socket, deps, TELNYX, credentials["telnyx"])

    @routes.websocket("/plivo")
    async def plivo(socket: WebSocket) -> None:
        await _stream(socket, deps, PLIVO, credentials["plivo"])

    return routes


async def _stream(socket: WebSocket, deps: PhoneDeps, carrier: Carrier, credential: Credential) -> None:
    connection = WebSocketConnection(socket)
    try:
        deps.calls.shares.connection(socket.client.host if socket.client else "")
        proven = _proven(socket, carrier, credential.key.encode())
    except TellerlineError as refused:
        deps.calls.metrics.error(refused.code)
        await connection.close(refused)
        return
    await serve(connection, MediaStream(carrier, credential), deps, proven=proven)


def _proven(socket: WebSocket, carrier: Carrier, key: bytes) -> bool:
    """Whether the connection is the carrier's; Telnyx signs none. Raises Unauthenticated: it says so and is not."""
    if not key or carrier is TELNYX:
        return False
    host, query = socket.headers.get("host", ""), socket.url.query
    path = socket.url.path + (f"?{query}" if query else "")
    if carrier is TWILIO:
        check_twilio(key, host, path, socket.headers.get(TWILIO_SIGNATURE, ""))
    else:
        nonce, signatures = (socket.headers.get(name, "") for name in (PLIVO_NONCE, PLIVO_SIGNATURE))
        check_plivo(key, host, path, nonce, signatures)
    return True
