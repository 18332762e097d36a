"""Client secrets hold for so long, for one customer, under one key."""

from datetime import UTC, datetime, timedelta

import pytest

from app.auth.client_secrets import LEAST_S, LIFE_S, PREFIX, ClientSecrets
from app.auth.principal import Principal, Scope
from schemas.errors import MissingScope, Unauthenticated
from schemas.ids import CustomerId
from services.timing.clock import ManualClock

NOW = datetime(2026, 3, 4, 15, 0, tzinfo=UTC)
KEY = b"k" * 32


def caller(expires_at: datetime | None = None) -> Principal:
    return Principal("ann", CustomerId("ann"), frozenset({Scope.CALL}), expires_at)


def made(clock: ManualClock | None = None, key: bytes = KEY) -> ClientSecrets:
    return ClientSecrets([key], clock or ManualClock(NOW))


@pytest.mark.parametrize(("asked", "given"), [(60, 60), (0, LEAST_S), (7_200, LIFE_S)])
def test_it_opens_calls_for_so_long(asked: int, given: int) -> None:
    clock = ManualClock(NOW)
    secret = made(clock).issue(caller(), asked)
    assert secret.expires_at == int(NOW.timestamp()) + given
    clock.advance(given - 1)
    assert made(clock).verify(secret.value).caller() == "ann"
    clock.advance(2)
    with pytest.raises(Unauthenticated):
        made(clock).verify(secret.value)


@pytest.mark.parametrize(("behind", "taken"), [(1, True), (5, True), (7, False), (3_600, False)])
def test_a_gateway_whose_clock_is_behind_takes_it_too_unless_it_was_set_back(behind: int, taken: bool) -> None:
    secret = made().issue(caller(), 600)
    other = made(ManualClock(NOW - timedelta(seconds=behind)))
    if taken:
        assert other.verify(secret.value).caller() == "ann"
    else:
        with pytest.raises(Unauthenticated):
            other.verify(secret.value)


def test_a_call_lasts_no_longer_than_the_token_that_it_was_asked_for_with() -> None:
    ends = NOW + timedelta(seconds=30)
    secret = made().issue(caller(ends), 600)
    assert secret.expires_at == int(ends.timestamp())
    assert made().verify(secret.value).expires_at == ends
    assert made().verify(made().issue(caller(), 600).value).expires_at is None


def test_only_a_caller_gets_one() -> None:
    with pytest.raises(MissingScope):
        made().issue(Principal("qa", None, frozenset({Scope.QA})), 60)


def test_what_was_tampered_with_or_is_another_gateways_is_refused() -> None:
    value = made().issue(caller(), 60).value
    head, body, signature = value.removeprefix(PREFIX).split(".")
    forged = [f"{head}.{body}.{signature[::-1]}", f"{head}.{body}.", f"{body}.{head}.{signature}", "", "é", "a" * 9_000]
    for wrong in [*(PREFIX + one for one in forged), *forged]:
        with pytest.raises(Unauthenticated) as refused:
            made().verify(wrong)
        assert not wrong or wrong not in str(refused.value)
    with pytest.raises(Unauthenticated):
        made(key=b"x" * 32).verify(value)
