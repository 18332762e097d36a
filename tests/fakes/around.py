"""What stands around a bank's gateway: an identity provider and a messaging service, on a real socket."""

import asyncio
import json
import time

from joserfc import jwt
from joserfc.jwk import ECKey

from tests.fakes.http import Asked, FakeHttpServer


class Around(FakeHttpServer):
    """The keys at /jwks.json, and the codes that came with what was signed."""

    def __init__(self) -> None:
        super().__init__()
        self.key = ECKey.generate_key("P-256", auto_kid=True)
        self.codes: list[Asked] = []
        self.status: int | None = 200

    async def answer(self, asked: Asked, _reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        body = b""
        if asked.path == "/jwks.json":
            body = json.dumps({"keys": [self.key.as_dict(private=False) | {"use": "sig", "alg": "ES256"}]}).encode()
        if asked.method == "POST":
            self.codes.append(asked)
        if self.status is None:
            await asyncio.sleep(30)
        writer.write(f"HTTP/1.1 {self.status} OK\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
        await writer.drain()
        return True

    def token(self, claims: dict[str, object]) -> str:
        """A token of now with these claims, good for fifteen minutes."""
        now = int(time.time())  # noqa: TID251 - the gateway's own clock
        given = claims | {"iat": now, "exp": now + 900}
        return jwt.encode({"alg": "ES256", "kid": self.key.kid, "typ": "at+jwt"}, given, self.key)
