"""What counts as a fact, and which sentences state one that their passage does not hold."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.answering.facts import facts_of

EN, JA = facts_of("en"), facts_of("ja")
FEES = "An international transfer costs 30 dollars in the app and 40 dollars at a branch. It is free on Sundays."
HOURS = "窓口の営業時間は平日の午前9時から午後3時までです。硬貨の入金は100枚まで無料です。手数料は1万5千円です。"


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("it costs $30", ("30", "dollar")),
        ("thirty dollars", ("30", "dollar")),
        ("one hundred and five days", ("105", "day")),
        ("twenty-five dollars", ("25", "dollar")),
        ("two thousand five hundred dollars", ("2500", "dollar")),
        ("1.5 million dollars", ("1500000", "dollar")),
        ("2.50 percent", ("2.5", "percent")),
        ("2.5%", ("2.5", "percent")),
        ("at 9 a.m. sharp", ("9", "am")),
        ("within ten business days", ("10", "business day")),
        ("in the first year", ("1", "year")),
        ("on Mondays", ("monday", "")),
        ("there is no fee", ("free", "")),
        ("10,000 dollars", ("10000", "dollar")),
        ("half", ("0.5", "")),
    ],
)
def test_english_facts(text: str, fact: tuple[str, str]) -> None:
    assert fact in EN.of(text)


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("1万5千円です", ("15000", "円")),
        ("１，０００円", ("1000", "円")),
        ("三千五百円", ("3500", "円")),
        ("二百五十万円", ("2500000", "円")),
        ("午前9時", ("9", "午前時")),
        ("午後三時", ("3", "午後時")),
        ("3営業日", ("3", "営業日")),
        ("年4.5パーセント", ("4.5", "パーセント")),
        ("4.5％", ("4.5", "パーセント")),
        ("木曜日のみ", ("木曜日", "")),
        ("費用はかかりません", ("無料", "")),
    ],
)
def test_japanese_facts(text: str, fact: tuple[str, str]) -> None:
    assert fact in JA.of(text)


@pytest.mark.parametrize(
    "sentence",
    ["It costs thirty dollars in the app.", "At a branch you pay $40.", "One of our fees.", "It is free on Sunday."],
)
def test_what_the_passage_holds_may_be_said(sentence: str) -> None:
    assert not EN.unstated(sentence, FEES)


@pytest.mark.parametrize(
    "sentence",
    [
        "It costs 35 dollars.",
        "It costs 30 percent.",
        "It takes 40 days.",
        "It costs thirty-one dollars.",
        "It is free on Mondays.",
        "It is guaranteed.",
        "It costs 0.5 dollars.",
        "It costs 70 dollars in total.",
        "It costs a hundred dollars.",
        "It costs a couple of dollars.",
        "It costs 30k dollars.",
        "It costs 30 euros.",
        "It costs £30.",
        "It costs ten-percent more.",
        "It costs thousands.",
        "It costs two-fold.",
        "A branch charges 九十.",
        "It is done by midnight.",
    ],
)
def test_what_it_does_not_hold_may_not(sentence: str) -> None:
    assert EN.unstated(sentence, FEES)


def test_free_needs_a_passage_that_says_so() -> None:
    assert EN.unstated("Withdrawing is free.", "Withdrawing costs 3 dollars.")
    assert JA.unstated("手数料は無料です。", "手数料は110円です。")


@pytest.mark.parametrize("sentence", ["窓口は午前9時からです。", "100枚まで無料です。", "手数料は15,000円です。"])
def test_japanese_sentences_that_hold(sentence: str) -> None:
    assert not JA.unstated(sentence, HOURS)


@pytest.mark.parametrize(
    "sentence",
    [
        "窓口は午後9時までです。",
        "100円です。",
        "土曜日は休み。",
        "手数料は1万円。",
        "手数料は100ドルです。",
        "手数料は数千円です。",
        "手数料は半額です。",
        "手数料はゼロです。",
        "手数料は ninety です。",
    ],
)
def test_japanese_sentences_that_do_not(sentence: str) -> None:
    assert JA.unstated(sentence, HOURS)


@given(st.text(max_size=300))
def test_any_text_can_be_read(text: str) -> None:
    for facts in (EN, JA):
        assert not facts.unstated(text, text)


@given(st.integers(min_value=0, max_value=10**9))
def test_a_number_is_its_digits_however_they_are_grouped(number: int) -> None:
    assert EN.of(f"{number:,} dollars") == EN.of(f"{number} dollars") == {(str(number), "dollar")}
    assert JA.of(f"{number:,}円") == {(str(number), "円")}
