"""Comparing runs: the change, its cause, the policies, and JUnit that a CI server can read."""

import xml.etree.ElementTree as ET

import pytest

from app.qa.replay.comparing.diff import FailOn, compare, policies
from app.qa.replay.comparing.turn_diff import Cause, Change
from app.qa.replay.manifests.manifest import Expectation, MoneyMove
from app.qa.replay.records.record import ModelCall, PayeeSearchRecord, SpanRecord, TurnRecord
from app.qa.replay.report.junit import junit
from schemas.errors import MalformedMessage
from tests.replay.samples import FIFTY, run, turn

MOVED = MoneyMove(amount_minor=5000, currency="USD", payee="p1")
WANTED = Expectation(intent="transfer_money", decision="confirm")
SPAN = SpanRecord(kind="money", surface="fifty dollars", start=5, end=18, value=FIFTY, rule="m@1")
NOBODY = PayeeSearchRecord(heard="x", start=0, end=1, candidates=(), outcome="nobody")


def test_two_equal_runs() -> None:
    same = run(turn(expect=WANTED), turn(case="c2"))
    compared = compare(same, same)
    assert compared.counts == {"same": 2, "better": 0, "worse": 0, "changed": 0, "added": 0, "removed": 0}
    assert not compared.violations(tuple(FailOn))


@pytest.mark.parametrize(
    ("before", "after", "change"),
    [
        (turn(expect=WANTED), turn(expect=WANTED, decision="clarify"), Change.WORSE),
        (turn(expect=WANTED, decision="clarify"), turn(expect=WANTED), Change.BETTER),
        (turn(), turn(decision="clarify"), Change.CHANGED),
        (turn(expect=WANTED, reply="a"), turn(expect=WANTED, reply="b"), Change.CHANGED),
        (
            turn(expect=WANTED, decision="clarify"),
            turn(expect=WANTED, decision="clarify", money=(MOVED,)),
            Change.WORSE,
        ),
    ],
)
def test_changes(before: TurnRecord, after: TurnRecord, change: Change) -> None:
    assert compare(run(before), run(after)).turns[0].change is change


@pytest.mark.parametrize(
    ("changes", "cause"),
    [
        ({"heard": "send fifteen dollars", "spans": (SPAN,), "decision": "clarify"}, Cause.TRANSCRIPT),
        ({"spans": (SPAN,), "payee": NOBODY, "decision": "clarify"}, Cause.SPAN),
        ({"payee": NOBODY, "decision": "clarify", "rule": "t@2"}, Cause.PAYEE),
        ({"models": (ModelCall(purpose="extract", model="m"),), "decision": "clarify", "rule": "t@2"}, Cause.MODEL),
        ({"rule": "t@2", "decision": "clarify"}, Cause.RULE),
        ({"error": "bank_unavailable"}, Cause.FAILURE),
    ],
)
def test_the_first_stage_that_differs_is_the_cause(changes: dict[str, object], cause: Cause) -> None:
    found = compare(run(turn()), run(turn(**changes)))
    assert found.turns[0].cause is cause
    assert found.causes == {cause: {"worse" if cause is Cause.FAILURE else "changed": 1}}


def test_a_corrected_label_is_no_regression() -> None:
    before = turn(expect=Expectation(decision="clarify"), decision="confirm")
    after = turn(expect=Expectation(decision="confirm"), decision="confirm")
    assert compare(run(before), run(after)).turns[0].change is Change.SAME


def test_policies() -> None:
    fine, gone = turn(case="a", expect=WANTED), turn(case="z")
    moved = fine.model_copy(update={"money": (MOVED,)})
    compared = compare(run(fine, gone), run(moved, turn(case="new")))
    assert [t.id for t in compared.violations((FailOn.MONEY,))] == ["a#1"]
    assert [t.id for t in compared.violations((FailOn.MISSING,))] == ["z#1"]
    assert {t.id for t in compared.violations((FailOn.CHANGED,))} == {"a#1", "new#1", "z#1"}
    assert policies("money, regression") == (FailOn.MONEY, FailOn.REGRESSION)
    with pytest.raises(MalformedMessage, match="'moeny'"):
        policies("moeny")


def test_junit_holds_what_failed_and_survives_any_words() -> None:
    nasty = 'a <b> & "c" \x00\x1b ]]>'
    compared = compare(
        run(turn(expect=WANTED), turn(case="ok")),
        run(turn(expect=WANTED, decision="clarify", heard=nasty), turn(case="ok")),
    )
    document = ET.fromstring(junit(compared, compared.findings((FailOn.REGRESSION,))))
    suite = document.find("testsuite")
    assert suite is not None
    assert suite.get("failures") == "1"
    failures = suite.findall("testcase/failure")
    assert len(failures) == 1
    assert 'a <b> & "c"' in (failures[0].text or "")
