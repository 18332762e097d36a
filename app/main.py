"""The FastAPI application over a composed gateway."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

from fastapi import FastAPI
from fastapi.responses import RedirectResponse
from fastapi.staticfiles import StaticFiles
from starlette.requests import HTTPConnection, Request
from starlette.responses import Response

from app import errors, openapi
from app.bootstrap import Gateway
from app.keys import audit_keys
from app.qa.recording import Opener, Recordings
from app.qa.replay.jobs import ReplayJobs
from app.transports import demo, health, http, mobile, replays
from app.version import VERSION
from schemas.ids import CustomerId

CONSOLE: Final = Path(__file__).parent / "console" / "static"
SECURITY: Final = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; media-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}


def create_app(gateway: Gateway) -> FastAPI:
    """The application; `gateway` outlives it."""
    app = FastAPI(
        title="tellerline",
        version=VERSION,
        summary="A low-latency voice banking assistant",
        docs_url=None,
        redoc_url=None,
    )
    errors.install(app, gateway.metrics)
    openapi.install(app)
    app.middleware("http")(_secured)
    app.include_router(health.router(gateway))
    app.include_router(http.router(gateway))
    app.include_router(mobile.router(_mobile(gateway)))
    jobs = ReplayJobs(gateway.settings.state_dir / "replays", gateway.clock)
    app.include_router(replays.router(replays.ReplayDeps(jobs, gateway.authenticator.principal)))
    if gateway.issuer is not None:
        app.include_router(demo.router(gateway, gateway.issuer))
        app.mount("/console", StaticFiles(directory=CONSOLE, html=True), name="console")
        app.add_api_route("/", lambda: RedirectResponse("/console/"), include_in_schema=False)
    return app


async def _secured(request: Request, call_next: Callable[[Request], Awaitable[Response]]) -> Response:
    response = await call_next(request)
    for name, value in SECURITY.items():
        response.headers.setdefault(name, value)
    return response


def _mobile(gateway: Gateway) -> mobile.MobileDeps:
    async def authenticate(connection: HTTPConnection) -> CustomerId:
        return (await gateway.authenticator.principal(connection)).caller()

    handler: Opener = gateway.callers.open
    recognizer = gateway.recognizer
    if gateway.settings.recording_days:
        recordings = Recordings(gateway.settings.recordings, gateway.clock, audit_keys(gateway.settings), consent=True)
        handler, recognizer = recordings.opener(handler), recordings.recognizer(recognizer)
    return mobile.MobileDeps(
        admission=gateway.admission,
        authenticate=authenticate,
        handler=handler,
        recognizer=recognizer,
        vad=gateway.vad,
        clock=gateway.clock,
        metrics=gateway.metrics,
        max_call_seconds=gateway.settings.max_call_seconds,
    )
