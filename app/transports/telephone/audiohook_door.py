"""WS /v1/ivr/audiohook: Genesys' AudioHook."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final

from fastapi import APIRouter, WebSocket

from app.auth.http_signature import HttpRequest, check_http
from app.transports.telephone.audiohook import AudioHook
from app.transports.telephone.driver import PhoneDeps, serve
from app.transports.telephone.sockets import WebSocketConnection
from rules.load import locales
from schemas.errors import TellerlineError

SESSION: Final = "audiohook-session-id"
COVERED: Final = frozenset(
    {
        "@request-target",
        "@authority",
        "audiohook-organization-id",
        SESSION,
        "audiohook-correlation-id",
        "x-api-key",
    }
)
"""What Genesys signs."""


@dataclass(frozen=True, slots=True)
class ApiKey:
    """What the integration in Genesys Cloud has as API key and client secret; none where the key is empty."""

    key: str = ""
    secret: bytes = field(default=b"", repr=False)


def router(deps: PhoneDeps, api: ApiKey, take_nonce: Callable[[str], Awaitable[None]]) -> APIRouter:
    """The route. Without a key only sessions with a statement are taken."""
    routes = APIRouter(prefix="/v1/ivr")

    @routes.websocket("/audiohook")
    async def audiohook(socket: WebSocket) -> None:
        connection = WebSocketConnection(socket)
        try:
            deps.calls.shares.connection(socket.client.host if socket.client else "")
            if api.key:
                now = deps.calls.clock.now()
                await take_nonce(check_http(_request(socket), api.key, api.secret, COVERED, now))
        except TellerlineError as refused:
            deps.calls.metrics.error(refused.code)
            await connection.close(refused)
            return
        core = AudioHook(socket.headers.get(SESSION, ""), sorted(locales()))
        await serve(connection, core, deps, proven=bool(api.key))

    return routes


def _request(socket: WebSocket) -> HttpRequest:
    query = socket.url.query
    target = socket.url.path + (f"?{query}" if query else "")
    return HttpRequest(target, socket.headers.get("host", ""), dict(socket.headers))
