"""Bridges that can't sign: their key as user and password of the handshake."""

import base64
import binascii
import hmac
from collections.abc import Mapping

from starlette.requests import HTTPConnection

from schemas.errors import Unauthenticated


def with_key(connection: HTTPConnection, bridges: Mapping[str, bytes]) -> bool:
    """Whether the connection has a bridge's key as user and password. Raises Unauthenticated: it has a wrong one."""
    scheme, _, value = connection.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "basic":
        return False
    try:
        name, _, given = base64.b64decode(value, validate=True).partition(b":")
    except (binascii.Error, ValueError):
        raise Unauthenticated("no user and password") from None
    key = bridges.get(name.decode("utf-8", "replace"))
    if not hmac.compare_digest(key or b"\0" * 32, given) or key is None:
        raise Unauthenticated("no bridge has this key")
    return True
