"""Signed requests of IVR bridges: an API key's HMAC over method, path, time, nonce, customer and body. Pure.

The bridge has identified its caller by its own means (a PIN, a registered line) and vouches for the customer under its
signature; the customer is thus part of the credential, not of the message.
"""

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from app.auth.principal import Principal, Scope
from app.auth.tokens import MAX_ID
from schemas.errors import Unauthenticated
from schemas.ids import CustomerId
from schemas.secret import KEY_BYTES, long_enough

WINDOW_S: Final = 60
"""How far a request's time may be from ours; for twice as long a nonce is remembered."""
LEAST_NONCE: Final = 8
_VERSION: Final = "tellerline.request.1"


@dataclass(frozen=True, slots=True)
class SignedRequest:
    """What a bridge signed. `timestamp` is whole seconds since 1970; `body` is empty for a WebSocket handshake."""

    key_id: str
    method: str
    path: str
    timestamp: str
    nonce: str
    customer: str
    body: bytes
    signature: str


def sign(secret: bytes, request: SignedRequest) -> str:
    """The request's signature, 64 hex digits; its own `signature` field takes no part."""
    digest = hashlib.sha256(request.body).hexdigest()
    r = request
    parts = (_VERSION, r.key_id, r.method, r.path, r.timestamp, r.nonce, r.customer, digest)
    encoded = (part.encode() for part in parts)
    text = b"".join(b"%d:%b" % (len(part), part) for part in encoded)
    return hmac.new(secret, text, hashlib.sha256).hexdigest()


class RequestVerifier:
    """Verifies signed requests against the bridges' secrets by key id."""

    def __init__(self, secrets: Mapping[str, bytes]) -> None:
        long_enough("an IVR secret", secrets.values())
        self._secrets = dict(secrets)

    def check_head(self, request: SignedRequest, now: datetime) -> None:
        """All that can be judged of a request whose body has not come yet. Raises Unauthenticated."""
        if request.key_id not in self._secrets:
            raise Unauthenticated("the signature does not verify")
        _check(request, now)

    def verify(self, request: SignedRequest, now: datetime) -> Principal:
        """The principal of a request whose nonce has yet to be taken. Raises Unauthenticated."""
        secret = self._secrets.get(request.key_id, b"\0" * KEY_BYTES)
        fits = hmac.compare_digest(sign(secret, request).encode(), request.signature.encode("utf-8", "replace"))
        if not fits or request.key_id not in self._secrets:
            raise Unauthenticated("the signature does not verify")
        _check(request, now)
        return Principal(f"ivr:{request.key_id}", CustomerId(request.customer), frozenset({Scope.CALL}))


def _check(request: SignedRequest, now: datetime) -> None:
    """Its time, its customer and its nonce."""
    sent = int(request.timestamp) if request.timestamp.isdecimal() and len(request.timestamp) <= 12 else 0  # noqa: PLR2004 - digits of any timestamp to come
    if abs(now.timestamp() - sent) > WINDOW_S:
        raise Unauthenticated("the request's time is not ours")
    if not 0 < len(request.customer) <= MAX_ID or not request.customer.isprintable():
        raise Unauthenticated(f"the request names no customer, in at most {MAX_ID} printable characters")
    if not LEAST_NONCE <= len(request.nonce) <= MAX_ID or not request.nonce.isprintable():
        raise Unauthenticated(f"the request's nonce has to have {LEAST_NONCE} to {MAX_ID} printable characters")
