"""IVR bridges' signed requests, and the thin edge that reads credentials off a connection."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from fastapi.requests import HTTPConnection

from app.auth.dependencies import HEADERS, SIGNATURE, SUBPROTOCOLS, bearer, signed_request
from app.auth.signature import WINDOW_S, RequestVerifier, SignedRequest, sign
from schemas.errors import ConfigInvalid, Unauthenticated

NOW = datetime(2026, 3, 4, 15, 0, tzinfo=UTC)
SECRET = b"s" * 32
GOOD = SignedRequest("bridge", "GET", "/v1/calls?locale=en-US", str(int(NOW.timestamp())), "nonce-0001", "ann", b"", "")


def signed(request: SignedRequest = GOOD, secret: bytes = SECRET, **changes: object) -> SignedRequest:
    changed = replace(request, **changes)  # type: ignore[arg-type] # built loosely by the tables
    return replace(changed, signature=sign(secret, changed))


def verifier() -> RequestVerifier:
    return RequestVerifier({"bridge": SECRET, "other": b"o" * 32})


def test_a_bridge_vouches_for_its_caller() -> None:
    principal = verifier().verify(signed(), NOW)
    assert (principal.customer, principal.subject) == ("ann", "ivr:bridge")


@pytest.mark.parametrize(
    "changes",
    [
        {"key_id": "other"}, {"method": "POST"}, {"path": "/v1/text"}, {"timestamp": "1"}, {"nonce": "nonce-0002"},
        {"customer": "bob"}, {"body": b"x"}, {"signature": ""}, {"signature": "é"}, {"key_id": "nobody"},
        {"method": "GE", "path": "T/v1/calls?locale=en-US"},
    ],
    ids=str,
)  # fmt: skip
def test_every_part_is_signed(changes: dict[str, object]) -> None:
    with pytest.raises(Unauthenticated):
        verifier().verify(replace(signed(), **changes), NOW)  # type: ignore[arg-type] # built loosely by the table


@pytest.mark.parametrize("changes", [{"customer": ""}, {"customer": "a" * 129}, {"nonce": "short"}, {"timestamp": ""}])
def test_a_signature_alone_is_not_enough(changes: dict[str, object]) -> None:
    with pytest.raises(Unauthenticated):
        verifier().verify(signed(**changes), NOW)


def test_a_request_is_good_for_its_window() -> None:
    for seconds in (-WINDOW_S, 0, WINDOW_S):
        verifier().verify(signed(), NOW + timedelta(seconds=seconds))
    for seconds in (-WINDOW_S - 1, WINDOW_S + 1, 86_400):
        with pytest.raises(Unauthenticated):
            verifier().verify(signed(), NOW + timedelta(seconds=seconds))


def test_weak_secrets_are_refused() -> None:
    with pytest.raises(ConfigInvalid):
        RequestVerifier({"bridge": b"short"})


def connection(headers: Iterable[tuple[str, str]], kind: str = "websocket") -> HTTPConnection:
    raw = [(name.encode(), value.encode("latin-1")) for name, value in headers]
    scope = {
        "type": kind, "path": "/v1/calls", "query_string": b"locale=en-US", "headers": raw, "scheme": "ws",
        "server": ("localhost", 80),
    }  # fmt: skip
    return HTTPConnection(scope)


def test_where_a_token_may_stand() -> None:
    assert bearer(connection([("authorization", "Bearer abc")])) == "abc"
    assert bearer(connection([("sec-websocket-protocol", f"tellerline.v1, {SUBPROTOCOLS[0]}abc")])) == "abc"
    for headers in ([], [("authorization", "Basic abc")], [("authorization", "Bearer ")]):
        with pytest.raises(Unauthenticated):
            bearer(connection(headers))


def test_two_credentials_are_none() -> None:
    first, second = ("authorization", "Bearer abc"), ("sec-websocket-protocol", f"{SUBPROTOCOLS[0]}def")
    both = ("sec-websocket-protocol", f"{SUBPROTOCOLS[0]}abc, {SUBPROTOCOLS[1]}def")
    for headers in ([first, second], [first, ("authorization", "bearer def")], [both]):
        with pytest.raises(Unauthenticated):
            bearer(connection(headers))
    assert bearer(connection([first, first])) == "abc"


def test_a_handshake_is_signed_as_it_arrives() -> None:
    values = (GOOD.key_id, GOOD.timestamp, GOOD.nonce, GOOD.customer)
    arrived = connection([*zip(HEADERS, values, strict=True), (SIGNATURE, signed().signature)])
    assert verifier().verify(signed_request(arrived, b""), NOW).customer == "ann"
