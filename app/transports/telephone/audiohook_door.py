"""WS /v1/ivr/audiohook: Genesys' AudioHook."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final

from fastapi import APIRouter, WebSocket

from app.auth.dependencies import path_of
from app.auth.http_signature import HttpRequest, check_http
from app.transports.live.query import SWITCH, chosen
from app.transports.telephone.audiohook import AudioHook
from app.transports.telephone.connection import PhoneDeps
from app.transports.telephone.door import PhoneLine, answer
from rules.load import locales

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
    """What the integration in Genesys Cloud has as API key and client secret (or had); none where the key is empty."""

    key: str = ""
    secrets: tuple[bytes, ...] = field(default=(), repr=False)


def router(deps: PhoneDeps, api: ApiKey, take_nonce: Callable[[str], Awaitable[None]]) -> APIRouter:
    """The route. Without a key only sessions with a statement are taken."""
    routes = APIRouter(prefix="/v1/ivr")

    async def proven(socket: WebSocket) -> bool:
        if api.key:
            await take_nonce(check_http(_request(socket), api.key, api.secrets, COVERED, deps.calls.clock.now()))
        return bool(api.key)

    @routes.websocket("/audiohook")
    async def audiohook(socket: WebSocket) -> None:
        def said() -> PhoneLine:
            monitor = chosen(socket, "monitor", SWITCH, False)
            return PhoneLine(AudioHook(socket.headers.get(SESSION, ""), sorted(locales()), monitor=monitor))

        await answer(socket, said, deps, proven)

    return routes


def _request(socket: WebSocket) -> HttpRequest:
    return HttpRequest(path_of(socket), socket.headers.get("host", ""), dict(socket.headers))
