"""An order that is read back has its long amount said once more, in digits: only in sound, at one place in the text."""

import re
from datetime import datetime
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from schemas.decision import Reply, ReplyParam
from schemas.ids import Locale, RuleId
from schemas.money import Money
from schemas.span import MoneyValue
from services.normalization import Normalizer
from services.response.phrases import BLANK, outlines, speak
from services.speech.clauses import clauses
from services.speech.text import again, spoken

JA = Locale("ja-JP")
REPLIES = Path(__file__).parents[3] / "rules/replies/ja/replies.yaml"
READ_BACKS = ("confirm.transfer", "confirm.doubted", "confirm.own", "confirm.bill")
TOLD = ("balance.one", "bill.due", "bill.due_minimum")
SENTENCE = "中村様へ、{}を本日お振り込みします。"
LONG = ["91,223円", "70,170円", "608,218円", "12,345,678円"]
PLAIN = ["50,000円", "120,000円", "125,000円", "98,700円", "9,870円", "20ドル"]


def read_back(id_: str, minor: int) -> str:
    """An order of so many yen as it is read back."""
    named = Reply(RuleId("name.payee"), {"name": "ナカムラ"})
    given: dict[str, ReplyParam] = {"payee": named, "amount": Money(minor, "JPY"), "when": "本日", "source": "普通預金"}
    given |= {"target": "貯蓄預金", "bill": "電気料金"}
    wanted = re.findall("{([a-z]+)", _template(id_))
    return speak(Reply(RuleId(id_), {name: given[name] for name in wanted}), JA)


def _template(id_: str) -> str:
    return str(yaml.safe_load(REPLIES.read_text("utf-8"))["templates"][id_])


@pytest.mark.parametrize("id_", READ_BACKS)
def test_a_read_back_says_its_amount_again(id_: str) -> None:
    said = [clause.words for clause in clauses(read_back(id_, 91_223), JA)]
    assert "金額は、数字で、キュウ、イチ。ニー、ニー、サン エンです。" in said
    assert "よろしいですか" in said[-1] or "おっしゃってください" in said[-1], "the question comes last"


def test_nothing_else_does() -> None:
    for id_, outline in outlines("ja").items():
        if id_ not in READ_BACKS and id_ not in TOLD:
            assert not again(outline.replace(BLANK, "91,223円"), JA), id_


def test_a_balance_and_a_bill_say_theirs_again_and_never_two() -> None:
    given = {"account": "普通預金", "bill": "電気料金"} | dict.fromkeys(("amount", "due", "minimum"), "608,218円")
    said = {id_: again(_template(id_).format(date="10月4日", **given), JA) for id_ in TOLD}
    once_more = "金額は、数字で、ロク、ゼロ、ハチ。ニー、イチ、ハチ エンです。"
    assert said == dict.fromkeys(TOLD[:2], once_more) | {TOLD[2]: ""}


@pytest.mark.parametrize("amount", LONG)
def test_figures_that_are_easily_lost_are_said_again(amount: str) -> None:
    (said,) = re.findall("数字で、(.*)です。", again(SENTENCE.format(amount), JA))
    assert len(re.split("[ 、。]", said)) == sum(map(str.isdigit, amount)) + 1


@pytest.mark.parametrize("amount", PLAIN)
def test_short_and_round_amounts_are_said_once(amount: str) -> None:
    assert again(SENTENCE.format(amount), JA) == ""


def test_what_is_shown_and_what_a_bridges_own_voice_is_given_stay_as_they_are() -> None:
    assert "数字" not in spoken(SENTENCE.format("91,223円"), JA)


@given(st.integers(1, 10**9), st.sampled_from(READ_BACKS))
def test_places_in_the_text_never_go_back_and_end_with_it(amount: int, id_: str) -> None:
    text = read_back(id_, amount)
    ends = [clause.end for clause in clauses(text, JA)]
    assert ends == sorted(ends)
    assert ends[-1] == len(text)
    assert [clause.end for clause in clauses(text, JA) if "数字" in clause.words] in ([], [text.index("。") + 1])


@given(st.integers(10_000, 10**9))
def test_it_is_the_amount_that_was_written(amount: int) -> None:
    said = again(SENTENCE.format(f"{amount:,}円"), JA)
    if said:
        words = said.removeprefix("金額は、数字で、").removesuffix("です。").replace("エン", "円")
        words = re.sub("[ 、。]", "", words)
        digits = {
            "ゼロ": "0",
            "イチ": "1",
            "ニー": "2",
            "サン": "3",
            "ヨン": "4",
            "ゴー": "5",
            "ロク": "6",
            "ナナ": "7",
            "ハチ": "8",
        }
        for kana, figure in (digits | {"キュウ": "9"}).items():
            words = words.replace(kana, figure)
        assert words == f"{amount}円"


def test_both_readings_are_one_value_by_our_own_rules() -> None:
    heard = "9万1223円を本日お振り込みします。金額は数字で91223円です。"
    spans = Normalizer.for_locale(JA).normalize(heard, now=datetime(2026, 1, 1, 12), currencies=("JPY",))  # noqa: DTZ001 - a caller's local moment
    assert {span.value for span in spans if isinstance(span.value, MoneyValue)} == {MoneyValue(91_223, "JPY")}
