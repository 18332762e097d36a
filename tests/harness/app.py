"""A whole application on real stages and a real SQLite file; only the recogniser may be replaced."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from unittest.mock import patch

import httpx
from fastapi import APIRouter, FastAPI

from app.auth.principal import Scope
from app.bootstrap import Gateway, gateway
from app.composition.speech import Voice
from app.main import create_app
from app.qa.routes import ROUTES
from app.settings import Settings
from services.audio.decoder_pool import DecoderPool
from services.ports import Recognizer, Synthesizer
from tests.harness.stores import lay_migrated

Routes = Callable[[Gateway], APIRouter]

PLENTY = {
    "calls_per_customer": 1000,
    "calls_per_minute": 1_000_000,
    "requests_per_minute": 1_000_000,
    "connections_per_minute": 1_000_000,
}
"""What one customer may do where that is not the question: tests call far more often than people."""


class DecodersWhenNeeded(DecoderPool):
    """Few tests send a file: those that do wait for their decoder's start, and no other does."""

    async def warm_up(self) -> None:
        """Have none ready."""


@dataclass(frozen=True)
class Running:
    """A composed application that gives its own tokens."""

    gateway: Gateway

    def token(self, subject: str, *scopes: str) -> dict[str, str]:
        """Headers with an access token."""
        assert self.gateway.issuer is not None
        clock = self.gateway.clock
        token = self.gateway.issuer.token(subject, scopes or (Scope.CALL,), clock.now(), clock)
        return {"Authorization": f"Bearer {token}"}


@dataclass(frozen=True)
class RunningApp(Running):
    """The application, what it is made of, and a client."""

    app: FastAPI
    client: httpx.AsyncClient


@asynccontextmanager
async def composed(
    state: Path,
    recognizer: Recognizer | None,
    further: tuple[Routes, ...] = (),
    voice: Synthesizer | None = None,
    **settings: object,
) -> AsyncIterator[tuple[Gateway, Settings, FastAPI]]:
    """Compose and take down; with `further` routes beside those that are served, in a `voice`."""
    given = Settings.model_validate({"state_dir": state, "database_url": ""} | PLENTY | settings)
    if not given.database_url:
        await lay_migrated(given.state_dir / "tellerline.db")
    async with AsyncExitStack() as stack:
        with patch("app.bootstrap.DecoderPool", DecodersWhenNeeded):
            own = await stack.enter_async_context(gateway(given, recognizer=recognizer))
        made = own if voice is None else replace(own, voice=Voice(voice, None, "a test's"))
        yield made, given, create_app(made, (*ROUTES, *further))


@asynccontextmanager
async def running_app(
    state: Path, recognizer: Recognizer, voice: Synthesizer | None = None, **settings: object
) -> AsyncIterator[RunningApp]:
    """The application in process, without a socket."""
    async with composed(state, recognizer, voice=voice, **settings) as (made, _, app):
        transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            yield RunningApp(made, app, client)
