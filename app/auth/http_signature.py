"""HTTP message signatures (RFC 9421, as Genesys' AudioHook has them): HMAC-SHA256 over parts of a request. Pure."""

import base64
import binascii
import hashlib
import hmac
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from schemas.errors import Unauthenticated

SKEW_S: Final = 5
AGE_S: Final = 60
"""The longest that a signature holds, whatever it says."""
NONCE: Final = 16
MOST_NONCE: Final = 128
_MAX: Final = 4_096
_INPUT: Final = re.compile(
    r'(\w{1,32})=(\(((?:"[^"\\]{1,64}"(?: "[^"\\]{1,64}")*)?)\)((?:;[a-z]{1,16}=(?:"[^"\\]*"|\d{1,15}))*))'
)
_PARAMETER: Final = re.compile(r';([a-z]{1,16})=(?:"([^"\\]*)"|(\d{1,15}))')


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """What may be signed: the target with its query, the host, and the headers by their names in lower case."""

    target: str
    host: str
    headers: Mapping[str, str]


def check_http(
    request: HttpRequest, keyid: str, secrets: Sequence[bytes], covered: frozenset[str], now: datetime
) -> str:
    """Verify a request; its nonce, which is to be taken once. Raises Unauthenticated.

    `covered` are the parts that have to be signed, under any of the secrets.
    """
    signed = _INPUT.fullmatch(request.headers.get("signature-input", "")[:_MAX])
    if signed is None:
        raise Unauthenticated("the request is not signed")
    label, line, names, options = signed.groups()
    parts = re.findall(r'"([^"]*)"', names)
    found = _PARAMETER.findall(options)
    given, numbers = ({name: one[n] for name, *one in found if one[n]} for n in (0, 1))
    base = "\n".join([*(f'"{part}": {_value(request, part)}' for part in parts), f'"@signature-params": {line}'])
    made = [hmac.new(secret, base.encode("utf-8", "replace"), hashlib.sha256).digest() for secret in secrets]
    fits = [hmac.compare_digest(one, _signature(request.headers.get("signature", ""), label)) for one in made]
    if not any(fits) or given.get("keyid") != keyid or given.get("alg", "hmac-sha256") != "hmac-sha256":
        raise Unauthenticated("the signature does not verify")
    if len(set(parts)) < len(parts) or not covered <= set(parts):
        raise Unauthenticated("the signature leaves something out")
    _check_time(numbers, now.timestamp())
    nonce: str = given.get("nonce", "")
    if not NONCE <= len(nonce) <= MOST_NONCE:
        raise Unauthenticated(f"the signature's nonce has to have {NONCE} to {MOST_NONCE} characters")
    return nonce


def _value(request: HttpRequest, part: str) -> str:
    if part == "@request-target":
        return request.target
    if part == "@authority":
        return request.host.lower()
    if part.startswith("@") or part not in request.headers:
        raise Unauthenticated("the signature covers what is not there")
    return request.headers[part].strip()


def _signature(header: str, label: str) -> bytes:
    found = re.fullmatch(r"(\w{1,32})=:([A-Za-z0-9+/=]{1,128}):", header)
    if found is None or found[1] != label:
        return b""
    try:
        return base64.b64decode(found[2], validate=True)
    except (binascii.Error, ValueError):
        return b""


def _check_time(numbers: Mapping[str, str], now: float) -> None:
    """Of digits alone: a word is no time, not even one that says when."""
    created = int(numbers.get("created", "0"))
    expires = min(int(numbers.get("expires", created + AGE_S)), created + AGE_S)
    if created > now + SKEW_S or expires < now - SKEW_S:
        raise Unauthenticated("the request's time is not ours")
