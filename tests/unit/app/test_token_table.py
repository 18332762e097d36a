"""What is decided of each way to write a token, as deploy/security.md tells it: one line each."""

import math
from datetime import UTC, datetime
from typing import Any

import pytest

from schemas.errors import Unauthenticated
from tests.harness.tokens import AT, KEYS, NOW, RULES, token, verify_token

TAKEN: tuple[dict[str, Any], ...] = (
    {},
    {"header": {"typ": ...}},
    {"header": {"typ": "JWT"}},
    {"header": {"typ": "jwt"}},
    {"header": {"typ": "application/at+jwt"}},
    {"exp": AT + 60.5},
    {"iat": AT - 0.5},
    {"iat": AT + 29},
    {"nbf": AT + 29.5},
    {"aud": ["tellerline"]},
    {"aud": ["another", "tellerline"]},
    {"scope": "openid call profile"},
    {"exp": AT - 29},
)
REFUSED: tuple[dict[str, Any], ...] = (
    {"header": {"typ": "id+jwt"}},
    {"header": {"typ": "dpop+jwt"}},
    {"header": {"typ": ""}},
    {"exp": math.nan},
    {"exp": math.inf},
    {"exp": -math.inf},
    {"exp": 1e300},
    {"exp": 10**30},
    {"exp": True},
    {"exp": str(AT + 60)},
    {"exp": [AT + 60]},
    {"exp": None},
    {"exp": AT - 31},
    {"iat": math.nan},
    {"iat": True},
    {"iat": AT + 3600},
    {"iat": AT + 31},
    {"iat": -1e300},
    {"iat": None},
    {"nbf": math.nan},
    {"nbf": AT + 31},
    {"nbf": "now"},
    {"aud": []},
    {"aud": ["another"]},
    {"aud": [["tellerline"]]},
    {"aud": {"tellerline": 1}},
    {"aud": "tellerline "},
    {"iss": ["bank"]},
    {"sub": {"a": 1}},
    {"sub": "ann\u0000"},
    {"sub": "\u202eann"},
    {"scope": None},
    {"scope": {"call": 1}},
)


@pytest.mark.parametrize("changes", TAKEN, ids=str)
def test_taken(changes: dict[str, Any]) -> None:
    principal = verify_token(token(**changes), KEYS, RULES, NOW)
    assert principal.customer == "ann"
    assert principal.expires_at is not None
    assert abs((principal.expires_at - datetime.fromtimestamp(AT, UTC)).total_seconds()) < 86_400


@pytest.mark.parametrize("changes", REFUSED, ids=str)
def test_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(Unauthenticated):
        verify_token(token(**changes), KEYS, RULES, NOW)
