"""Redaction: canaries disappear, what engineers need stays."""

import pytest

from rules.guard import redaction_rules
from services.guard.redact import WITHHELD, Redactor, open_facts, redactor

CANARIES = [
    "Catherine Nguyen", "Sean O'Connor", "Maria de la Cruz", "佐藤 健", "サトウ ケン", "株式会社青空電力",
    "4111 1111 1111 1111", "4111111111111111", "021000021-123456789", "+1 415 555 0132", "cathy@harbour.example",
    "GB29 NWBK 6016 1331 9268 19", "$1,234.56", "fifty 50 dollars", "5,000円", "￥5000", "5000 JPY",
    "eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJhbm4ifQ.c2lnbmF0dXJl",
]  # fmt: skip


@pytest.mark.parametrize("canary", CANARIES)
def test_canaries_disappear(canary: str) -> None:
    clean = redactor()(f"could not pay {canary} today")
    digits = [part for part in canary.replace("-", " ").split() if any(c.isdigit() for c in part)]
    for part in [canary, *digits]:
        assert part not in clean
    assert clean.startswith("could not pay ")


@pytest.mark.parametrize(
    "secret",
    [
        "Authorization: Bearer abcdef123456", "password=hunter22", "x-api-key: k-123456", "'secret': 'swordfish'",
        "postgresql+asyncpg://teller:swordfish@db/tellerline",
    ],
)  # fmt: skip
def test_secrets_disappear(secret: str) -> None:
    clean = redactor()(secret)
    for part in ("abcdef123456", "hunter22", "k-123456", "swordfish"):
        assert part not in clean


@pytest.mark.parametrize(
    "message",
    [
        "the bank did not answer within 8 s", "rule intent.transfer@12 matched in 0.31 ms", "record 12 was changed",
        "listening on http://127.0.0.1:8080", "audit head 100 " + "0a" * 32, "at 2026-03-04T15:00:00.123+00:00",
        "StoreUnavailable: writing ledger.confirm: OperationalError", "call KqQS_QF7Yh39yXrs5rzxpw ended with 1000",
    ],
)  # fmt: skip
def test_what_engineers_need_stays(message: str) -> None:
    assert redactor()(message) == message


def test_long_text_is_cut_before_it_is_searched() -> None:
    assert len(redactor()("a" * 1_000_000)) == redaction_rules().max_characters


def test_patterns_stay_fast_on_hostile_text() -> None:
    hostile = ["A" + "a" * 3_999, "Aa " * 1_300, "1-" * 2_000, "a@" * 2_000, "eyJaaaa." * 500, "password " * 400]
    clean = Redactor(redaction_rules())
    for text in hostile:
        assert len(clean(text)) <= 40_000


def test_open_facts_keep_identifiers_and_withhold_the_rest() -> None:
    facts = open_facts(
        {
            "rule": "money.en@3", "ok": True, "ms": 1.5, "n": 7, "none": None, "amount": 5_000, "name": "nguyen",
            "sentence": "send it now", "kana": "サトウ", "nested": {"rule": "a@1", "Bad Key": 1, "said": "to Ken"},
            "list": ["a@1", "b c", 5_000, [[["deep"]]]], "Ignored Key": 1,
        },
        {"text": "send 5000 to Nguyen", "amounts": [5_000]},
    )  # fmt: skip
    assert facts == {
        "rule": "money.en@3", "ok": True, "ms": 1.5, "n": 7, "none": None, "amount": WITHHELD, "name": WITHHELD,
        "sentence": WITHHELD, "kana": WITHHELD, "nested": {"rule": "a@1", "said": WITHHELD},
        "list": ["a@1", WITHHELD, WITHHELD, [[WITHHELD]]],
    }  # fmt: skip
