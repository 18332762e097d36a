"""Money is never in no figure: what a machine's label says excuses nothing, what nobody labelled is counted."""

import pytest

from app.qa.replay.comparing.diff import FailOn, compare
from app.qa.replay.comparing.policy import Policies, Policy, policy
from app.qa.replay.judging.judge import MoneyVerdict, judge, owed_after, unjudged_money
from app.qa.replay.judging.score import score
from app.qa.replay.manifests.manifest import Expectation, Manifest, MoneyMove
from app.qa.replay.playing.run import _with_debts
from app.qa.replay.report.markdown import markdown
from rules.load import load
from tests.replay.samples import result, run, turn

FIFTY = MoneyMove(amount_minor=5000, currency="USD", payee="p1")
MACHINE = {"money": (FIFTY,), "by_machine": ("money",)}


@pytest.mark.parametrize(
    "people",
    [
        {"decision": "clarify"},
        {"decision": "confirm"},
        {"outcome": ("refuse", "clarify")},
        {"intent": "deny"},
        {"reply": "say.ok"},
        {"decision": "execute", "outcome": "refuse"},
    ],
)
def test_a_machine_excuses_no_money_that_people_forbid(people: dict[str, object]) -> None:
    judged = judge(turn(money=(FIFTY,), expect=Expectation.model_validate(people | MACHINE)))
    assert judged.money is MoneyVerdict.FALSE_ACCEPT


def test_where_people_say_that_it_books_and_a_machine_what_nobody_has_judged_it() -> None:
    moved = turn(
        money=(FIFTY,), decision="execute", expect=Expectation.model_validate({"decision": "execute"} | MACHINE)
    )
    assert (judge(moved).money, unjudged_money(moved)) == (MoneyVerdict.RIGHT, True)
    other = moved.model_copy(update={"money": (FIFTY.model_copy(update={"payee": "p2"}),)})
    assert (judge(other).money, unjudged_money(other)) == (MoneyVerdict.FALSE_ACCEPT, False)


def test_what_only_a_machine_says_is_owed_is_not() -> None:
    """A booking in a turn that people label otherwise is not the late one of a turn that only a machine labelled."""
    first = result(turn(turn=1, expect=Expectation.model_validate(MACHINE)))
    second = result(turn(turn=2, money=(FIFTY,), expect=Expectation(decision="clarify")))
    assert owed_after(first.record) == ()
    late = _with_debts((first, second))[1].record
    assert judge(late).money is MoneyVerdict.FALSE_ACCEPT
    asked = result(turn(turn=1, expect=Expectation(money=(FIFTY,))))
    assert judge(_with_debts((asked, second))[1].record).money is MoneyVerdict.RIGHT


@pytest.mark.parametrize(
    ("changes", "expect", "counted"),
    [
        ({"money": (FIFTY,)}, None, 1),
        ({"money": (FIFTY,)}, Expectation(transcript="send it"), 1),
        ({"money": (FIFTY,)}, Expectation(intent="confirm", money=(FIFTY,), by_machine=("intent", "money")), 1),
        ({"effects": {"alex-checking USD": -5000}}, None, 1),
        ({"effects": {"card locked": -1}}, None, 0),
        ({"money": (FIFTY,)}, Expectation(money=(FIFTY,)), 0),
        ({"proposal": FIFTY}, None, 0),
        ({}, None, 0),
    ],
)
def test_money_that_no_person_speaks_of_is_a_figure(
    changes: dict[str, object], expect: Expectation | None, counted: int
) -> None:
    found = score([result(turn(expect=expect, **changes))]).ratios["money_unjudged"]
    assert (found.right, found.of) == (counted, 1)


@pytest.mark.parametrize("name", load("qa/policies.yaml", Policies).policies)
def test_every_policy_bounds_it_whether_it_says_so_or_not(name: str) -> None:
    bounds = policy(name)
    said = bounds.model_dump(exclude={"at_most"}) | {"at_most": bounds.at_most.copy()}
    del said["at_most"]["money_unjudged"]
    silent = Policy.model_validate(said)
    played = score([result(turn(money=(FIFTY,)))])
    for each in (bounds, silent):
        broken = each.broken(played, Manifest(base=".", cases=()))
        assert any(line.startswith("money_unjudged is 1.0000 of 1, above 0") for line in broken)
    wide = Policy.model_validate(said | {"at_most": said["at_most"] | {"money_unjudged": 0.5}})
    assert wide.slack["money_unjudged at most"] > bounds.slack["money_unjudged at most"]


def test_new_money_that_nobody_judges_fails_a_comparison() -> None:
    judged = turn(case="a", expect=Expectation(decision="confirm"))
    moved = turn(case="b", turn=1, money=(FIFTY,))
    for before in (run(judged), run(judged, moved.model_copy(update={"money": ()}))):
        compared = compare(before, run(judged, moved))
        (found,) = compared.findings((FailOn.MONEY,))
        assert [each.id for each in found.turns] == ["b#1"]
        assert "1 move money of which no person says whether it should" in found.says
        assert "money_unjudged" in markdown(compared, (found,))
    assert not compare(run(judged, moved), run(judged, moved)).findings((FailOn.MONEY,))


def test_a_machine_that_heard_nothing_frees_no_set_of_the_bound_on_hearing() -> None:
    base = {
        "locale": "en-US",
        "turns": [{"audio": "a.wav", "expect": {"transcript": "", "by_machine": ["transcript"]}}],
    }
    machine = Manifest.model_validate({"base": ".", "cases": [{"id": "a"} | base]})
    assert any("`transcript`" in lacking for lacking in policy("money").lacks(machine))
