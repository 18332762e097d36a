"""Simulated callers: what they make of the service's sentences, and whole calls over a real service."""

import asyncio
from pathlib import Path

import pytest

import deploy.bench
from app.demo.run import service
from deploy.bench._callers.caller import SimulatedCaller
from deploy.bench._callers.data import Dialogues, read
from deploy.bench._callers.hear import AnswerKind, ReplyClassifier, ReplyHeard
from deploy.bench._callers.outcome import CODE
from deploy.bench._callers.play import play
from deploy.bench._callers.score import figures

FILE = Path(deploy.bench.__file__).parent / "corpus" / "callers.jsonl"


def test_a_question_is_heard_behind_an_apology_and_a_read_back_behind_a_warning() -> None:
    ear = ReplyClassifier()
    assert (
        ReplyHeard("", ear.kinds("Sorry, I didn't get that. How much would you like to send?")).kind
        is AnswerKind.ASKS_AMOUNT
    )
    told = "Orla is a new payee. I'll send 5 dollars to Orla from checking now. Is that right?"
    assert ReplyHeard(told, ear.kinds(told)).kind is AnswerKind.READ_BACK
    assert ReplyHeard("", ear.kinds("The Harbor savings account pays interest.")).kind is AnswerKind.SAID_SOMETHING


def _third(dialogues: Dialogues, *, change: bool) -> SimulatedCaller:
    return SimulatedCaller(dialogues.dialogues[2].tasks[0], dialogues, change=change, seed="1")


def _read_back(**order: object) -> ReplyHeard:
    whole = {"amount_minor": 90_000, "payee_id": "orla", "source": "x-savings", "to_account": None} | order
    return ReplyHeard("", (AnswerKind.READ_BACK,), whole)


def test_a_wrong_read_back_is_corrected_and_the_right_one_agreed_to() -> None:
    caller = _third(read(FILE), change=False)
    talk = caller.talk()
    assert next(talk) == "Transfer 900 dollars to Orla. Use my savings account."
    assert "savings" in talk.send(_read_back(source="x-checking"))
    assert caller.outcome.wrong_read_backs == 1
    assert talk.send(_read_back()).startswith(("Yes", "Yep", "That is correct"))
    assert talk.send(ReplyHeard("", (AnswerKind.WANTS_CODE,))) == CODE
    order = {"amount_minor": 90_000, "payee_id": "orla", "source": "x-savings", "to_account": None}
    try:
        talk.send(ReplyHeard("", (AnswerKind.DONE,), moved=(order,)))
    except StopIteration:
        assert caller.outcome.success
        assert not caller.outcome.spare
        return
    raise AssertionError("the caller goes on after the transfer was booked")


def test_after_a_change_of_mind_the_old_order_is_counted_and_never_agreed_to() -> None:
    caller = _third(read(FILE), change=True)
    talk = caller.talk()
    next(talk)
    talk.send(_read_back())
    assert not talk.send(_read_back()).startswith("Yes")
    assert caller.outcome.goal != caller.outcome.task.goal
    assert caller.outcome.old_order_again == 1


@pytest.mark.timeout(300)
def test_every_third_own_caller_is_served_and_no_wrong_money_moves() -> None:
    dialogues = read(FILE)
    with service("-m", "deploy.bench._callers.serve", str(FILE)) as base:
        played = asyncio.run(play(base, dialogues, range(0, len(dialogues.dialogues), 3), 4))
    found = figures(played)
    for name in ("transfer", "balance", "change"):
        assert found[f"{name}_success_percent"] == 100, name
        assert found[f"{name}_wrong_money"] == 0, name
        assert found[f"{name}_old_order_again"] == 0, name
