"""What FastAPI sees: from a request or a WebSocket handshake to a principal. Nothing is decided here."""

from typing import Final

from fastapi.requests import HTTPConnection

from app.auth.jwks import TokenVerifier
from app.auth.principal import Principal
from app.auth.signature import RequestVerifier, SignedRequest
from schemas.errors import Unauthenticated
from services.guard.nonces import Nonces
from services.ports import Clock

SUBPROTOCOLS: Final = ("tellerline.bearer.", "openai-insecure-api-key.")
"""Browsers can't set headers on a WebSocket: they offer the token as a subprotocol with one of these prefixes."""
HEADERS: Final = ("x-tellerline-key", "x-tellerline-time", "x-tellerline-nonce", "x-tellerline-customer")
SIGNATURE: Final = "x-tellerline-signature"


class Authenticator:
    """Takes the credential a connection carries: a bearer token, or an IVR bridge's signature."""

    def __init__(self, tokens: TokenVerifier, bridges: RequestVerifier, nonces: Nonces, clock: Clock) -> None:
        self._tokens = tokens
        self._nonces = nonces
        self._bridges = bridges
        self._clock = clock

    async def principal(self, connection: HTTPConnection, body: bytes = b"") -> Principal:
        """Who is asking. Raises Unauthenticated, DependencyFailed."""
        if SIGNATURE in connection.headers:
            request, now = signed_request(connection, body), self._clock.now()
            principal = self._bridges.verify(request, now)
            await self._nonces.take(request.key_id, request.nonce, now)
            return principal
        return await self._tokens.verify(bearer(connection))

    async def has_keys(self) -> bool:
        """Whether tokens could be verified now. What bridges sign needs no key of the issuer's."""
        return await self._tokens.has_keys()

    def subject(self, token: str) -> str | None:
        """Whose a token is, as far as is known without asking anybody; null where it does not hold."""
        return self._tokens.subject(token)

    async def of_token(self, token: str) -> Principal:
        """Who a token is of that came on its own. Raises Unauthenticated, DependencyFailed."""
        return await self._tokens.verify(token)

    async def before_body(self, connection: HTTPConnection) -> Principal | None:
        """Who is asking, before anything is read of what is sent; null for a bridge, whose signature covers that too.

        Raises Unauthenticated, DependencyFailed; also for a bridge that there is not, or a time that is not ours.
        """
        if SIGNATURE not in connection.headers:
            return await self._tokens.verify(bearer(connection))
        self._bridges.check_head(signed_request(connection, b""), self._clock.now())
        return None


def bearer(connection: HTTPConnection) -> str:
    """The token that a connection offers. Raises Unauthenticated where it offers none."""
    token = offered_token(connection)
    if token is None:
        raise Unauthenticated("no credential")
    return token


def offered_token(connection: HTTPConnection) -> str | None:
    """The token of an Authorization header, or of a WebSocket's offered subprotocols.

    Raises Unauthenticated where there are two that differ: a proxy before us may have looked at the other.
    """
    found = set()
    for header in connection.headers.getlist("authorization"):
        scheme, _, token = header.partition(" ")
        if scheme.lower() == "bearer" and token.strip():
            found.add(token.strip())
    for offered in ",".join(connection.headers.getlist("sec-websocket-protocol")).split(","):
        for prefix in SUBPROTOCOLS:
            if offered.strip().startswith(prefix):
                found.add(offered.strip().removeprefix(prefix))
    if len(found) > 1:
        raise Unauthenticated("more than one credential")
    return found.pop() if found else None


def path_of(connection: HTTPConnection) -> str:
    """Its path with its query, as whoever signs an address signs it."""
    query = connection.url.query
    return connection.url.path + (f"?{query}" if query else "")


def signed_request(connection: HTTPConnection, body: bytes) -> SignedRequest:
    """What a bridge signed, as it arrived; the path is signed with its query."""
    key_id, timestamp, nonce, customer = (connection.headers.get(name, "") for name in HEADERS)
    return SignedRequest(
        key_id=key_id,
        method=str(connection.scope.get("method", "GET")),
        path=path_of(connection),
        timestamp=timestamp,
        nonce=nonce,
        customer=customer,
        body=body,
        signature=connection.headers[SIGNATURE],
    )
