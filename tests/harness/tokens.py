"""An issuer's tokens, good and bad."""

from datetime import UTC, datetime
from typing import Any

from joserfc import jwt
from joserfc.jwk import KeySet, OKPKey

from app.auth.jwks import FixedKeys, TokenVerifier
from app.auth.principal import Principal
from app.auth.tokens import TokenRules
from services.timing import ManualClock

NOW = datetime(2026, 3, 4, 15, 0, tzinfo=UTC)
AT = int(NOW.timestamp())
RULES = TokenRules("https://issuer.test", "tellerline")
KEY = OKPKey.generate_key("Ed25519", {"kid": "one"})
KEYS = KeySet([KEY])


def claims(**changes: Any) -> dict[str, Any]:
    good = {
        "iss": RULES.issuer, "aud": RULES.audience, "sub": "ann", "scope": "call openid", "iat": AT, "nbf": AT,
        "exp": AT + 300,
    }  # fmt: skip
    return {key: value for key, value in (good | changes).items() if value is not ...}


def token(key: Any = KEY, alg: str = "Ed25519", header: dict[str, Any] | None = None, **changes: Any) -> str:
    head = {"alg": alg, "kid": key.kid, "typ": "at+jwt"} | (header or {})
    return jwt.encode({k: v for k, v in head.items() if v is not ...}, claims(**changes), key, algorithms=[alg])


def verify_token(text: str, keys: KeySet, rules: TokenRules, now: datetime) -> Principal:
    """What a verifier says of it, the second time too, when it remembers that the signature held."""
    verifier = TokenVerifier(FixedKeys({}), rules, ManualClock(now))
    principal = verifier._principal(text, keys)
    assert verifier._principal(text, keys) == principal
    return principal
