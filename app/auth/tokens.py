"""OAuth 2 / OpenID Connect access tokens: verification as pure functions of token, keys, rules and time."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from joserfc import jws, jwt
from joserfc.errors import ClaimError, InvalidKeyIdError, JoseError
from joserfc.jwk import KeySet

from app.auth.principal import Principal, Scope, scopes_of
from schemas.errors import Unauthenticated
from schemas.ids import CustomerId

ALGORITHMS: Final = ("RS256", "PS256", "ES256", "EdDSA", "Ed25519")
"""Signatures by public key only: no shared secret could be taken for one, and `none` is no algorithm."""

MAX_TOKEN: Final = 8_192
MAX_ID: Final = 128
_TYPES: Final = ("jwt", "at+jwt")
"""RFC 9068 wants `at+jwt`; many issuers write `JWT`, and some nothing: the audience tells ID tokens apart."""


class UnknownKey(Unauthenticated):
    """The token names a key that is not among those known; fetching them again may help."""


@dataclass(frozen=True, slots=True)
class TokenRules:
    """What a token must say. `skew_s` is how far clocks may differ; `max_life_s` how long a token may live."""

    issuer: str
    audience: str
    skew_s: int = 30
    max_life_s: int = 24 * 3600


@dataclass(frozen=True, slots=True)
class SignedToken:
    """What stands in a token whose signature holds."""

    header: dict[str, Any]
    claims: dict[str, Any]


def signed_token(token: str, keys: KeySet) -> SignedToken:
    """A token whose signature holds, whatever stands in it. Raises UnknownKey, Unauthenticated."""
    if not token or len(token) > MAX_TOKEN or not token.isascii():
        raise Unauthenticated("not a token")
    try:
        decoded = jwt.decode(token, keys, algorithms=ALGORITHMS, registry=_registry())
    except InvalidKeyIdError as error:
        raise UnknownKey("signed by an unknown key") from error
    except (JoseError, ValueError, TypeError) as error:
        raise Unauthenticated(f"the token does not verify: {type(error).__name__}") from error
    return SignedToken(decoded.header, decoded.claims)


def principal_of(token: SignedToken, rules: TokenRules, now: datetime) -> Principal:
    """Whom it names now. Raises Unauthenticated."""
    kind = token.header.get("typ", "jwt")
    known = isinstance(kind, str) and kind.lower().removeprefix("application/") in _TYPES
    if not known or not isinstance(token.header.get("kid"), str):
        raise Unauthenticated("not an access token")
    _check_claims(token.claims, rules, now)
    return _principal(token.claims)


def _registry() -> jws.JWSRegistry:
    return jws.JWSRegistry(algorithms=list(ALGORITHMS))


def _check_claims(claims: dict[str, Any], rules: TokenRules, now: datetime) -> None:
    registry = jwt.JWTClaimsRegistry(
        now=int(now.timestamp()),
        leeway=rules.skew_s,
        iss={"essential": True, "value": rules.issuer},
        aud={"essential": True, "value": rules.audience},
        sub={"essential": True},
        exp={"essential": True},
        iat={"essential": True},
    )
    try:
        registry.validate(claims)
    except (JoseError, ValueError, TypeError) as error:
        raise Unauthenticated(f"the token does not hold: {claim_of(error)}") from error
    if claims["exp"] - claims["iat"] > rules.max_life_s:
        raise Unauthenticated("the token lives too long")


def claim_of(error: Exception) -> str:
    """Which claim it is and what of it, never what it says."""
    return " ".join((*([error.claim] if isinstance(error, ClaimError) else []), type(error).__name__))


def _principal(claims: dict[str, Any]) -> Principal:
    subject, scope = claims["sub"], claims.get("scope", "")
    if not isinstance(scope, str) or not 0 < len(subject) <= MAX_ID or not subject.isprintable():
        raise Unauthenticated("the token's claims are malformed")
    scopes = scopes_of(scope)
    customer = CustomerId(subject) if Scope.CALL in scopes else None
    return Principal(subject, customer, scopes, datetime.fromtimestamp(claims["exp"], UTC))
