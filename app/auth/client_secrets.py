"""Client secrets: what a bank's own backend gives a browser instead of its customer's token, to open one kind of call.

A secret is signed, lives for minutes, names the customer of the token that it was asked for with, and opens a call of
`WS /v1/realtime` alone. The call may last as long as that token would have let it.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from joserfc import jws, jwt
from joserfc.errors import BadSignatureError, JoseError
from joserfc.jwk import OctKey

from app.auth.principal import Principal, Scope
from app.auth.tokens import MAX_TOKEN
from rules.act import CLOCKS_APART
from schemas.errors import Unauthenticated
from schemas.ids import CustomerId
from services.ports import Clock

PREFIX: Final = "ek_"
"""By which clients tell a secret that may be shown to a browser from one that may not."""
LIFE_S: Final = 600
LEAST_S: Final = 10
_ALGORITHM: Final = "HS256"
_ISSUER: Final = "tellerline"
_AUDIENCE: Final = "tellerline.realtime"
_TYPE: Final = "ek+jwt"


@dataclass(frozen=True, slots=True)
class ClientSecret:
    """A secret, and the second since 1970 after which it opens nothing."""

    value: str
    expires_at: int


class ClientSecrets:
    """Issues and verifies them under keys that all processes of a gateway share and nothing else uses."""

    def __init__(self, keys: Sequence[bytes], clock: Clock) -> None:
        """The first key issues; all of them verify."""
        self._keys = [OctKey.import_key(key) for key in keys]
        self._clock = clock

    def issue(self, principal: Principal, seconds: int) -> ClientSecret:
        """A secret for a caller. Raises MissingScope, Unauthenticated where the principal names no customer.

        It opens calls for `seconds`, of which there are LEAST_S to LIFE_S, and not beyond the principal's own end.
        """
        customer = principal.caller()
        now = int(self._clock.now().timestamp())
        until = None if principal.expires_at is None else int(principal.expires_at.timestamp())
        ends = now + min(max(seconds, LEAST_S), LIFE_S)
        ends = ends if until is None else min(ends, until)
        since = now - int(CLOCKS_APART.total_seconds())  # no gateway may find that it was made later than now
        claims: dict[str, Any] = {"iss": _ISSUER, "aud": _AUDIENCE, "sub": customer, "iat": since, "exp": ends}
        claims |= {"jti": self._clock.new_id(), "until": until}
        header = {"alg": _ALGORITHM, "typ": _TYPE}
        return ClientSecret(PREFIX + jwt.encode(header, claims, self._keys[0], algorithms=[_ALGORITHM]), ends)

    def verify(self, value: str) -> Principal:
        """Whose it is. Raises Unauthenticated; the message never repeats the secret."""
        if len(value) > MAX_TOKEN or not value.isascii():
            raise Unauthenticated("not a client secret")
        try:
            token = self._decoded(value.removeprefix(PREFIX))
            self._claims().validate(token.claims)
        except (JoseError, ValueError, TypeError) as error:
            raise Unauthenticated(f"the client secret does not hold: {type(error).__name__}") from error
        until = token.claims.get("until")
        if token.header.get("typ") != _TYPE or not (until is None or isinstance(until, int)):
            raise Unauthenticated("not a client secret")
        ends = None if until is None else datetime.fromtimestamp(until, UTC)
        customer = CustomerId(token.claims["sub"])
        return Principal(customer, customer, frozenset({Scope.CALL}), ends)

    def _decoded(self, value: str) -> jwt.Token:
        registry = jws.JWSRegistry(algorithms=[_ALGORITHM])
        for key in self._keys[:-1]:
            with suppress(BadSignatureError):
                return jwt.decode(value, key, algorithms=[_ALGORITHM], registry=registry)
        return jwt.decode(value, self._keys[-1], algorithms=[_ALGORITHM], registry=registry)

    def _claims(self) -> jwt.JWTClaimsRegistry:
        return jwt.JWTClaimsRegistry(
            now=int(self._clock.now().timestamp()),
            leeway=0,
            iss={"essential": True, "value": _ISSUER},
            aud={"essential": True, "value": _AUDIENCE},
            sub={"essential": True},
            exp={"essential": True},
        )
