"""Signatures of telephone carriers over the address that they open a stream at. Pure.

They prove that a connection comes from the carrier, for the bank's own account; whose call it is they do not say.
"""

import base64
import hashlib
import hmac
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from schemas.errors import Unauthenticated

TWILIO_SIGNATURE = "x-twilio-signature"
PLIVO_SIGNATURE = "x-plivo-signature-v3"
PLIVO_NONCE = "x-plivo-signature-v3-nonce"


def check_twilio(tokens: Sequence[bytes], host: str, path: str, signature: str) -> None:
    """HMAC-SHA1 over the address as it was written in the TwiML, under any of the tokens. Raises Unauthenticated.

    A proxy may have ended TLS, and the carrier added a slash: `host`, and `path` with its query, are as they came.
    """
    _check([_digest(token, url, hashlib.sha1) for token in tokens for url in _addresses(host, path)], [signature])


def check_plivo(tokens: Sequence[bytes], host: str, path: str, nonce: str, signatures: str) -> None:
    """HMAC-SHA256 over address, dot and nonce; one of several, comma-separated. Raises Unauthenticated."""
    made = [_digest(token, f"{url}.{nonce}", hashlib.sha256) for token in tokens for url in _addresses(host, path)]
    _check(made, [one.strip() for one in signatures.split(",")[:8]])


def _check(made: Sequence[bytes], given: Sequence[str]) -> None:
    fits = False
    for one in made:
        for other in given:
            fits |= hmac.compare_digest(one, other.encode("utf-8", "replace"))
    if not fits:
        raise Unauthenticated("the carrier's signature does not verify")


def _digest(token: bytes, text: str, kind: Callable[..., Any]) -> bytes:
    return base64.b64encode(hmac.new(token, text.encode("utf-8", "replace"), kind).digest())


def _addresses(host: str, path: str) -> Iterator[str]:
    bare, mark, query = path.partition("?")
    for scheme in ("wss", "https"):
        yield f"{scheme}://{host}{path}"
        yield f"{scheme}://{host}{bare.rstrip('/')}/{mark}{query}"
