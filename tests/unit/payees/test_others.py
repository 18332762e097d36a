"""Somebody else's relation is nobody of the caller's."""

import pytest

from schemas.ids import JA_JP, PayeeId
from schemas.payee import MatchOutcome, Payee
from services.payees import PayeeIndex

BOOK = (
    Payee(PayeeId("mother"), "高橋 和子", kana="タカハシ カズコ", relationship="母"),
    Payee(PayeeId("brother"), "渡辺 大輔", kana="ワタナベ ダイスケ", relationship="弟"),
    Payee(PayeeId("hanako"), "佐藤 花子", kana="サトウ ハナコ", relationship="妹"),
    Payee(PayeeId("friend"), "佐藤 健", kana="サトウ ケン", relationship="友人"),
    Payee(PayeeId("landlord"), "田中 一郎", kana="タナカ イチロウ", relationship="大家", aliases=("大家さん",)),
    Payee(PayeeId("aunt"), "中村 さくら", kana="ナカムラ サクラ", relationship="母の友達"),
)


@pytest.fixture(scope="module")
def index() -> PayeeIndex:
    return PayeeIndex.build(BOOK)


@pytest.mark.parametrize(
    "whom",
    [
        *("妹の弟", "弟の友達", "妹の大家さん", "大家さんの奥さん", "田中さんの弟", "鈴木さんとこの弟", "お母さんの弟"),
        *("友達の妹の花子", "母の友人の佐藤健", "先輩の弟", "隣の妹さん", "主人の母", "義理の弟", "うちの妹の弟"),
    ],
)
def test_whoever_is_somebody_elses_is_asked_about(index: PayeeIndex, whom: str) -> None:
    for said in (f"{whom}に五千円送って", f"{whom}に五千円", f"五千円を{whom}へお願いします"):
        match = index.find((said,), JA_JP)
        assert match is not None, said
        assert match.outcome is MatchOutcome.NOBODY, said
        assert whom.removeprefix("うちの").removesuffix("さん") in match.heard, said
    named = index.lookup((whom,), JA_JP)
    assert named is None or named.choice is None


@pytest.mark.parametrize(
    ("said", "payee"),
    [
        ("妹の花子に五千円送って", "hanako"),
        ("うちの弟に五千円送って", "brother"),
        ("実家の母に五千円送って", "mother"),
        ("会社の友達に五千円送って", "friend"),
        ("妹のために母に五千円送って", "mother"),
        ("母の口座に五千円送って", "mother"),
        ("母の友達に五千円送って", "aunt"),
    ],
)
def test_ones_own_are_found(index: PayeeIndex, said: str, payee: str) -> None:
    match = index.find((said,), JA_JP)
    assert match is not None
    assert match.choice == payee
