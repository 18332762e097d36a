"""Why a turn is wrong: the first stage that differs, the value, and how; which rules a run reaches."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from rich.console import Console

from app.qa.replay.judging.coverage import coverage, inventory, unversioned
from app.qa.replay.judging.failures import FailedStage, by_stage, failures, grouped
from app.qa.replay.judging.judge import judge
from app.qa.replay.judging.score import score
from app.qa.replay.manifests.manifest import Expectation, MoneyMove
from app.qa.replay.records.record import CandidateRecord, PayeeSearchRecord, SpanRecord, TurnRecord
from app.qa.replay.report.summary import print_coverage, print_scores
from deploy.bench.normalize import cases
from services.normalization import Normalizer
from tests.replay.samples import FIFTY, result, run, turn

NORMALIZE = Path(__file__).parents[2] / "data" / "normalize"
NOON = datetime(2026, 1, 15, 12, tzinfo=UTC)
FIFTEEN = {"amount_minor": 1500, "currency": "USD"}
WANTED = Expectation(intent="transfer_money", payee="p1", slots={"amount": FIFTY, "payee": "p1"})
SAID = "send fifty dollars to catherine"


def heard(said: str, **changes: object) -> TurnRecord:
    """A recorded turn in which `said` was said, and something else heard."""
    expect = WANTED.model_copy(update={"transcript": said})
    return turn(audio="a.wav", expect=expect, **changes)


def search(*ids: str, choice: str | None = None) -> PayeeSearchRecord:
    found = tuple(CandidateRecord(id=name, name="Catherine", score=0.5) for name in ids)
    return PayeeSearchRecord(heard="catherine", start=0, end=0, candidates=found, outcome="x", choice=choice)


def span(value: object) -> SpanRecord:
    return SpanRecord(kind="money", surface="fifty", start=0, end=5, value=value, rule="money.en@1")


CASES = [
    (turn(expect=WANTED, error="timed_out"), ("failure", "", "timed_out")),
    (turn(expect=WANTED, played=False), ("failure", "", "not played")),
    (turn(expect=WANTED, intent="qna", slots={}), ("understanding", "intent", "qna for transfer_money")),
    (
        turn(expect=WANTED, intent=None, slots={}, vetoes=("veto.past",)),
        ("understanding", "intent", "nothing for transfer_money, vetoed by veto.past"),
    ),
    (
        turn(expect=WANTED, intent=None, slots={}),
        ("understanding", "intent", "nothing for transfer_money, by no template"),
    ),
    (
        turn(expect=WANTED, slots={"amount": FIFTEEN, "payee": "p1"}, payee=search("p1", choice="p1")),
        ("normalization", "amount", "no such words found"),
    ),
    (
        turn(expect=WANTED, slots={"amount": FIFTEEN, "payee": "p1"}, spans=(span(FIFTEEN),)),
        ("normalization", "amount", "read as another value"),
    ),
    (turn(expect=WANTED, slots={"payee": "p1"}, spans=(span(FIFTY),)), ("understanding", "amount", "left empty")),
    (
        turn(expect=WANTED, slots={"amount": FIFTY, "payee": "p1", "source": "a"}),
        ("understanding", "source", "filled and not asked for"),
    ),
    (turn(expect=WANTED, slots={"amount": FIFTY}), ("understanding", "payee", "no payee was looked for")),
    (
        turn(expect=WANTED, slots={"amount": FIFTY}, payee=search("p2")),
        ("payee search", "payee", "not among the candidates"),
    ),
    (
        turn(expect=WANTED, slots={"amount": FIFTY, "payee": "p2"}, payee=search("p2", "p1", choice="p2")),
        ("payee search", "payee", "another was chosen"),
    ),
    (turn(expect=WANTED, slots={"amount": FIFTY}, payee=search("p1", "p2")), ("payee search", "payee", "asked about")),
    (
        heard(SAID, heard="send fifteen dollars to catherine", slots={"amount": FIFTEEN, "payee": "p1"}),
        ("hearing", "amount", "an amount was misheard"),
    ),
    (turn(expect=Expectation(decision="confirm"), decision="clarify"), ("dialogue", "decision", "clarify for confirm")),
    (
        turn(expect=Expectation(decision=("confirm", "execute"), reply="a.b"), reply="c.d"),
        ("dialogue", "reply", "c.d for a.b"),
    ),
    (
        turn(expect=Expectation(decision="confirm"), money=(MoneyMove(amount_minor=1, currency="USD"),)),
        ("dialogue", "money", "booked and not asked for"),
    ),
]


@pytest.mark.parametrize(("wrong", "why"), CASES, ids=[str(why) for _, why in CASES])
def test_the_first_stage_that_differs(wrong: TurnRecord, why: tuple[str, str, str]) -> None:
    (found,) = failures(wrong)
    assert (found.stage, found.slot, found.cause) == why


def test_a_right_turn_and_one_that_nobody_judges_fail_by_nothing() -> None:
    assert failures(turn(expect=WANTED, payee=search("p1", choice="p1"))) == ()
    assert failures(turn(expect=Expectation(transcript=SAID), audio="a.wav", heard="x")) == ()
    assert failures(turn()) == ()
    by_machine = WANTED.model_copy(update={"by_machine": ("intent", "payee", "slots")})
    assert failures(turn(expect=by_machine, intent="qna")) == ()


def test_money_that_was_booked_then_too_is_no_false_accept_though_only_a_machine_says_so() -> None:
    move = MoneyMove(amount_minor=5000, currency="USD", payee="p1")
    expect = Expectation(decision="execute", money=(move,), by_machine=("money",))
    assert failures(turn(decision="execute", money=(move,), expect=expect)) == ()
    other = turn(decision="execute", money=(move.model_copy(update={"amount_minor": 1}),), expect=expect)
    assert failures(other)[0].cause == "booked and not asked for"


def test_each_wrong_value_is_told_with_its_own_stage() -> None:
    wrong = heard(SAID, heard="send fifteen dollars to catherine", slots={"amount": FIFTEEN}, payee=search("p2"))
    assert [(f.stage, f.slot) for f in failures(wrong)] == [
        (FailedStage.HEARING, "amount"),
        (FailedStage.PAYEE, "payee"),
    ], "the amount was misheard, the name was not"


def test_every_wrong_turn_has_a_reason_and_groups_count_turns() -> None:
    wrong = [record.model_copy(update={"case": f"c{n}"}) for n, (record, _) in enumerate(CASES)]
    assert all(failures(record) for record in wrong if judge(record).right is False)
    groups = grouped((record.id, failures(record)) for record in (*wrong, *wrong[:1]))
    assert groups[0].turns == 2
    assert groups[0].examples[0] == "c0#1"
    assert sum(by_stage(groups).values()) == len(wrong) + 1
    assert list(by_stage(groups)) == [stage for stage in FailedStage if stage in by_stage(groups)]
    found = score([result(record) for record in wrong])
    assert {group.id for group in found.failures} == {group.id for group in groups}
    console = Console(record=True, width=200)
    print_scores(found, console)
    assert "why turns are wrong" in console.export_text()


def test_rules_that_are_reached_and_not() -> None:
    said = (
        turn(rule="intents.en.transfer_money.verb@9", spans=(span(FIFTY),)),
        turn(rule="consent.en.yes@1", vetoes=("veto.past",)),
        turn(rule="intents.told@1"),
    )
    found = {one.kind: one for one in coverage(run(*said).results[n].record for n in range(3))}
    assert found["templates"].turns["intents.en.transfer_money.verb"] == 1
    assert "intents.en.cards.lock" in found["templates"].unreached
    assert (found["answers"].reached, found["vetoes"].reached, found["values"].reached) == (1, 1, 0)
    console = Console(record=True, width=200)
    print_coverage(tuple(found.values()), console)
    assert "template that nothing reaches: intents.en.cards.lock" in console.export_text()


@pytest.mark.parametrize("language", ["en", "ja"])
def test_the_inventory_has_every_way_to_read_a_value(language: str) -> None:
    known = set(inventory(language)["values"])
    labelled = [case for case in cases([NORMALIZE]) if case["locale"].startswith(language)]
    assert len(labelled) > 100
    for case in labelled[::7]:
        for found in Normalizer.for_locale(case["locale"]).normalize(case["text"], now=NOON):
            rules = (found.rule, *(other.rule for other in (*found.readings, *found.rejected)))
            assert {unversioned(rule) for rule in rules} <= known
