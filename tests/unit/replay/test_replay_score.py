"""Judging turns, money first, and the figures made of judgements."""

import numpy as np
import pytest

from app.qa.replay.comparing.policy import policy
from app.qa.replay.judging.judge import MoneyVerdict, Tally, judge
from app.qa.replay.judging.score import score
from app.qa.replay.judging.stats import calibration, percentiles, ratios
from app.qa.replay.judging.words import character_errors, comparable, word_errors
from app.qa.replay.manifests.manifest import Expectation, ExpectedSpan, MoneyMove
from app.qa.replay.records.record import CandidateRecord, ModelCall, PayeeSearchRecord, SpanRecord
from schemas.errors import NotFound
from tests.replay.samples import FIFTY, many, result, turn

MOVED = MoneyMove(amount_minor=5000, currency="USD", payee="p1")


@pytest.mark.parametrize(
    ("said", "heard", "locale", "edits", "length"),
    [
        ("Send $50, please!", "send $50 please", "en-US", 0, 3),
        ("it’s fine", "it's fine", "en-GB", 0, 2),
        ("send fifty dollars", "send fifteen dollars", "en-US", 1, 3),
        ("send fifty", "", "en-US", 2, 2),
        ("", "phantom words", "en-US", 2, 0),
        ("五千円 送って", "五千円送って", "ja-JP", 0, 6),
        ("サトウさん", "サイトウさん", "ja-JP", 1, 5),
        ("５０００円", "5000円", "ja-JP", 0, 5),
    ],
)
def test_word_errors(said: str, heard: str, locale: str, edits: int, length: int) -> None:
    found = word_errors(said, heard, locale)
    assert (found.edits, found.length) == (edits, length)


def test_character_errors_and_folding() -> None:
    assert character_errors("abc", "abd", "en-US").edits == 1
    assert comparable("  A—B ", "en-US") == "a b"


@pytest.mark.parametrize(
    ("changes", "expect", "verdict"),
    [
        ({"money": (MOVED,)}, {"money": ()}, MoneyVerdict.FALSE_ACCEPT),
        ({"money": (MOVED,)}, {"money": (MOVED,)}, MoneyVerdict.RIGHT),
        ({"money": (MOVED, MOVED)}, {"money": (MOVED,)}, MoneyVerdict.FALSE_ACCEPT),
        ({"money": (MOVED,), "owed": (MOVED,)}, {"money": ()}, MoneyVerdict.RIGHT),
        ({"money": (MOVED, MOVED), "owed": (MOVED,)}, {"money": ()}, MoneyVerdict.FALSE_ACCEPT),
        ({"money": (MOVED.model_copy(update={"payee": "p2"}),)}, {"money": (MOVED,)}, MoneyVerdict.FALSE_ACCEPT),
        ({"money": (MOVED.model_copy(update={"amount_minor": 1500}),)}, {"money": (MOVED,)}, MoneyVerdict.FALSE_ACCEPT),
        ({}, {"money": (MOVED,)}, MoneyVerdict.MISSED),
        ({"proposal": MOVED}, {"decision": "confirm", "payee": "p1"}, MoneyVerdict.RIGHT),
        ({"proposal": MOVED}, {"decision": "clarify"}, MoneyVerdict.WRONG_READ_BACK),
        ({"proposal": MOVED}, {"payee": "p2"}, MoneyVerdict.WRONG_READ_BACK),
        (
            {"proposal": MOVED},
            {"slots": {"amount": {"amount_minor": 1500, "currency": "USD"}}},
            MoneyVerdict.WRONG_READ_BACK,
        ),
    ],
)
def test_money(changes: dict[str, object], expect: dict[str, object], verdict: MoneyVerdict) -> None:
    judged = judge(turn(**changes, expect=Expectation.model_validate(expect)))
    assert judged.money is verdict
    assert judged.right is (verdict is MoneyVerdict.RIGHT)


def test_nothing_expected_is_nothing_judged() -> None:
    judged = judge(turn(money=(MOVED,)))
    assert judged.money is None
    assert judged.right is None


def test_spans_by_kind() -> None:
    money = SpanRecord(kind="money", surface="fifty dollars", start=5, end=18, value=FIFTY, rule="r@1")
    stray = SpanRecord(kind="number", surface="two", start=0, end=3, value="2", rule="r@1")
    wanted = (
        ExpectedSpan(kind="money", value={"amount_minor": 5000, "currency": None}),
        ExpectedSpan(kind="date", value="2026-01-16"),
    )
    judged = judge(turn(spans=(money, stray), expect=Expectation(spans=wanted)))
    assert judged.spans == {"money": Tally(right=1), "number": Tally(spurious=1), "date": Tally(missed=1)}


def test_slots_right_wrong_missing_and_spurious() -> None:
    wanted = {"amount": {"amount_minor": 1500, "currency": "USD"}, "payee": "p1", "date": "2026-01-16"}
    got = {"amount": FIFTY, "payee": "p1", "source": "a1"}
    judged = judge(turn(slots=got, expect=Expectation(slots=wanted)))
    assert judged.slots["amount"] == Tally(spurious=1, missed=1)
    assert judged.slots["payee"] == Tally(right=1)
    assert judged.slots["date"] == Tally(missed=1)
    assert judged.slots["source"] == Tally(spurious=1)
    assert judged.right is False


def match(*ids: str, choice: str | None) -> PayeeSearchRecord:
    candidates = tuple(CandidateRecord(id=i, name=i, score=0.9 - 0.1 * n) for n, i in enumerate(ids))
    return PayeeSearchRecord(heard="x", start=0, end=1, candidates=candidates, outcome="ask", choice=choice)


@pytest.mark.parametrize(
    ("found", "rank", "right"),
    [
        (match("p1", "p2", choice="p1"), 1, True),
        (match("p2", "p1", choice=None), 2, True),
        (match("p2", "p1", choice="p2"), 2, False),
        (match("p2", choice=None), 0, False),
    ],
)
def test_payees(found: PayeeSearchRecord, rank: int, right: bool) -> None:
    judged = judge(turn(payee=found, expect=Expectation(payee="p1")))
    assert (judged.payee_rank, judged.payee_choice) == (rank, right)


def test_scores_of_a_run() -> None:
    said = "send fifty dollars to catherine"
    good = turn(
        case="a", audio="a.wav", expect=Expectation(transcript=said, intent="transfer_money", decision="confirm")
    )
    bad = turn(
        case="b", audio="b.wav", heard="send fifteen dollars", intent="deny", route="extract", money=(MOVED,),
        expect=Expectation(transcript=said, intent="transfer_money"), models=(ModelCall(purpose="extract", model="m"),),
    )  # fmt: skip
    found = score([result(good), result(bad)])
    value = {name: ratio.value for name, ratio in found.ratios.items()}
    assert found.ratios["money_false_accepts"].right == 1
    assert value["wer"] == pytest.approx(3 / 10)
    assert value["intent_match"] == 0.5
    assert value["gpu_calls_avoided"] == 0.5
    assert (value["route_share_fast"], value["route_share_extract"]) == (0.5, 0.5)
    assert found.confusion == {"transfer_money": {"deny": 1, "transfer_money": 1}}
    assert found.latency["asr"].p50_ms == 20.0
    assert (found.cases, found.turns, found.audio_s) == (2, 2, 5.0)


def test_scores_are_the_same_every_time() -> None:
    run = many(60)
    assert score(run.results) == score(run.results)


def test_intervals_hold_the_value_and_shrink() -> None:
    small = ratios([{"x": (float(i % 4 == 0), 1.0)} for i in range(40)])["x"]
    large = ratios([{"x": (float(i % 4 == 0), 1.0)} for i in range(4_000)])["x"]
    for found in (small, large):
        assert found.value == 0.25
        assert found.low is not None
        assert found.high is not None
        assert found.low < 0.25 < found.high
    assert large.high is not None
    assert small.high is not None
    assert large.high - 0.25 < (small.high - 0.25) / 5
    # the normal approximation of the interval's half width
    assert large.high - 0.25 == pytest.approx(1.96 * np.sqrt(0.25 * 0.75 / 4_000), rel=0.15)


def test_calls_are_resampled_whole() -> None:
    """Ten turns of one call say no more than one turn: the interval is that of the calls."""
    by_call = ratios([{"x": (10.0 * (i % 2), 10.0)} for i in range(20)])["x"]
    by_turn = ratios([{"x": (float(i % 2), 1.0)} for i in range(20)])["x"]
    assert (by_call.low, by_call.high) == (by_turn.low, by_turn.high)


def test_calibration_of_honest_and_boastful_scores() -> None:
    honest = calibration([(0.75, i % 4 != 0) for i in range(400)])
    boastful = calibration([(0.99, i % 2 == 0) for i in range(400)])
    assert honest.error == pytest.approx(0.0, abs=1e-9)
    assert boastful.error == pytest.approx(0.49)
    assert calibration([]).error is None


def test_percentiles_of_nothing() -> None:
    assert percentiles([], (50,)) == {}
    assert percentiles([1.0, 3.0], (50,)) == {50: 2.0}


def test_a_policy_that_does_not_exist() -> None:
    with pytest.raises(NotFound, match="one of"):
        policy("none")
