"""The issuer's keys: fetched, cached, and fetched again when a token names one we do not know, but not too often."""

import asyncio
import json
import logging
from collections.abc import Sequence
from typing import Any, Final, Protocol

import httpx
from joserfc.errors import JoseError
from joserfc.jwk import Key, KeySet, OctKey

from app.auth.principal import Principal
from app.auth.tokens import TokenRules, UnknownKey, verify_token
from schemas.errors import DependencyFailed
from services.ports import Clock

log = logging.getLogger(__name__)

FRESH_S: Final = 600.0
"""Keys older than this are fetched again before use; a failure keeps the old ones."""
STALE_S: Final = 24 * 3600.0
"""Keys older than this are not used at all."""
AGAIN_S: Final = 30.0
"""The least time between two fetches, whoever asks: unknown key ids can't be used to hammer the issuer."""
_MAX_BYTES: Final = 256 * 1024
_TIMEOUT_S: Final = 3.0


class KeySource(Protocol):
    """Where verification keys come from."""

    async def fetch(self) -> dict[str, Any]:
        """The JWKS document. Raises DependencyFailed."""
        ...


class HttpKeys:
    """A JWKS document behind a URL."""

    def __init__(self, url: str, client: httpx.AsyncClient) -> None:
        self._url = url
        self._client = client

    async def fetch(self) -> dict[str, Any]:
        """Get it; redirects are not followed. Raises DependencyFailed."""
        try:
            async with asyncio.timeout(_TIMEOUT_S):
                document = json.loads(await self._text())
        except (httpx.HTTPError, TimeoutError, ValueError, RecursionError) as error:
            raise DependencyFailed("the issuer's keys could not be fetched") from error
        if not isinstance(document, dict):
            raise DependencyFailed("the issuer's keys are malformed")
        return document

    async def _text(self) -> bytes:
        """The answer, as long as it may be. Raises DependencyFailed, HTTPError."""
        text = bytearray()
        async with self._client.stream("GET", self._url, follow_redirects=False) as answer:
            async for part in answer.aiter_bytes():
                text += part
                if len(text) > _MAX_BYTES:
                    break
        if answer.status_code != httpx.codes.OK or len(text) > _MAX_BYTES:
            raise DependencyFailed("the issuer's keys could not be fetched")
        return bytes(text)


class FixedKeys:
    """A JWKS document in hand: the demo's."""

    def __init__(self, document: dict[str, Any]) -> None:
        self._document = document

    async def fetch(self) -> dict[str, Any]:
        """The document."""
        return self._document


class TokenVerifier:
    """Verifies tokens against a source of keys."""

    def __init__(self, source: KeySource, rules: TokenRules, clock: Clock) -> None:
        self._source = source
        self._rules = rules
        self._clock = clock
        self._keys: KeySet | None = None
        self._fetched = self._tried = float("-inf")
        self._fetching = asyncio.Lock()

    async def verify(self, token: str) -> Principal:
        """The principal of a token. Raises Unauthenticated, DependencyFailed when no keys can be had."""
        keys = await self._current(FRESH_S)
        try:
            return verify_token(token, keys, self._rules, self._clock.now())
        except UnknownKey:
            rotated = await self._current(AGAIN_S)
            if rotated is keys:
                raise
            return verify_token(token, rotated, self._rules, self._clock.now())

    async def _current(self, fresh_s: float) -> KeySet:
        """Keys no older than `fresh_s`, or the last ones where the issuer does not answer."""
        async with self._fetching:
            now = self._clock.monotonic()
            if now - self._fetched >= fresh_s and now - self._tried >= AGAIN_S:
                self._tried = now
                await self._refresh(now)
            if self._keys is None or now - self._fetched > STALE_S:
                raise DependencyFailed("no keys to verify tokens with", retry_after_s=AGAIN_S)
            return self._keys

    async def _refresh(self, now: float) -> None:
        try:
            self._keys = public_keys(await self._source.fetch())
            self._fetched = now
        except DependencyFailed as error:
            log.warning("keeping the keys at hand: %s", error.message)


def public_keys(document: dict[str, Any]) -> KeySet:
    """The signature keys of a JWKS document. Raises DependencyFailed where there are none, or a shared secret is.

    Keys that we can't read are passed over (RFC 7517, 5): others sign with those that we can.
    """
    entries = document.get("keys")
    if not isinstance(entries, list):
        raise DependencyFailed("the issuer's keys are malformed")
    read = [_read(entry) for entry in entries if not isinstance(entry, dict) or entry.get("use", "sig") == "sig"]
    keys = KeySet([key for some in read for key in some])
    if len(keys.keys) < len(read):
        log.warning("keys of the issuer that are not understood: %d", len(read) - len(keys.keys))
    if not keys.keys:
        raise DependencyFailed("the issuer has no keys that are understood")
    if any(isinstance(key, OctKey) for key in keys):
        raise DependencyFailed("a shared secret is no public key")
    return keys


def _read(entry: object) -> Sequence[Key]:
    """A key of a document, where it is understood."""
    try:
        return KeySet.import_key_set({"keys": [entry]}).keys  # type: ignore[list-item]
    except (JoseError, KeyError, TypeError, ValueError, AttributeError):
        return ()
