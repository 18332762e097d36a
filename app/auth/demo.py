"""The demo's own issuer: a signing key under the state folder, and tokens that live for minutes."""

import os
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from joserfc import jwt
from joserfc.jwk import OKPKey

from app.auth.principal import Scope
from app.auth.tokens import TokenRules
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
        """The issuer whose key lies in `folder`; made on first use, readable by its owner alone."""
        path = folder / "demo-issuer.pem"
        if not path.is_file():
            folder.mkdir(parents=True, exist_ok=True)
            made = OKPKey.generate_key("Ed25519", private=True)
            with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(made.as_pem(private=True))
        try:
            return cls(OKPKey.import_key(path.read_bytes()), rules)
        except ValueError as error:
            raise ConfigInvalid("the demo issuer's key is unreadable") from error

    def jwks(self) -> dict[str, Any]:
        """The public key, as the JWKS document a verifier fetches."""
        return {"keys": [dict(self._key.as_dict(private=False)) | {"use": "sig", "alg": ALGORITHM}]}

    def token(self, subject: str, scopes: Iterable[Scope], now: datetime, clock: Clock) -> str:
        """A token for `subject`, good for LIFE_S seconds."""
        at = int(now.timestamp())
        claims = {
            "iss": self._rules.issuer,
            "aud": self._rules.audience,
            "sub": subject,
            "scope": " ".join(sorted(scope.value for scope in scopes)),
            "iat": at,
            "nbf": at,
            "exp": at + LIFE_S,
            "jti": clock.new_id(),
        }
        header = {"alg": ALGORITHM, "kid": self._key.kid, "typ": "at+jwt"}
        return jwt.encode(header, claims, self._key, algorithms=[ALGORITHM])
