"""The routes of the Realtime API: WS /v1/realtime, and the client secrets that browsers open it with."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final, Literal

from fastapi import APIRouter, Request, WebSocket
from pydantic import BaseModel, Field

from app.auth.client_secrets import LIFE_S, ClientSecrets
from app.bootstrap import Gateway
from app.errors import IDENTITY, documented
from app.openapi import CREDENTIALS, body_of
from app.transports.http import asked, parsed
from app.transports.live.deps import CallDeps
from app.transports.live.line import serve
from app.transports.live.query import SWITCH, chosen, language
from app.transports.mobile import SUBPROTOCOL as OWN
from app.transports.realtime.protocol import Realtime
from app.transports.realtime.settings import CallSettings, first_config
from app.transports.uploads import Uploads
from schemas.errors import BadInput, TooLarge
from schemas.ids import EN_US, CallId
from schemas.wire.realtime.session import SessionInForce
from services.ports import Clock

SUBPROTOCOLS: Final = ("realtime", OWN)
"""The first that is offered is answered; whoever offers ours wants our own events too."""
EVENTS: Final = "tellerline_events"
"""The query's word for the same."""
_RECONNECTING: Final = "LiveKit Agents"
"""A client that takes the end of a call for a lost line, whatever its close code says."""
_MOST_BYTES: Final = 64 * 1024


class ExpiresAfter(BaseModel):
    """How long a secret opens calls, counted from now."""

    anchor: Literal["created_at"] = "created_at"
    seconds: int = LIFE_S


class ClientSecretIn(BaseModel):
    """What a client secret is asked for with. A session is let through unread: the call tells what is in force."""

    expires_after: ExpiresAfter = Field(default_factory=ExpiresAfter)


class ClientSecretOut(BaseModel):
    """A secret for a browser, and the settings that its call begins with."""

    value: str
    expires_at: int
    session: SessionInForce


@dataclass(frozen=True, slots=True)
class RealtimeDoor:
    """What the composition root provides. `deps.authenticate` takes client secrets too."""

    deps: CallDeps

    def open(self, socket: WebSocket) -> Callable[[CallId], Realtime]:
        """What is spoken in the call that a handshake opens."""
        final = socket.headers.get("user-agent", "").startswith(_RECONNECTING)

        def opened(call: CallId) -> Realtime:
            named, asked = language(socket), chosen(socket, EVENTS, SWITCH, False)
            events = asked or OWN in socket.scope.get("subprotocols", ())
            speaks = self.deps.synthesizer is not None
            ends = ends_at(self.deps.clock, self.deps.max_call_seconds)
            config, recordable = first_config(EN_US, speaks=speaks), partial(self.deps.recordable, call)
            settings = CallSettings(call, config, ends, events=events, recordable=recordable)
            return Realtime(settings, self.deps.clock, call, named, final=final)

        return opened


def router(door: RealtimeDoor) -> APIRouter:
    """The route of the calls."""
    routes = APIRouter()

    @routes.websocket("/v1/realtime")
    async def realtime(socket: WebSocket) -> None:
        await serve(socket, door.deps, door.open(socket), SUBPROTOCOLS)

    return routes


def secrets_router(gateway: Gateway, uploads: Uploads, secrets: ClientSecrets, *, speaks: bool) -> APIRouter:
    """The route of the client secrets."""
    routes = APIRouter(prefix="/v1/realtime", tags=["realtime"], dependencies=[*CREDENTIALS])

    @routes.post(
        "/client_secrets", responses=documented(*IDENTITY, BadInput, TooLarge), openapi_extra=body_of(ClientSecretIn)
    )
    async def client_secrets(request: Request) -> ClientSecretOut:
        """Make a secret that opens a call of the token's customer from a browser."""
        async with asked(gateway, uploads, request, _MOST_BYTES) as (principal, body):
            given = parsed(ClientSecretIn, body or b"{}")
            made = secrets.issue(principal, given.expires_after.seconds)
            ends = ends_at(gateway.clock, gateway.settings.max_call_seconds)
            session = CallSettings("", first_config(EN_US, speaks=speaks), ends, events=False).shown()
            return ClientSecretOut(value=made.value, expires_at=made.expires_at, session=session)

    return routes


def ends_at(clock: Clock, seconds: float) -> int:
    """When a call that begins now ends at the latest, in seconds since 1970."""
    return int(clock.now().timestamp() + seconds)
