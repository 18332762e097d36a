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
        if token.header.get("typ") != TYPE or not isinstance(bridge, str) or not _sound(claims):
            raise Unauthenticated("not a statement")
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


def _sound(claims: Mapping[str, Any]) -> bool:
    """Whether the claims are of their kinds and within their bounds."""
    names = (claims["sub"], claims["jti"])
    if (
        not all(isinstance(name, str) and name.isprintable() for name in names)
        or claims["exp"] - claims["iat"] > LIFE_S
    ):
        return False
    return 0 < len(claims["sub"]) <= MAX_ID and _LEAST_ID <= len(claims["jti"]) <= MAX_ID - len("ivr:")
