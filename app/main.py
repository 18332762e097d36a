"""The FastAPI application over a composed gateway."""

import base64
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

from fastapi import APIRouter, FastAPI, WebSocket
from fastapi.responses import RedirectResponse
from fastapi.staticfiles import StaticFiles
from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocketDisconnect

from app import errors, openapi
from app.auth.client_secrets import PREFIX, ClientSecrets
from app.auth.dependencies import offered_token
from app.auth.principal import Principal
from app.bootstrap import Gateway
from app.composition.identity import bridges
from app.composition.keys import audit_keys, plain
from app.recordings.live import Opener, Recordings
from app.settings import Environment
from app.transports import demo, health, http, mobile
from app.transports.live.deps import CallDeps, never
from app.transports.live.lease import Admitted
from app.transports.realtime import door
from app.transports.telephone import (
    asterisk_door,
    audiohook_door,
    audiosocket_server,
    carrier_doors,
    expected_routes,
    jambonz_door,
)
from app.transports.telephone.audiohook_door import ApiKey
from app.transports.telephone.carriers import Credential
from app.transports.telephone.connection import PhoneDeps
from app.transports.telephone.web import CarrierClient
from app.transports.uploads import Uploads
from app.version import VERSION
from schemas.errors import NotFound, Unauthenticated
from schemas.ids import CallId
from services.ports import Clock

SECRETS: Final = b"tellerline.client-secrets.1"
"""What the key of client secrets is derived for."""
CONSOLE: Final = Path(__file__).parent / "console" / "static"
_HOST: Final = re.compile(r"^[a-z]+://[^/]*/*")
"""What no redirect names: it would be the Host header's, which anybody writes."""
SECURITY: Final = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; media-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}


def create_app(gateway: Gateway, further: Iterable[Callable[[Gateway], APIRouter]] = ()) -> FastAPI:
    """The application, with `further` routes where somebody has any; `gateway` outlives it."""
    app = FastAPI(
        title="tellerline",
        version=VERSION,
        summary="A low-latency voice banking assistant",
        docs_url=None,
        redoc_url=None,
    )
    app.state.subject = gateway.authenticator.subject  # for the door
    errors.install(app, gateway.metrics)
    openapi.install(app)
    app.add_middleware(_Secured)
    app.include_router(health.router(gateway))
    uploads = Uploads(gateway.settings.max_upload_bytes, gateway.decoders)
    app.include_router(http.router(gateway, uploads))
    calls, secrets = _calls(gateway), ClientSecrets(audit_keys(gateway.settings).of(SECRETS), gateway.clock)
    app.include_router(mobile.router(calls))
    app.include_router(door.router(door.RealtimeDoor(_with_secrets(calls, secrets))))
    _answer_telephones(app, gateway, calls)
    app.include_router(door.secrets_router(gateway, uploads, secrets, speaks=calls.synthesizer is not None))
    for routes in further:
        app.include_router(routes(gateway))
    if gateway.issuer is not None and gateway.settings.environment is Environment.DEMO:
        app.include_router(demo.router(gateway, gateway.issuer))
        app.mount("/console", StaticFiles(directory=CONSOLE, html=True), name="console")
        app.add_api_route("/", lambda: RedirectResponse("/console/"), include_in_schema=False)
    for route in app.routes:  # FastAPI makes ready what is first sought: some 15 ms, in which nobody's call goes on
        route.matches({"type": "websocket", "path": "", "headers": []})
    app.add_api_websocket_route(errors.ANY_PATH, _no_such_call)  # last: whatever is called by another name
    return app


async def _no_such_call(socket: WebSocket) -> None:
    with suppress(RuntimeError, WebSocketDisconnect):
        await socket.send_denial_response(errors.error_response(NotFound(errors.NO_ROUTE)))


class _Secured:
    """Adds SECURITY to every answer, and answers HEAD as GET. Whole bodies do not wait in it: it would cost tasks."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection."""
        head = scope["type"] == "http" and scope["method"] == "HEAD"

        async def secured(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in SECURITY.items():
                    headers.setdefault(name, value)
                if "location" in headers:
                    headers["location"] = _HOST.sub("/", headers["location"])
            elif head:
                message["body"] = b""
            await send(message)

        asked = {**scope, "method": "GET"} if head else scope
        await self._app(asked, receive, secured if scope["type"] == "http" else send)


async def _nothing_is_recorded(_call: CallId, _agreed: bool) -> None:
    """No recordings are kept."""


def _calls(gateway: Gateway) -> CallDeps:
    async def authenticate(connection: HTTPConnection) -> Admitted:
        return _admitted(await gateway.authenticator.principal(connection), gateway.clock)

    async def verify(token: str) -> Admitted:
        return _admitted(await gateway.authenticator.of_token(token), gateway.clock)

    consent: Callable[[CallId, bool], Awaitable[None]] = _nothing_is_recorded
    recordable: Callable[[CallId], bool] = never
    handler: Opener = gateway.callers.open
    recognizer = gateway.recognizer
    if gateway.settings.recording_days:
        keys, shadows = audit_keys(gateway.settings), gateway.shadow.call if gateway.shadow else None
        recordings = Recordings(gateway.settings.recordings, gateway.clock, keys, shadows)
        consent, recordable = recordings.consent, recordings.recordable
        handler, recognizer = recordings.opener(gateway.callers.open), recordings.recognizer(recognizer)
    return CallDeps(
        admission=gateway.admission,
        shares=gateway.limits.shares,
        authenticate=authenticate,
        verify=verify,
        consent=consent,
        recordable=recordable,
        handler=handler,
        recognizer=recognizer,
        vad=gateway.vad,
        clock=gateway.clock,
        metrics=gateway.metrics,
        max_call_seconds=gateway.settings.max_call_seconds,
        synthesizer=gateway.voice.synthesizer if gateway.voice.speaks else None,
        together=gateway.limits.calls.call,
    )


def _answer_telephones(app: FastAPI, gateway: Gateway, calls: CallDeps) -> None:
    settings = gateway.settings
    deps = PhoneDeps(
        calls,
        gateway.statements.take,
        gateway.callers.open_stranger,
        CarrierClient(gateway.web).ask,
        inband_keys=settings.inband_keys,
        transfer_keys=settings.transfer_keys,
    )
    expected, to, back = gateway.expected, settings.transfer_to, settings.return_to
    credentials = {
        "twilio": Credential(
            settings.twilio_token.get_secret_value(), "", to, back, plain(settings.twilio_tokens_before)
        ),
        "telnyx": Credential(settings.telnyx_key.get_secret_value(), "", to, back),
        "plivo": Credential(
            settings.plivo_token.get_secret_value(), settings.plivo_id, to, back, plain(settings.plivo_tokens_before)
        ),
    }
    app.include_router(carrier_doors.router(deps, credentials))
    app.include_router(asterisk_door.router(deps, expected, bridges(settings)))
    app.include_router(jambonz_door.router(deps, expected, bridges(settings)))
    genesys = plain((settings.audiohook_secret, *settings.audiohook_secrets_before))
    api = ApiKey(settings.audiohook_key, tuple(map(base64.b64decode, genesys)))
    app.include_router(audiohook_door.router(deps, api, gateway.statements.take_nonce))
    app.include_router(expected_routes.router(gateway, expected))
    if settings.audiosocket:

        @asynccontextmanager
        async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
            async with audiosocket_server.listening(*audiosocket_server.place(settings.audiosocket), deps, expected):
                yield

        app.router.lifespan_context = lifespan


def _with_secrets(calls: CallDeps, secrets: ClientSecrets) -> CallDeps:
    """Calls that a client secret opens too."""

    async def authenticate(connection: WebSocket) -> Admitted:
        offered = offered_token(connection)
        if offered is not None and offered.startswith(PREFIX):
            return _admitted(secrets.verify(offered), calls.clock)
        return await calls.authenticate(connection)

    return replace(calls, authenticate=authenticate)


def _admitted(principal: Principal, clock: Clock) -> Admitted:
    ends = principal.expires_at
    left = None if ends is None else (ends - clock.now()).total_seconds()
    if left is not None and left <= 0:  # clocks may differ, but no call lasts for none of ours
        raise Unauthenticated("the token's time is over")
    return Admitted(principal.caller(), left)
