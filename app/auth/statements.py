"""Statements of telephone bridges: whose call it is, signed by the bridge that asked its caller for proof.

A telephone protocol carries no credential of the caller's, and a caller id is none. The bridge has identified its
caller by its own means (a PIN, a registered line) and says so in a JWT of its own key, which lives for a minute or so,
opens one call, and may be bound to the call's own id.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from joserfc import jws, jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet, OctKey

from app.auth.tokens import MAX_ID, MAX_TOKEN, claim_of
from schemas.errors import Unauthenticated
from schemas.ids import CustomerId
from services.guard.nonces import Nonces
from services.ports import Clock

LIFE_S: Final = 90
"""The longest that a statement may live; its id is remembered for longer."""
KEPT: Final = timedelta(seconds=120)
SKEW_S: Final = 10
ALGORITHM: Final = "HS256"
AUDIENCE: Final = "tellerline.ivr"
TYPE: Final = "statement+jwt"
_LEAST_ID: Final = 8


class Statements:
    """Verifies them under the bridges' keys, by key id; each is taken once, whichever gateway it reaches."""

    def __init__(self, secrets: Mapping[str, bytes], nonces: Nonces, clock: Clock) -> None:
        self._keys = KeySet([OctKey.import_key(secret, {"kid": name}) for name, secret in secrets.items()])
        self._nonces = nonces
        self._clock = clock

    async def take(self, statement: str, call: str) -> CustomerId:
        """Whose the call is that the bridge calls `call`. Raises Unauthenticated, StoreUnavailable.

        The message never repeats the statement.
        """
        now = self._clock.now()
        bridge, claims = self._verified(statement, now)
        if claims.get("call") not in {None, call}:
            raise Unauthenticated("the statement is of another call")
        await self._nonces.take(f"ivr:{bridge}", claims["jti"], now)
        return CustomerId(claims["sub"])

    async def take_nonce(self, nonce: str) -> None:
        """A number that may come once, of a request signed otherwise. Raises Unauthenticated, StoreUnavailable."""
        await self._nonces.take("ivr", nonce, self._clock.now())

    def _verified(self, statement: str, now: datetime) -> tuple[str, dict[str, Any]]:
        if not self._keys.keys or len(statement) > MAX_TOKEN or not statement.isascii():
            raise Unauthenticated("not a statement of a bridge that is known")
        try:
            registry = jws.JWSRegistry(algorithms=[ALGORITHM])
            token = jwt.decode(statement, self._keys, algorithms=[ALGORITHM], registry=registry)
            _claims(now).validate(token.claims)
        except (JoseError, ValueError, TypeError) as error:
            raise Unauthenticated(f"the statement does not hold: {claim_of(error)}") from error
        bridge, claims = token.header.get("kid"), token.claims
        if token.header.get("typ") != TYPE or not isinstance(bridge, str):
            raise Unauthenticated(f"not a statement: its header has kid and typ {TYPE}")
        _check(claims)
        return bridge, claims


def issue(bridge: str, secret: bytes, claims: Mapping[str, object]) -> str:
    """A statement, as a bridge makes it: `sub`, `iat`, `exp`, `jti`, and `call` where it is to open that one alone."""
    header = {"alg": ALGORITHM, "kid": bridge, "typ": TYPE}
    return jwt.encode(header, {"aud": AUDIENCE, **claims}, OctKey.import_key(secret), algorithms=[ALGORITHM])


def _claims(now: datetime) -> jwt.JWTClaimsRegistry:
    return jwt.JWTClaimsRegistry(
        now=int(now.timestamp()),
        leeway=SKEW_S,
        aud={"essential": True, "value": AUDIENCE},
        sub={"essential": True},
        iat={"essential": True},
        exp={"essential": True},
        jti={"essential": True},
    )


def _check(claims: Mapping[str, Any]) -> None:
    """Whether the claims are of their kinds and within their bounds. Raises Unauthenticated, by the claim's name."""
    if claims["exp"] - claims["iat"] > LIFE_S:
        raise Unauthenticated(f"the statement lives too long: exp is at most {LIFE_S} s behind iat")
    for name, least, most in (("sub", 1, MAX_ID), ("jti", _LEAST_ID, MAX_ID - len("ivr:"))):
        told = claims[name]
        if not isinstance(told, str) or not told.isprintable() or not least <= len(told) <= most:
            raise Unauthenticated(f"the statement's {name} has to be a text of {least} to {most} printable characters")
