"""Who is told apart by more than a name; in a book of ten thousand only those are looked at who may be meant."""

import cProfile
import pstats
from dataclasses import replace

import pytest

from schemas.ids import EN_US, JA_JP, Locale, PayeeId
from schemas.payee import Payee
from services.dialogue.names import payee_told_apart
from services.dialogue.rules import dialogue_rules
from tests.harness.dialogue import FACTS

MOST_CALLS = 3_000


def payee(number: int, name: str, kana: str = "") -> Payee:
    return Payee(PayeeId(str(number)), name, kana=kana, relationship="", bank=f"bank {number}", account_last4="0000")


@pytest.mark.parametrize(
    ("locale", "one", "other", "alike"),
    [
        (EN_US, ("John Porter", ""), ("John Porter", ""), True),
        (EN_US, ("John Porter", ""), ("Jon Porter", ""), True),
        (EN_US, ("Sean Doyle", ""), ("Shawn Doyle", ""), True),
        (EN_US, ("Stephen Clarke", ""), ("Steven Clark", ""), True),
        (EN_US, ("Anna Lee", ""), ("Hanna Lee", ""), True),
        (EN_US, ("Aidan Ward", ""), ("Eiden Ward", ""), True),
        (EN_US, ("Catherine Nguyen", ""), ("Katherine Newman", ""), False),
        (JA_JP, ("大野", "オオノ"), ("小野", "オノ"), True),
        (JA_JP, ("後藤", "ゴトウ"), ("古藤", "コトウ"), True),
        (JA_JP, ("馬場", "ババ"), ("幅", "ハバ"), True),
        (JA_JP, ("佐藤", "サトウ"), ("斉藤", "サイトウ"), False),
        (JA_JP, ("伊東", "イトウ"), ("東", "トウ"), False),
    ],
)
def test_namesakes(locale: Locale, one: tuple[str, str], other: tuple[str, str], alike: bool) -> None:
    crowd = [
        payee(number, f"{chr(0x4E00 + number)}", chr(0x30A2 + number % 80) + "ン" * (1 + number % 7))
        for number in range(9_990)
    ]
    both = [payee(10_000, *one), payee(10_001, *other)]
    facts = replace(FACTS, payees={each.id: each for each in (*crowd, *both)}, locale=locale)
    dialogue_rules().heard("warm")
    work = cProfile.Profile()
    said = [work.runcall(payee_told_apart, facts, each.id) for each in both]
    assert [each.id != "name.payee" for each in said] == [alike, alike]
    assert pstats.Stats(work).total_calls < MOST_CALLS  # type: ignore[attr-defined] # typeshed lacks it
