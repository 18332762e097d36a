"""A bridge's statement opens one call of one customer, for a minute and a half, under its own key."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from joserfc import jwt
from joserfc.jwk import OctKey

from app.auth.statements import ALGORITHM, AUDIENCE, KEPT, LIFE_S, TYPE, Statements, issue
from schemas.errors import Unauthenticated
from services.guard.nonces import Nonces
from services.store import Store
from services.timing.clock import ManualClock

NOW = datetime(2026, 3, 4, 15, 0, tzinfo=UTC)
AT = int(NOW.timestamp())
KEY, OTHER = b"k" * 32, b"o" * 32
GOOD: dict[str, Any] = {"sub": "ann", "iat": AT, "exp": AT + LIFE_S, "jti": "nonce-of-this-one"}


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(NOW)


@pytest.fixture
def statements(sqlite_store: Store, clock: ManualClock) -> Statements:
    return Statements({"pbx": KEY, "other": OTHER}, Nonces(sqlite_store, KEPT), clock)


async def test_it_names_the_customer_once(statements: Statements, clock: ManualClock) -> None:
    made = issue("pbx", KEY, GOOD)
    assert await statements.take(made, "call") == "ann"
    for seconds in (0, 60, 35):
        clock.advance(seconds)
        with pytest.raises(Unauthenticated):
            await statements.take(made, "call")


async def test_it_may_be_of_one_call_alone(statements: Statements) -> None:
    made = issue("pbx", KEY, GOOD | {"call": "CA1"})
    with pytest.raises(Unauthenticated, match="another call"):
        await statements.take(made, "CA2")
    assert await statements.take(made, "CA1") == "ann"


async def test_bridges_do_not_use_up_each_others_numbers(statements: Statements) -> None:
    assert await statements.take(issue("pbx", KEY, GOOD), "call") == "ann"
    assert await statements.take(issue("other", OTHER, GOOD), "call") == "ann"


def raw(header: dict[str, Any], claims: dict[str, Any]) -> str:
    given = {"alg": ALGORITHM, "kid": "pbx", "typ": TYPE} | header
    return jwt.encode(given, {"aud": AUDIENCE} | claims, OctKey.import_key(KEY), algorithms=[ALGORITHM, "HS512"])


WRONG: dict[str, Callable[[], str]] = {
    "no statement": lambda: "x",
    "empty": lambda: "",
    "not ASCII": lambda: "é" * 30,
    "huge": lambda: "a" * 9_000,
    "another key": lambda: issue("pbx", OTHER, GOOD),
    "an unknown bridge": lambda: issue("nobody", KEY, GOOD),
    "another kind of token": lambda: raw({"typ": "JWT"}, GOOD),
    "another algorithm": lambda: raw({"alg": "HS512"}, GOOD),
    "another audience": lambda: raw({}, GOOD | {"aud": "tellerline"}),
    "over": lambda: issue("pbx", KEY, GOOD | {"iat": AT - 100, "exp": AT - 11}),
    "too long": lambda: issue("pbx", KEY, GOOD | {"exp": AT + LIFE_S + 1}),
    "to come": lambda: issue("pbx", KEY, GOOD | {"iat": AT + 60, "exp": AT + 90}),
    "nobody's": lambda: issue("pbx", KEY, GOOD | {"sub": ""}),
    "unprintable": lambda: issue("pbx", KEY, GOOD | {"sub": "a\nb"}),
    "a short number": lambda: issue("pbx", KEY, GOOD | {"jti": "x"}),
    "no number": lambda: issue("pbx", KEY, {key: value for key, value in GOOD.items() if key != "jti"}),
    "a subject that is no text": lambda: issue("pbx", KEY, GOOD | {"sub": ["ann"]}),
    "an end that is no number": lambda: issue("pbx", KEY, GOOD | {"exp": "later"}),
}


@pytest.mark.parametrize("case", WRONG)
async def test_anything_else_is_refused(statements: Statements, case: str) -> None:
    made = WRONG[case]()
    with pytest.raises(Unauthenticated) as refused:
        await statements.take(made, "call")
    assert not made or made not in refused.value.message


async def test_without_bridges_there_are_no_statements(sqlite_store: Store, clock: ManualClock) -> None:
    with pytest.raises(Unauthenticated):
        await Statements({}, Nonces(sqlite_store, KEPT), clock).take(issue("pbx", KEY, GOOD), "call")


async def test_it_is_remembered_for_longer_than_it_lives(statements: Statements, clock: ManualClock) -> None:
    made = issue("pbx", KEY, GOOD | {"iat": AT + 9, "exp": AT + 9 + LIFE_S})
    assert await statements.take(made, "call") == "ann"
    clock.advance(timedelta(seconds=9 + LIFE_S + 9).total_seconds())
    with pytest.raises(Unauthenticated):
        await statements.take(made, "call")
