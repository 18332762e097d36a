"""Who calls: the identity provider that the settings name, or the demo's own, and the bridges whose word counts."""

from collections.abc import Callable
from contextlib import AsyncExitStack
from datetime import timedelta

import httpx

from app.auth.demo import DemoIssuer
from app.auth.dependencies import Authenticator
from app.auth.jwks import FixedKeys, HttpKeys, TokenVerifier
from app.auth.signature import WINDOW_S, RequestVerifier
from app.auth.tokens import TokenRules
from app.settings import Settings
from services.guard.nonces import Nonces
from services.ports import Clock
from services.store import Store


def bridges(settings: Settings) -> dict[str, bytes]:
    """The secrets of IVR bridges, by key id."""
    return {name: key.get_secret_value().encode() for name, key in settings.ivr_keys.items()}


def identity(
    stack: AsyncExitStack,
    settings: Settings,
    store: Store,
    clock: Clock,
    client: httpx.AsyncClient,
    doubted: Callable[[], bool],
) -> tuple[DemoIssuer | None, Authenticator]:
    """Who knows callers by their tokens and signatures; the demo gives tokens of its own. `stack` ends its fetches."""
    rules = TokenRules(settings.token_issuer, settings.token_audience)
    requests = RequestVerifier(bridges(settings))
    nonces = Nonces(store, timedelta(seconds=2 * WINDOW_S), doubted)
    if settings.jwks_url:
        tokens = TokenVerifier(HttpKeys(settings.jwks_url, client), rules, clock)
        stack.push_async_callback(tokens.close)
        return None, Authenticator(tokens, requests, nonces, clock)
    issuer = DemoIssuer.under(settings.state_dir / "keys", rules)
    tokens = TokenVerifier(FixedKeys(issuer.jwks()), rules, clock)
    return issuer, Authenticator(tokens, requests, nonces, clock)
