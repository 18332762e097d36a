"""What is compared by what it is: amounts in their currencies, sizes of movements, names by all their letters."""

from datetime import date

import pytest

from schemas.banking import PayeeVerification, Transaction, TransactionFilter
from schemas.ids import AccountId
from schemas.money import Money
from schemas.span import MoneyValue
from services.banking.banks.directory import compare_names

MATCH, UNAVAILABLE = PayeeVerification.MATCH, PayeeVerification.UNAVAILABLE


@pytest.mark.parametrize(
    ("said", "currency", "digits", "minor"),
    [
        (5000, "JPY", 2, 50),
        (5075, "JPY", 2, None),
        (20, "USD", 0, 2000),
        (5000, "KWD", 2, 50_000),
        (99, "JPY", 2, None),
    ],
)
def test_an_amount_is_taken_by_its_currency(said: int, currency: str, digits: int, minor: int | None) -> None:
    assert MoneyValue(said, None).within(currency, digits) == (None if minor is None else MoneyValue(minor, currency))


def test_amounts_agree_by_what_they_are() -> None:
    yen, bare = MoneyValue(5000, "JPY"), MoneyValue(5000, None)
    assert not yen.agrees_with(bare, 2)
    assert yen.agrees_with(MoneyValue(500_000, None), 2)
    assert yen.agrees_with(bare, 0)
    assert not yen.agrees_with(MoneyValue(5000, "USD"), 2)


@pytest.mark.parametrize(
    ("moved", "fits"), [(Money(-6000, "JPY"), False), (Money(-5000, "KWD"), False), (Money(-5000, "USD"), True)]
)
def test_sizes_are_of_one_currency(moved: Money, fits: bool) -> None:
    row = Transaction("1", AccountId("a"), date(2026, 1, 1), moved, "x")
    assert TransactionFilter(at_least=(Money(5000, "USD"),)).fits(row) is fits
    assert TransactionFilter(at_most=(Money(5000, "USD"),)).fits(row) is fits


@pytest.mark.parametrize(
    ("name", "holder", "same"),
    [
        ("मीना", "मना", False),
        ("มานี", "มานะ", False),
        ("コ゛トウ", "コトウ", False),
        ("髙橋", "高橋", True),
        ("渡邉", "渡辺", True),
        ("葛󠄀城", "葛城", True),
        ("שָׁלוֹם", "שלום", True),
        ("دَانَا", "دانا", True),
        ("Smith Ltd.", "Smith (Ltd)", True),
        ("Unit 1", "Unit Ⅱ", False),
    ],
)
def test_names_are_compared_by_all_their_letters(name: str, holder: str, same: bool) -> None:
    assert (compare_names(name, holder) is MATCH) is same


@pytest.mark.parametrize(("name", "holder"), [("♥", "★"), ("Ann", "…"), ("♥", "Ann"), ("Ann", None)])
def test_where_nothing_is_left_nothing_was_compared(name: str, holder: str | None) -> None:
    assert compare_names(name, holder) is UNAVAILABLE
