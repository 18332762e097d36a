"""Names found in utterances. Each row: what was heard (best first), the span, the outcome, the payees best first."""

import pytest

from schemas.ids import EN_US, JA_JP
from schemas.payee import MatchOutcome
from services.payees import PayeeIndex

CLEAR, ASK, NOBODY = MatchOutcome.CLEAR, MatchOutcome.ASK, MatchOutcome.NOBODY

ENGLISH = [
    (["pay john smith twenty dollars"], "john smith", CLEAR, ["smith"]),
    (["Pay John Smith $20, please."], "John Smith", CLEAR, ["smith"]),
    (["send fifty to she von murphy", "send fifty to siobhan murphy"], "she von murphy", CLEAR, ["siobhan"]),
    (["send kate jones fifty"], "kate jones", ASK, ["cath"]),
    (["pay thames water forty"], "thames water", CLEAR, ["thames"]),
    (["pay thames water limited forty pounds"], None, CLEAR, ["thames"]),
    (["send fifty to my landlord"], "my landlord", ASK, ["smith", "ono"]),
    (["send fifty to mom tomorrow"], "mom", CLEAR, ["maria"]),
    (["send fifty to anna lee"], "anna lee", ASK, ["lee1", "lee2"]),
    (["send fifty to n as in november g u"], "n as in november g u", ASK, ["sean"]),
    (["send fifty to barack obama"], "barack obama", NOBODY, None),
    (["send fifty to sato ken"], "sato ken", CLEAR, ["sato"]),
    (["send fifty to shawn"], "shawn", ASK, ["sean"]),
    (["send twenty to kate"], "kate", ASK, ["cath"]),
    (["send fifty to my friend shawn win tomorrow"], "shawn win", CLEAR, ["sean"]),
    (["i want to pay my landlord john five hundred"], "john", None, ["smith"]),
    (["send fifty to ken satoh"], "ken satoh", None, ["sato"]),
]
JAPANESE = [
    (["サトウケンさんに五千円振り込んで"], "サトウケン", CLEAR, ["sato"]),
    (["佐藤健さんに千円"], "佐藤健", CLEAR, ["sato"]),
    (["サイトウケンに送って"], "サイトウケン", CLEAR, ["saito"]),
    (["ｻﾄｳ ｹﾝさんに千円"], "ｻﾄｳ ｹﾝ", CLEAR, ["sato"]),
    (["さとうけんさんに千円"], "さとうけん", CLEAR, ["sato"]),
    (["高崎桜様に千円"], "高崎桜", CLEAR, ["takasaki"]),
    (["ケンさんに千円"], "ケン", ASK, ["sato", "saito"]),
    (["山田商店に三万円送って"], "山田商店", CLEAR, ["yamada"]),
    (["㈱山田商店に三万円送って"], "㈱山田商店", CLEAR, ["yamada"]),
    (["ヤマダ商店に三万円送って"], "ヤマダ商店", CLEAR, ["yamada"]),
    (["サトウさんじゃなくてサイトウさんに千円"], "サイトウ", CLEAR, ["saito"]),
    (["オノさんに千円"], "オノ", ASK, ["ono"]),
    (["鈴木さんに千円"], "鈴木", NOBODY, None),
    (["佐藤のサ、いろはのイ"], "佐藤のサ、いろはのイ", ASK, ["saito"]),
    (["サトウのサ、トマトのト、ウサギのウ"], None, CLEAR, ["sato"]),
]


@pytest.mark.parametrize(("heard", "span", "outcome", "payees"), ENGLISH)
def test_english(book: PayeeIndex, heard, span, outcome, payees):
    check(book.find(heard, EN_US), heard[0], span, outcome, payees)


@pytest.mark.parametrize(("heard", "span", "outcome", "payees"), JAPANESE)
def test_japanese(book: PayeeIndex, heard, span, outcome, payees):
    check(book.find(heard, JA_JP), heard[0], span, outcome, payees)


def check(match, text, span, outcome, payees):
    assert match is not None
    assert text[match.start : match.end] == match.heard
    assert span is None or match.heard == span
    assert outcome is None or match.outcome is outcome
    if payees:
        assert [c.id for c in match.candidates[: len(payees)]] == payees
    assert (match.choice is not None) == (match.outcome is CLEAR)
    assert 0 <= match.plausible <= 3
    assert len(match.candidates) <= 5


@pytest.mark.parametrize(
    ("text", "locale"),
    [
        ("what's my balance", EN_US),
        ("i want to send money", EN_US),
        ("how do i transfer money to another bank", EN_US),
        ("pay my electricity bill", EN_US),
        ("transfer fifty from checking to savings", EN_US),
        ("block my card", EN_US),
        ("残高を教えて", JA_JP),
        ("カードを止めて", JA_JP),
        ("振込をしたい", JA_JP),
        ("", EN_US),
    ],
)
def test_no_name_is_none(book: PayeeIndex, text, locale):
    assert book.find([text], locale) is None


def test_taken_ranges_are_never_names(book: PayeeIndex):
    text = "send john smith to john smith"
    match = book.find([text], EN_US, taken=[(5, 15)])
    assert match is not None
    assert match.start == 19
