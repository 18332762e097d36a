"""The demo's own issuer: a signing key under the state folder, and tokens that live for minutes."""

from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from joserfc import jwt
from joserfc.jwk import OKPKey

from app.auth.tokens import TokenRules
from app.once import made_once
from schemas.errors import ConfigInvalid
from services.ports import Clock

LIFE_S: Final = 900
ALGORITHM: Final = "Ed25519"


class DemoIssuer:
    """Issues tokens that our own verifier accepts. Never part of a production process."""

    def __init__(self, key: OKPKey, rules: TokenRules) -> None:
        self._key = key
        self._rules = rules
        key.ensure_kid()

    @classmethod
    def under(cls, folder: Path, rules: TokenRules) -> "DemoIssuer":
        """The issuer whose key lies in `folder`; made on first use for its owner alone. Raises ConfigInvalid."""
        pem = made_once(folder / "demo-issuer.pem", _new_key)
        try:
            return cls(OKPKey.import_key(pem), rules)
        except ValueError as error:
            raise ConfigInvalid("the demo issuer's key is unreadable") from error

    def jwks(self) -> dict[str, Any]:
        """The public key, as the JWKS document a verifier fetches."""
        return {"keys": [dict(self._key.as_dict(private=False)) | {"use": "sig", "alg": ALGORITHM}]}

    def token(self, subject: str, scopes: Iterable[str], now: datetime, clock: Clock) -> str:
        """A token for `subject`, good for LIFE_S seconds."""
        at = int(now.timestamp())
        claims = {
            "iss": self._rules.issuer,
            "aud": self._rules.audience,
            "sub": subject,
            "scope": " ".join(sorted(scopes)),
            "iat": at,
            "nbf": at,
            "exp": at + LIFE_S,
            "jti": clock.new_id(),
        }
        header = {"alg": ALGORITHM, "kid": self._key.kid, "typ": "at+jwt"}
        return jwt.encode(header, claims, self._key, algorithms=[ALGORITHM])


def _new_key() -> bytes:
    return OKPKey.generate_key("Ed25519", private=True).as_pem(private=True)
