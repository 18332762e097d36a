"""A recorded call is replayed with what was decided in it: slots, payee, money, by the facts it was decided from."""

from pathlib import Path

import pytest

from app.composition.keys import audit_keys
from app.qa.replay.judging.judge import judge_by_machine
from app.qa.replay.labelling.vocabulary import label_faults
from app.qa.replay.manifests.manifest import Case, Manifest, as_words, dump_jsonl
from app.qa.replay.manifests.readers import load
from app.qa.replay.playing.house import PipelineHouse
from app.qa.replay.playing.player import PipelinePlayer
from app.qa.replay.records.record import TurnRecord
from app.qa.replay.records.recorded import Recording, as_case, read_recording
from app.settings import Settings
from schemas.errors import NotFound
from tests.fakes.recognizer import FakeRecognizer
from tests.harness.app import running_app
from tests.harness.recorded import recorded_call

SAID = ("send fifty dollars to catherine nguyen", "yes", "what's my balance", "lock my debit card")


async def recording(folder: Path, *said: str, withdrawn: tuple[int, ...] = ()) -> Recording:
    async with running_app(folder, FakeRecognizer(lambda _: ""), recording_days=1) as app:
        made = await recorded_call(app.gateway, said, withdrawn=withdrawn)
        return read_recording(made, audit_keys(app.gateway.settings))


async def played(case: Case, folder: Path) -> list[TurnRecord]:
    """Play a case with the words that were heard then."""
    (heard,) = as_words(Manifest(base=folder, cases=(case,))).cases
    settings = Settings.model_validate({"state_dir": folder, "database_url": ""})
    player = PipelinePlayer(PipelineHouse(settings, None), "", "")
    try:
        return [result.record for result in await player.play(heard, folder)]
    finally:
        await player.close()


async def test_what_was_decided_is_recorded(tmp_path: Path) -> None:
    order, yes, balance, lock = (await recording(tmp_path, *SAID)).turns
    assert (order.intent, order.decision, order.payee) == ("transfer_money", "confirm", "catherine-nguyen")
    assert order.slots["amount"].value == {"amount_minor": 5000, "currency": "USD"}
    assert order.slots["amount"].words == "fifty dollars"
    assert order.confidence > 0.5
    assert order.rule is not None
    assert order.proposal is not None
    assert (order.proposal.amount_minor, order.proposal.payee, order.money) == (5000, "catherine-nguyen", ())
    assert [(move.amount_minor, move.payee) for move in yes.money] == [(5000, "catherine-nguyen")]
    assert (balance.intent, lock.slots["card"].words) == ("balance_inquiry", "debit card")


async def test_the_facts_are_those_of_the_callers_bank(tmp_path: Path) -> None:
    facts = (await recording(tmp_path, SAID[0])).facts
    assert facts is not None
    assert "catherine-nguyen" in {payee.id for payee in facts.payees}
    assert {card.name for card in facts.cards}
    assert all(account.opening for account in facts.accounts)


async def test_a_replay_judges_what_was_decided(tmp_path: Path) -> None:
    call = await recording(tmp_path, *SAID)
    case = as_case(call, "x", None, "recordings/x")
    (tmp_path / "m.jsonl").write_bytes(dump_jsonl((case,)))
    (read,) = load(tmp_path / "m.jsonl").cases
    assert read == case
    assert not label_faults(Manifest(base=tmp_path, cases=(case,)))
    turns = await played(case, tmp_path)
    assert [judge_by_machine(turn).right for turn in turns] == [True] * len(SAID)
    assert [move.amount_minor for turn in turns for move in turn.money] == [5000]


async def test_a_replay_that_decides_otherwise_is_wrong(tmp_path: Path) -> None:
    call = await recording(tmp_path, SAID[0])
    case = as_case(call, "x", None, "recordings/x")
    assert case.facts is not None
    without = tuple(payee for payee in case.facts.payees if payee.id != "catherine-nguyen")
    other = case.model_copy(update={"facts": case.facts.model_copy(update={"payees": without, "bills": ()})})
    (turn,) = await played(other, tmp_path)
    assert judge_by_machine(turn).right is False


async def test_another_customer_is_expected_to_have_none_of_the_callers_own(tmp_path: Path) -> None:
    case = as_case(await recording(tmp_path, SAID[0]), "x", "takahashi-misaki", "recordings/x")
    assert case.turns[0].expect is not None
    assert not case.turns[0].expect.named & {"slots", "payee", "money"}


async def test_a_test_ends_with_the_turn_that_it_is_of(tmp_path: Path) -> None:
    call = await recording(tmp_path, *SAID)
    assert len(as_case(call, "x", None, "p", last=2).turns) == 2
    with pytest.raises(NotFound):
        as_case(call, "x", None, "p", last=9)


async def test_a_withheld_turn_says_nothing_of_what_was_in_it(tmp_path: Path) -> None:
    (turn,) = (await recording(tmp_path, "my code is four two seven one nine two")).turns
    assert turn.withheld
    assert (turn.slots, turn.payee, turn.proposal, turn.money) == ({}, None, None, ())


async def test_a_turn_that_was_withdrawn_is_not_said_again(tmp_path: Path) -> None:
    """The caller went on: the same words came again, with the rest."""
    order = SAID[0]
    call = await recording(tmp_path, "what's my balance", "send fifty dollars", order, "yes", withdrawn=(1,))
    assert [turn.withdrawn for turn in call.turns] == [False, True, False, False]
    case = as_case(call, "x", None, "p")
    assert [turn.expect.transcript for turn in case.turns if turn.expect] == ["what's my balance", order, "yes"]
    assert [judge_by_machine(turn).right for turn in await played(case, tmp_path)] == [True] * 3
    with pytest.raises(NotFound):
        as_case(call, "x", None, "p", last=2)
