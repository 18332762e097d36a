"""A signed handshake of Genesys' is taken as it was signed, once, for a while."""

from datetime import UTC, datetime
from typing import Any

import pytest

from app.auth.http_signature import AGE_S, SKEW_S, HttpRequest, check_http
from app.transports.telephone.audiohook_door import COVERED
from schemas.errors import Unauthenticated
from tests.harness.phone_genesys import API_KEY, PATH, SECRET, signed

HOST, SESSION = "bank.example", "aaaaaaaa-0000-4000-8000-000000000001"


def now(headers: dict[str, str], later: float = 0.0) -> datetime:
    created = int(headers["signature-input"].partition("created=")[2].partition(";")[0])
    return datetime.fromtimestamp(created + later, UTC)


def check(headers: dict[str, str], later: float = 0.0, target: str = PATH, host: str = HOST) -> str:
    return check_http(HttpRequest(target, host, headers), API_KEY, [b"new", SECRET], COVERED, now(headers, later))


def test_what_genesys_signed_is_taken() -> None:
    headers = signed(HOST, SESSION)
    assert check(headers) in headers["signature-input"]
    assert check(headers, 29)
    assert check(signed(HOST, SESSION, expires=2**40), AGE_S)


@pytest.mark.parametrize("name", ["audiohook-session-id", "audiohook-organization-id", "x-api-key"])
def test_a_header_that_was_changed_is_told(name: str) -> None:
    headers = signed(HOST, SESSION)
    with pytest.raises(Unauthenticated):
        check(headers | {name: "another"})


@pytest.mark.parametrize(
    ("later", "changes"),
    [(30 + SKEW_S + 1, {}), (-SKEW_S - 1, {}), (AGE_S + SKEW_S + 1, {"expires": 2**40})],
    ids=["expired", "to come", "too old"],
)
def test_it_holds_for_a_while(later: float, changes: dict[str, Any]) -> None:
    with pytest.raises(Unauthenticated, match="time"):
        check(signed(HOST, SESSION, **changes), later)


@pytest.mark.parametrize(
    "changes",
    [
        {"keyid": "another"},
        {"alg": "hmac-sha512"},
        {"nonce": "short"},
        {"created": 0, "expires": 0},
        *({"created": word, "expires": "inf"} for word in ("nan", "inf", "abc", "-1e3", "2000000000")),
    ],
    ids=str,
)
def test_signed_otherwise_is_refused(changes: dict[str, Any]) -> None:
    good = signed(HOST, SESSION)
    with pytest.raises(Unauthenticated):
        check_http(HttpRequest(PATH, HOST, signed(HOST, SESSION, **changes)), API_KEY, [SECRET], COVERED, now(good))


def test_another_place_is_not_signed() -> None:
    headers = signed(HOST, SESSION)
    for target, host in ((PATH + "?x=1", HOST), (PATH, "other.example")):
        with pytest.raises(Unauthenticated):
            check(headers, target=target, host=host)


def test_another_secret_is_told() -> None:
    with pytest.raises(Unauthenticated):
        check(signed(HOST, SESSION, b"o" * 32))


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ('"x-api-key"', '"@method"'),
        ('"x-api-key"', '"x-absent"'),
        (' "x-api-key"', ""),
        ("sig1=(", "sig2=("),
        ("created=", "created=x"),
        ("(", '("'),
    ],
)
def test_an_input_that_was_changed_is_refused(given: str, wanted: str) -> None:
    headers = signed(HOST, SESSION)
    at = now(headers)
    spoilt = headers | {"signature-input": headers["signature-input"].replace(given, wanted, 1)}
    with pytest.raises(Unauthenticated):
        check_http(HttpRequest(PATH, HOST, spoilt), API_KEY, [SECRET], COVERED, at)


@pytest.mark.parametrize("signature", ["", "sig1=::", "sig1=:?:", "x" * 9_000, "sig1=:AAA:"])
def test_what_is_no_signature_is_refused(signature: str) -> None:
    headers = signed(HOST, SESSION) | {"signature": signature}
    with pytest.raises(Unauthenticated):
        check(headers)


def test_nothing_signed_is_refused() -> None:
    with pytest.raises(Unauthenticated):
        check_http(HttpRequest(PATH, HOST, {}), API_KEY, [SECRET], COVERED, datetime(2026, 3, 4, tzinfo=UTC))
