"""Conversations that part: what is asked now decides which turn is said next, and a yes only to its own order."""

import json
from pathlib import Path
from typing import Any

import pytest

from app.qa.replay.judging.judge import judge
from app.qa.replay.judging.score import score
from app.qa.replay.manifests import readers
from app.qa.replay.manifests.manifest import Case, Expectation
from app.qa.replay.playing.house import PipelineSpec
from app.qa.replay.playing.parting import RecordedScript
from app.qa.replay.playing.run import replay
from app.qa.replay.records.record import TurnRecord
from app.settings import Settings
from tests.replay.samples import FIFTY, result, turn

MOVE = {"amount_minor": 5000, "currency": "USD", "payee": "catherine-nguyen", "source": "alex-checking"}
READ_BACK = {"decision": "confirm", "slots": {"amount": FIFTY, "payee": "catherine-nguyen"}}


def case(*turns: tuple[str, dict[str, Any]]) -> Case:
    said = [{"text": text, "expect": expect} for text, expect in turns]
    return Case.model_validate({"id": "a", "locale": "en-US", "customer": "alex-morgan", "turns": said})


def play(tmp_path: Path, one: Case, *, follow: bool = True) -> list[TurnRecord]:
    (tmp_path / "m.jsonl").write_bytes(json.dumps(one.model_dump(mode="json", exclude_defaults=True)).encode())
    manifest = readers.load(tmp_path / "m.jsonl")
    spec = PipelineSpec.of(Settings(), manifest, follow=follow)
    return [result.record for result in replay(manifest, spec, tmp_path / "out")]


def test_the_same_conversation_is_played_as_it_was(tmp_path: Path) -> None:
    one = case(("send fifty dollars to catherine nguyen", READ_BACK), ("yes", {"decision": "execute", "money": [MOVE]}))
    found = play(tmp_path, one)
    assert [(r.parting, r.reached, len(r.money)) for r in found] == [("", True, 0), ("", True, 1)]
    ratios = score([result(r) for r in found]).ratios
    assert (ratios["goal_reached"].value, ratios["calls_parted"].value) == (1.0, 0.0)


def test_a_question_that_is_no_longer_asked_is_left_out(tmp_path: Path) -> None:
    """The old assistant asked for the amount, and the new one heard it: the next answer is the one to the read-back."""
    one = case(
        ("send fifty dollars to catherine nguyen", {"decision": "clarify"}),
        ("fifty dollars", READ_BACK),
        ("yes", {"decision": "execute", "money": [MOVE]}),
    )
    found = play(tmp_path, one)
    assert found[0].parting == "was clarify, is confirm confirm.transfer; goes on with turn 3"
    assert [(r.reached, len(r.money)) for r in found] == [(True, 0), (False, 0), (True, 1)]
    assert (found[1].error, judge(found[1]).right) == (None, False), "not said: no error, and not right"
    ratios = score([result(r) for r in found]).ratios
    assert (ratios["goal_reached"].value, ratios["calls_parted"].value, ratios["errors"].value) == (1.0, 1.0, 0.0)


def test_a_yes_is_not_said_to_another_order(tmp_path: Path) -> None:
    one = case(
        ("send fifteen dollars to catherine nguyen", READ_BACK), ("yes", {"decision": "execute", "money": [MOVE]})
    )
    first, second = play(tmp_path, one)
    assert first.proposal is not None
    assert first.proposal.amount_minor == 1500
    assert first.parting == "was confirm, is confirm confirm.transfer; stops: no recorded turn answers that"
    assert (second.reached, second.money) == (False, ())


def test_without_following_every_turn_is_said_in_its_order(tmp_path: Path) -> None:
    one = case(("what's my balance", {"decision": "clarify"}), ("yes", {"decision": "execute"}))
    assert [(r.parting, r.reached) for r in play(tmp_path, one, follow=False)] == [("", True), ("", True)]


ORDERS = [
    ({"amount_minor": 5000}, {}, True),
    ({"amount_minor": 5001}, {}, False),
    ({"payee": "sean-doyle"}, {}, False),
    ({"source": "alex-savings"}, {}, False),
    ({"currency": "GBP"}, {}, False),
    ({"amount_minor": 5001}, {"money": [MOVE | {"amount_minor": 5001}]}, True),
    ({"amount_minor": 5000}, {"money": [MOVE | {"amount_minor": 5001}]}, False),
    ({"payee": "sean-doyle"}, {"money": [MOVE]}, False),
]


@pytest.mark.parametrize(("order", "answer", "said"), ORDERS)
def test_when_a_read_back_is_the_same(order: dict[str, Any], answer: dict[str, Any], said: bool) -> None:
    slots = {"amount": FIFTY, "payee": "catherine-nguyen", "source": "alex-checking"}
    one = case(("send", {"slots": slots, "decision": "confirm"}), ("yes", {"decision": "execute"} | answer))
    record = turn(decision="confirm", proposal=MOVE | order, expect=Expectation(decision="confirm"))
    assert RecordedScript(one, follow=True).after(record) == (2 if said else None)


def test_what_nobody_labelled_parts_nothing_and_an_error_always() -> None:
    one = case(("send", {}), ("yes", {}))
    script = RecordedScript(one, follow=True)
    assert script.after(turn(decision="clarify")) == 2
    assert script.after(turn(error="timed_out")) is None
    assert script.partings == {1: "was nothing known, is timed_out; stops: no recorded turn answers that"}
