"""What FastAPI sees: from a request or a WebSocket handshake to a principal. Nothing is decided here."""

from typing import Final

from fastapi.requests import HTTPConnection

from app.auth.jwks import TokenVerifier
from app.auth.principal import Principal
from app.auth.signature import RequestVerifier, SignedRequest
from schemas.errors import Unauthenticated
from services.ports import Clock

SUBPROTOCOL: Final = "tellerline.bearer."
"""Browsers can't set headers on a WebSocket: they offer the token as a subprotocol with this prefix."""
HEADERS: Final = ("x-tellerline-key", "x-tellerline-time", "x-tellerline-nonce", "x-tellerline-customer")
SIGNATURE: Final = "x-tellerline-signature"


class Authenticator:
    """Takes the credential a connection carries: a bearer token, or an IVR bridge's signature."""

    def __init__(self, tokens: TokenVerifier, bridges: RequestVerifier, clock: Clock) -> None:
        self._tokens = tokens
        self._bridges = bridges
        self._clock = clock

    async def principal(self, connection: HTTPConnection, body: bytes = b"") -> Principal:
        """Who is asking. Raises Unauthenticated, RateLimited, DependencyFailed."""
        if SIGNATURE in connection.headers:
            return self._bridges.verify(signed_request(connection, body), self._clock.now())
        return await self._tokens.verify(bearer(connection))


def bearer(connection: HTTPConnection) -> str:
    """The token of an Authorization header, or of a WebSocket's offered subprotocols. Raises Unauthenticated."""
    scheme, _, token = connection.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and token.strip():
        return token.strip()
    for offered in connection.headers.get("sec-websocket-protocol", "").split(","):
        if offered.strip().startswith(SUBPROTOCOL):
            return offered.strip().removeprefix(SUBPROTOCOL)
    raise Unauthenticated("no credential")


def signed_request(connection: HTTPConnection, body: bytes) -> SignedRequest:
    """What a bridge signed, as it arrived; the path is signed with its query."""
    key_id, timestamp, nonce, customer = (connection.headers.get(name, "") for name in HEADERS)
    query = connection.url.query
    return SignedRequest(
        key_id=key_id,
        method=str(connection.scope.get("method", "GET")),
        path=connection.url.path + (f"?{query}" if query else ""),
        timestamp=timestamp,
        nonce=nonce,
        customer=customer,
        body=body,
        signature=connection.headers[SIGNATURE],
    )
