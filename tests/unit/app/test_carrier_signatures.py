"""Signatures of carriers; the vectors were made with `openssl dgst -sha1 -hmac` and `-sha256 -hmac`."""

import base64
import hashlib
import hmac

import pytest

from app.auth.carriers import check_plivo, check_twilio
from schemas.errors import Unauthenticated

TOKEN = b"12345"


def made(kind: str, text: str, token: bytes = TOKEN) -> str:
    return base64.b64encode(hmac.new(token, text.encode(), getattr(hashlib, kind)).digest()).decode()


@pytest.mark.parametrize(
    "address",
    [
        "wss://bank.example/v1/ivr/twilio",
        "https://bank.example/v1/ivr/twilio",
        "wss://bank.example/v1/ivr/twilio/",
    ],
)
def test_twilio_signs_the_address(address: str) -> None:
    check_twilio([b"another", TOKEN], "bank.example", "/v1/ivr/twilio", made("sha1", address))


@pytest.mark.parametrize(
    ("token", "host", "path"),
    [
        (b"another", "bank.example", "/v1/ivr/twilio"),
        (TOKEN, "other.example", "/v1/ivr/twilio"),
        (TOKEN, "bank.example", "/v1/ivr/twilio?x=1"),
    ],
)
def test_another_address_or_key_is_not_signed(token: bytes, host: str, path: str) -> None:
    with pytest.raises(Unauthenticated):
        check_twilio([token], host, path, made("sha1", "wss://bank.example/v1/ivr/twilio"))


@pytest.mark.parametrize("signature", ["", "é", "x" * 10_000])
def test_what_is_no_signature_is_refused(signature: str) -> None:
    with pytest.raises(Unauthenticated):
        check_twilio([TOKEN], "bank.example", "/", signature)


def test_a_known_vector() -> None:
    check_twilio([TOKEN], "bank.example", "/v1/ivr/twilio", "s7z0ZbL8TVbRP+WNThveWAzsiW0=")
    check_plivo([TOKEN], "bank.example", "/v1/ivr/plivo", "n1", "TjRUk6lSLYFj8iagLAazo5wrPQ+oYQ2ZiPKQAuxThtY=")


def test_plivo_signs_address_and_nonce_and_may_sign_twice() -> None:
    good = made("sha256", "wss://bank.example/v1/ivr/plivo.n1")
    check_plivo([b"another", TOKEN], "bank.example", "/v1/ivr/plivo", "n1", f"other, {good}")
    with pytest.raises(Unauthenticated):
        check_plivo([TOKEN], "bank.example", "/v1/ivr/plivo", "n2", good)
