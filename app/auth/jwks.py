"""The issuer's keys: fetched, cached, and fetched again when a token names one we do not know, but not too often."""

import asyncio
import hashlib
import json
import logging
from collections.abc import Sequence
from typing import Any, Final, Protocol

import httpx
from joserfc.errors import JoseError
from joserfc.jwk import Key, KeySet, OctKey

from app.auth.principal import Principal
from app.auth.tokens import SignedToken, TokenRules, UnknownKey, principal_of, signed_token
from schemas.errors import DependencyFailed, Unauthenticated
from schemas.printable import fault_words
from services.ports import Clock

log = logging.getLogger(__name__)

FRESH_S: Final = 600.0
"""Keys older than this are fetched again; a failure keeps the old ones."""
STALE_S: Final = 24 * 3600.0
"""Keys older than this are not used at all."""
AGAIN_S: Final = 30.0
"""The least time between two fetches, whoever asks: unknown key ids can't be used to hammer the issuer."""
PATIENCE_S: Final = 0.5
"""So long a caller waits for keys where there are some: an issuer that hangs is waited for in the background."""
REMEMBERED: Final = 1_024
"""Tokens whose signature held."""
_MAX_BYTES: Final = 256 * 1024
_TIMEOUT_S: Final = 3.0
_LEAST_RSA: Final = 342
"""Letters of a modulus of 2,048 bits in base64."""


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
            said = fault_words(error)
            raise DependencyFailed(f"the issuer's keys could not be fetched: {said}") from error
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
            raise DependencyFailed(f"the issuer's keys could not be fetched: status {answer.status_code}")
        return bytes(text)


class FixedKeys:
    """A JWKS document in hand: the demo's."""

    def __init__(self, document: dict[str, Any]) -> None:
        self._document = document

    async def fetch(self) -> dict[str, Any]:
        """The document."""
        return self._document


class _Signatures:
    """Those that held under the keys at hand: who comes again costs no second look, which takes longest of all."""

    def __init__(self) -> None:
        self._keys: KeySet | None = None
        self._held: dict[bytes, SignedToken] = {}

    def read(self, token: str, keys: KeySet) -> SignedToken:
        """A token whose signature holds. Raises UnknownKey, Unauthenticated."""
        if keys is not self._keys:
            self._keys, self._held = keys, {}
        name = hashlib.sha256(token.encode(errors="surrogatepass")).digest()
        if name not in self._held:
            self._held[name] = signed_token(token, keys)
            while len(self._held) > REMEMBERED:
                del self._held[next(iter(self._held))]
        return self._held[name]


class TokenVerifier:
    """Verifies tokens against a source of keys. One fetch at a time, whoever waits for it, and none waits in turn."""

    def __init__(self, source: KeySource, rules: TokenRules, clock: Clock) -> None:
        self._source = source
        self._rules = rules
        self._clock = clock
        self._keys: KeySet | None = None
        self._fetched = self._tried = float("-inf")
        self._fetching: asyncio.Task[None] | None = None
        self._signatures = _Signatures()

    async def verify(self, token: str) -> Principal:
        """The principal of a token. Raises Unauthenticated, DependencyFailed when no keys can be had."""
        keys = await self._current()
        try:
            return self._principal(token, keys)
        except UnknownKey:
            self._fetch_where_older_than(AGAIN_S)
            await self._wait(PATIENCE_S)
            if self._keys is keys or self._keys is None:
                raise
            return self._principal(token, self._keys)

    def _principal(self, token: str, keys: KeySet) -> Principal:
        return principal_of(self._signatures.read(token, keys), self._rules, self._clock.now())

    def subject(self, token: str) -> str | None:
        """Whose a token is by the keys at hand; null where it does not hold. Nothing is fetched."""
        keys = self._usable()
        try:
            return None if keys is None else self._principal(token, keys).subject
        except Unauthenticated:
            return None

    async def has_keys(self) -> bool:
        """Whether a token could be verified now; keys that are not there yet are asked for, and waited for shortly."""
        if self._usable() is None and self._fetch_where_older_than(FRESH_S):
            await self._wait(PATIENCE_S)
        return self._usable() is not None

    async def close(self) -> None:
        """Give up a fetch that is under way."""
        if self._fetching is not None:
            self._fetching.cancel()
            await asyncio.wait({self._fetching})

    async def _current(self) -> KeySet:
        """The keys at hand. Whoever has them fetched again waits shortly, so that they are the issuer's of now."""
        if self._fetch_where_older_than(FRESH_S):
            await self._wait(PATIENCE_S)
        if self._usable() is None:
            await self._wait(None)
        keys = self._usable()
        if keys is None:
            raise DependencyFailed("no keys to verify tokens with", retry_after_s=AGAIN_S)
        return keys

    def _usable(self) -> KeySet | None:
        return None if self._clock.monotonic() - self._fetched > STALE_S else self._keys

    def _fetch_where_older_than(self, fresh_s: float) -> bool:
        """Have the keys fetched, where that is due; whether it began now."""
        now = self._clock.monotonic()
        if now - self._fetched < fresh_s or now - self._tried < AGAIN_S or self._fetching is not None:
            return False
        self._tried = now
        self._fetching = asyncio.create_task(self._refresh(now))
        self._fetching.add_done_callback(self._over)
        return True

    def _over(self, fetching: asyncio.Task[None]) -> None:
        self._fetching = None
        if not fetching.cancelled() and (error := fetching.exception()) is not None:
            log.error("the issuer's keys: %s", type(error).__name__)

    async def _wait(self, most_s: float | None) -> None:
        if self._fetching is not None:
            await asyncio.wait({self._fetching}, timeout=most_s)

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
        log.warning("keys of the issuer that are not understood, or too short: %d", len(read) - len(keys.keys))
    if not keys.keys:
        raise DependencyFailed("the issuer has no keys that are understood")
    if any(isinstance(key, OctKey) for key in keys):
        raise DependencyFailed("a shared secret is no public key")
    return keys


def _read(entry: object) -> Sequence[Key]:
    """A key of a document, where it is understood, and long enough (RFC 7518, 3.3)."""
    try:
        return () if _short(entry) else KeySet.import_key_set({"keys": [entry]}).keys  # type: ignore[list-item]
    except (JoseError, KeyError, TypeError, ValueError, AttributeError):
        return ()


def _short(entry: object) -> bool:
    return isinstance(entry, dict) and entry.get("kty") == "RSA" and len(entry["n"]) < _LEAST_RSA
