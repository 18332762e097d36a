"""Two runs compared value by value: what was right and is wrong is told whatever else was wrong, and by which rule."""

import pytest

from app.qa.replay.comparing.compare_scores import Moved
from app.qa.replay.comparing.diff import FailOn, RunDiff, compare
from app.qa.replay.comparing.history import P95, noted_run
from app.qa.replay.comparing.turn_diff import Change
from app.qa.replay.judging.judge import MoneyVerdict, money_verdict
from app.qa.replay.judging.score import score
from app.qa.replay.judging.stats import clopper_pearson, mcnemar, paired, ratios
from app.qa.replay.manifests.manifest import Expectation, MoneyMove
from app.qa.replay.records.journal import Run
from app.qa.replay.records.record import SpanRecord, Stage, TurnRecord, TurnResult
from app.qa.replay.report.charts import curves
from app.qa.replay.report.junit import junit
from app.qa.replay.report.markdown import markdown
from schemas.errors import WrongState
from tests.replay.samples import FIFTY, HEAD, result, run, turn

FIFTEEN = {"amount_minor": 1500, "currency": "USD"}
WANTED = Expectation(transcript="x", intent="transfer_money", slots={"amount": FIFTY, "payee": "p1"})
EXPECTED = Expectation(transcript="send it", decision="confirm", intent="deny")
EVERY = tuple(FailOn)


def one(before: TurnRecord, after: TurnRecord) -> RunDiff:
    return compare(run(before), run(after))


def span(rule: str, value: object = FIFTY) -> SpanRecord:
    return SpanRecord(kind="money", surface="fifty dollars", start=5, end=18, value=value, rule=rule)


def test_an_amount_that_is_wrong_now_fails_money_whatever_else_was_wrong() -> None:
    before = turn(slots={"amount": FIFTY, "payee": "p2"}, spans=(span("money.en@3"),), expect=WANTED)
    after = before.model_copy(
        update={"slots": {"amount": FIFTEEN, "payee": "p2"}, "spans": (span("numbers.en@4", FIFTEEN),)}
    )
    compared = one(before, after)
    (found,) = compared.findings((FailOn.MONEY,))
    assert "slot amount: 50.00 USD → 15.00 USD (was right)" in found.says
    assert "numbers.en@4" in found.says
    assert "span 1" in found.says
    assert compared.turns[0].rules_before == ("money.en@3",)
    assert compared.turns[0].rules_after == ("numbers.en@4",)
    assert compared.turns[0].change is Change.WORSE


def test_names_and_currencies_that_are_said_otherwise_are_told_and_other_words_around_them_are_not() -> None:
    before = turn(spoken="I'll send 45 pounds to Emily.", told=("45 pounds", "Emily"), reply="confirm.transfer")
    for told in (("45 dollars", "Emily"), ("Emily",), ("45 pounds", "Emil")):
        compared = one(before, before.model_copy(update={"spoken": "I'll send 45.", "told": told}))
        assert "values said" in compared.findings((FailOn.MONEY,))[0].says
    reworded = one(before, before.model_copy(update={"spoken": "To Emily I'll send 45 pounds."}))
    assert reworded.turns[0].change is Change.SAME


def test_a_call_that_is_in_another_language_now_is_told() -> None:
    before = turn(locale="en-GB", expect=WANTED)
    (found,) = one(before, before.model_copy(update={"locale": "en-US"})).findings((FailOn.LABELS,))
    assert found.turns[0].relabelled
    assert [str(change) for change in found.turns[0].fields] == ["locale: en-GB → en-US"]


def test_a_bank_that_does_something_else_than_before_is_told() -> None:
    before = turn(effects={"card-1 locked": 1})
    compared = one(before, before.model_copy(update={"effects": {}}))
    assert "changed at the bank: card-1 locked +1 → none" in compared.findings((FailOn.MONEY,))[0].says


def test_a_warning_that_is_left_out_of_a_read_back_is_told() -> None:
    before = turn(doubts=("warn.no_match",), proposal=MoneyMove(amount_minor=5000, currency="USD", payee="p1"))
    compared = one(before, before.model_copy(update={"doubts": ()}))
    assert "doubts said: warn.no_match → none" in compared.findings((FailOn.MONEY,))[0].says


@pytest.mark.parametrize(("effects", "right"), [({"a USD": -5000}, True), ({"a USD": -5001}, False), ({}, True)])
def test_more_money_that_leaves_than_was_booked_is_a_false_accept(effects: dict[str, int], right: bool) -> None:
    move = MoneyMove(amount_minor=5000, currency="USD", payee="p1", source="a")
    booked = turn(money=(move,), effects=effects, expect=Expectation(money=(move,)))
    assert (money_verdict(booked, booked.expect or Expectation()) is MoneyVerdict.RIGHT) is right


@pytest.mark.parametrize(
    "label",
    [
        Expectation(transcript="send it", decision=("confirm", "answer"), intent="deny"),
        Expectation(transcript="send it", decision="confirm"),
        Expectation(transcript="send it now", decision="confirm", intent="deny"),
    ],
)
def test_a_label_that_demands_less_or_that_other_words_were_said_is_told(label: Expectation) -> None:
    before = turn(audio="a.wav", heard="send it", expect=EXPECTED)
    assert one(before, before.model_copy(update={"expect": label})).findings((FailOn.LABELS,))
    more = Expectation(transcript="Send it.", decision="confirm", intent="deny", route="fast")
    assert not one(before, before.model_copy(update={"expect": more})).findings((FailOn.LABELS,))


def test_a_slot_that_is_lost_is_a_regression_but_not_money() -> None:
    before = turn(slots={"amount": FIFTY, "payee": "p2"}, expect=WANTED)
    compared = one(before, before.model_copy(update={"slots": {"payee": "p2"}}))
    assert not compared.findings((FailOn.MONEY,))
    assert compared.findings((FailOn.REGRESSION,))


def test_money_that_nobody_judges_and_that_differs_is_told() -> None:
    before = turn(spoken="Your balance is 1,500 dollars.", intent="balance_inquiry", reply="say.balance", slots={})
    compared = one(before, before.model_copy(update={"spoken": "Your balance is 150 dollars."}))
    assert "values said: 1500 → 150" in compared.findings((FailOn.MONEY,))[0].says
    reworded = one(before, before.model_copy(update={"spoken": "You have 1,500 dollars."}))
    assert reworded.turns[0].change is Change.SAME


def test_a_turn_that_fails_now_is_a_regression_with_its_reason() -> None:
    after = turn(error="not_found", reason="no such file: a.wav", played=False, decision="", slots={})
    assert "no such file: a.wav" in one(turn(), after).findings((FailOn.REGRESSION,))[0].says


def test_a_label_that_makes_a_turn_wrong_or_takes_its_judgement_away_is_told() -> None:
    right = turn(expect=Expectation(decision="confirm"))
    wrong, silent = Expectation(decision="clarify"), Expectation(transcript="x")
    for label in (wrong, silent, None):
        compared = one(right, right.model_copy(update={"expect": label}))
        assert compared.turns[0].change is Change.SAME
        assert compared.findings((FailOn.LABELS,)), label
    first = one(turn(), turn(expect=Expectation(decision="confirm")))
    assert not first.findings((FailOn.LABELS,)), "a first label hides nothing"


def test_runs_without_a_turn_in_common_are_refused() -> None:
    with pytest.raises(WrongState):
        compare(run(turn(case="a")), run(turn(case="b")))


def heard(case: int, words: str) -> TurnRecord:
    expect = Expectation(transcript="one of these days i will call", decision="confirm")
    return turn(case=f"c{case:03}", audio="a.wav", heard=words, expect=expect)


def scores(compared: RunDiff) -> dict[str, Moved]:
    return {score.name: score for score in compared.scores}


def test_words_misheard_more_often_than_by_chance_are_a_regression() -> None:
    before = [heard(i, "one of these days i will call") for i in range(40)]
    after = [
        heard(i, "one of those days i will call" if i % 4 == 0 else "one of these days i will call") for i in range(40)
    ]
    compared = compare(run(*before), run(*after))
    assert compared.counts["worse"] == 0
    (found,) = compared.findings((FailOn.REGRESSION,))
    assert "wer_normalized" in found.says
    assert "real" in found.says
    assert scores(compared)["right"].says == "no change"
    few = [heard(i, "one of those days i will call" if i == 0 else "one of these days i will call") for i in range(40)]
    compared = compare(run(*before), run(*few))
    assert "noise" in scores(compared)["wer_normalized"].says
    assert not compared.findings((FailOn.REGRESSION,))


def test_turns_are_tested_by_mcnemar() -> None:
    before = [heard(i, "x") for i in range(30)]
    after = [record.model_copy(update={"decision": "clarify"}) if i < 16 else record for i, record in enumerate(before)]
    right = scores(compare(run(*before), run(*after)))["right"]
    assert right.p == pytest.approx(2 / 2**16)
    assert "McNemar" in right.says
    assert mcnemar(3, 1) == pytest.approx(0.625)
    assert mcnemar(0, 0) == 1.0


def timed(ms: dict[str, float], turns: int = 60) -> Run:
    stages = tuple(Stage(name=name, start_ms=0, ms=value) for name, value in ms.items())
    found: list[TurnResult] = []
    for i in range(turns):
        plain = result(turn(case=f"c{i:03}"))
        found.append(
            plain.model_copy(
                update={"timing": plain.timing.model_copy(update={"stages": stages, "total_ms": sum(ms.values()) + 1})}
            )
        )
    return Run(HEAD, tuple(found))


def test_a_slower_stage_is_told_and_a_slower_machine_is_not() -> None:
    quick = {"asr": 20.0, "normalization": 1.0, "understanding": 2.0, "fuzzy_lookup": 1.5}
    slow = compare(timed(quick), timed(quick | {"normalization": 31.0}))
    (found,) = slow.findings((FailOn.SLOWER,))
    assert "stage normalization takes 31.0 ms, 1.0 before" in found.says
    loaded = compare(timed(quick), timed({name: 6 * ms for name, ms in quick.items()}))
    assert not loaded.findings((FailOn.SLOWER,))


def test_runs_that_took_an_earlier_ones_transcripts_are_not_as_fast_and_not_called_so() -> None:
    quick = {"asr": 20.0, "normalization": 1.0}
    measured, kept = timed(quick), timed({"normalization": 1.0})
    unheard = [r.timing.model_copy(update={"total_ms": None, "kept": True}) for r in kept.results]
    kept = Run(HEAD, tuple(TurnResult(record=r.record, timing=t) for r, t in zip(kept.results, unheard, strict=True)))
    for before, after, count in ((measured, kept, 60), (kept, measured, 60), (kept, kept, 120)):
        (found,) = compare(before, after).findings((FailOn.SLOWER,))
        assert found.says.startswith(f"{count} recordings of the two runs were heard by earlier ones, not timed")
    assert not compare(kept, kept).findings((FailOn.MONEY, FailOn.REGRESSION, FailOn.MISSING))
    assert P95 not in noted_run(kept, "", score(kept.results), "", ()).ratios
    assert "NaN" not in curves(kept.results, score(kept.results).latency)


def test_both_heads_and_what_changed_between_them_are_told() -> None:
    before = Run(HEAD, run(turn(expect=WANTED)).results, sources={"rules/a.yaml": "1", "rules/b.yaml": "2"})
    wrong = run(turn(expect=WANTED, slots={"amount": FIFTEEN, "payee": "p1"}))
    after = Run(HEAD, wrong.results, sources={"rules/a.yaml": "1", "rules/b.yaml": "3", "app/c.py": "4"})
    compared = compare(before, after)
    assert compared.changed_sources == ("app/c.py is new", "rules/b.yaml changed")
    findings = compared.findings(EVERY)
    for document in (markdown(compared, findings), junit(compared, findings)):
        assert "rules/b.yaml changed" in document
        assert "15.00 USD" in document
    assert markdown(compared, findings).startswith("### Replay: red")
    assert markdown(compare(before, before), ()).startswith("### Replay: green")


@pytest.mark.parametrize(
    ("count", "of", "low", "high"),
    [
        # exact intervals as tables and other programs have them
        (0, 547, 0.0, 0.006721),
        (0, 10, 0.0, 0.308498),
        (1, 1, 0.025, 1.0),
        (5, 10, 0.187086, 0.812914),
        (2, 30, 0.008178, 0.220735),
        (99, 100, 0.945541, 0.999747),
    ],
)
def test_exact_intervals(count: int, of: int, low: float, high: float) -> None:
    assert clopper_pearson(count, of) == pytest.approx((low, high), abs=1e-5)


def test_few_never_claim_certainty() -> None:
    found = ratios([{"x": (0.0, 1.0)} for _ in range(547)])["x"]
    assert (found.value, found.low) == (0.0, 0.0)
    assert found.high == pytest.approx(0.006721, abs=1e-5)
    single = ratios([{"x": (1.0, 1.0)}])["x"]
    assert single.low == pytest.approx(0.025)


def test_paired_resampling_sees_what_is_the_same_in_both() -> None:
    hard = [(float(i % 2), 1.0) for i in range(200)]
    worse = [(min(1.0, right + (i % 10 == 0)), of) for i, (right, of) in enumerate(hard)]
    shift = paired(hard, worse)
    assert shift is not None
    assert shift.change == pytest.approx(0.1)
    assert 0.05 < shift.low < 0.1 < shift.high < 0.15
    assert shift.p < 0.01
    same = paired(hard, hard)
    assert same is not None
    assert same.p == 1.0
    assert paired([], []) is None


HEARD = "send fifty dollars to tanaka ichiro"


@pytest.mark.parametrize(
    ("now", "sources", "red"),
    [
        ("send fifty dollars to tanaka ichido", {"audio/a.wav": "2", "app/b.py": "1"}, False),
        ("send fifty dollars to tanaka ichido", {"audio/a.wav": "2", "app/b.py": "2"}, True),
        ("send fifty dollars to tanaka ichido", {"audio/a.wav": "1", "app/b.py": "1"}, True),
        ("what is my balance", {"audio/a.wav": "2", "app/b.py": "1"}, True),
        ("", {"audio/a.wav": "2", "app/b.py": "1"}, True),
    ],
)
def test_another_copy_of_a_recording_may_be_heard_a_little_otherwise(
    now: str, sources: dict[str, str], red: bool
) -> None:
    records = [turn(case=f"c{i}", audio="a.wav", heard=HEARD, expect=WANTED) for i in range(20)]
    before = Run(HEAD, run(*records).results, sources={"audio/a.wav": "1", "app/b.py": "1"})
    other = records[3].model_copy(update={"heard": now, "slots": {"amount": FIFTY}})
    after = Run(HEAD, run(*records[:3], other, *records[4:]).results, sources=sources)
    assert bool(compare(before, after).findings((FailOn.REGRESSION,))) is red
    dear = other.model_copy(update={"slots": {"amount": FIFTEEN, "payee": "p1"}})
    after = Run(HEAD, run(*records[:3], dear, *records[4:]).results, sources=sources)
    assert compare(before, after).findings((FailOn.MONEY,))
