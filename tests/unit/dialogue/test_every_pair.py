"""Every phase meets every event: where that may lead, who may act, and that something is said."""

from typing import get_args

import pytest

from deploy.dialogue.states import CONSENT, DRAWING, EVENTS, P1, PHASES, WORLD, Met, drawing, visits
from schemas.decision import Clarify, Confirm, Execute, Handoff, LockCard, Reply, SubmitTransfer, UnlockCard
from schemas.ids import EN_US, JA_JP, RuleId
from schemas.intent import Intent
from services.dialogue import Event, Memory, Outcome, Phase, Task, UserUtterance, voided
from services.dialogue.phases import ActionOutcome
from services.response import speak

MET = list(visits())
ENTERED = {
    "Reading": {
        ("Proposing", "sealed"),
        ("Idle", "call resumed"),
        *((at, event) for at in ("Reading", "Confirming") for event in EVENTS),  # read again, as it is
    },
    "Confirming": {("Reading", "read-back heard"), *(("Confirming", event) for event in EVENTS)},
    "Submitting": {
        ("Confirming", "yes"),
        ("SteppingUp, then Submitting", "right code"),
        *(("Submitting", event) for event in EVENTS),
    },
    "SteppingUp": {
        *((at, "code asked for") for at in ("Submitting", "Unlocking", "Unlocking before Waiting")),
        *((f"SteppingUp, then {then}", event) for then in ("Submitting", "Unlocking") for event in EVENTS),
    },
}
"""The only ways into a phase that binds."""
SILENT = {"read-back heard", "other read-back heard", "read-back not heard after all", "outcomes heard"}


def shown(met: Met) -> str:
    return f"{met.phase} × {met.event} → {met.leads_to} {met.decision}"


def test_there_is_one_of_every_phase_every_event_and_every_intent() -> None:
    assert {type(phase) for phase in PHASES.values()} == set(get_args(Phase))
    assert {type(met.happened) for met in MET} == set(get_args(Event))
    said = {m.happened.understood.intent for m in MET if isinstance(m.happened, UserUtterance)}
    rest = {Intent.RECENT_TRANSACTIONS, Intent.BILL_PAYMENT, Intent.BILL_INQUIRY, Intent.RECIPIENT_LOOKUP}
    assert said == {None, *Intent} - rest - {Intent.CORRECT}, "those are taken as another one that is there"


def test_the_phases_that_bind_are_entered_by_their_own_events_alone() -> None:
    for met in MET:
        if met.leads_to in ENTERED:
            assert (met.phase, met.event) in ENTERED[met.leads_to], shown(met)


def test_money_is_submitted_by_a_proved_yes_to_what_was_heard_and_by_nothing_else() -> None:
    submitting = [m for m in MET if isinstance(m.decision, Execute) and isinstance(m.decision.action, SubmitTransfer)]
    assert {(m.phase, m.event) for m in submitting} == {
        ("Confirming", "yes"),
        ("SteppingUp, then Submitting", "right code"),
    }
    assert all(m.decision == Execute(SubmitTransfer(P1, CONSENT)) for m in submitting)


def test_a_card_is_locked_or_unlocked_when_asked_to_be_or_by_a_yes_to_that() -> None:
    allowed = {"lock card": LockCard, "unlock card": UnlockCard, "yes": LockCard, "right code": UnlockCard}
    for met in MET:
        if isinstance(met.decision, Execute) and isinstance(met.decision.action, LockCard | UnlockCard):
            assert isinstance(met.decision.action, allowed[met.event]), shown(met)
            assert met.event != "yes" or met.phase == "Offering a card's lock", shown(met)


def test_a_person_comes_when_asked_for_or_by_a_yes_or_silence_to_that_offer() -> None:
    for met in MET:
        if isinstance(met.decision, Handoff):
            offered = met.phase.startswith("OfferingPerson") and met.event in {"yes", "silence"}
            assert offered or met.event == "a person", shown(met)


def test_nothing_that_is_said_changes_what_is_being_submitted() -> None:
    for met in MET:
        if met.phase == "Submitting" and met.event not in WORLD:
            assert met.after.phase == met.before.phase, shown(met)


def test_what_was_read_back_is_the_same_as_long_as_it_stands() -> None:
    """Its ledger entry is void exactly when it stands no more, except where the ledger has it already."""
    for met in MET:
        if met.after.proposal is not None and met.before.proposal is not None:
            assert met.after.read_back == met.before.read_back, shown(met)
        gone = met.before.proposal is not None and met.after.proposal is None
        assert voided(met.before, met.after) == (gone and met.phase != "Submitting"), shown(met)


def test_an_order_is_read_back_only_after_it_was_proposed_anew() -> None:
    for met in MET:
        if isinstance(met.decision, Confirm):
            assert met.leads_to == ("Proposing" if met.decision.proposal is None else "Reading"), shown(met)


def test_whatever_comes_something_is_done_or_said_in_every_language() -> None:
    for met in MET:
        if isinstance(met.decision, Execute) or met.leads_to == "Proposing" or met.event in SILENT:
            continue
        answers = getattr(met.decision, "question", "")
        assert answers or met.decision.reply is not None, shown(met)
        if met.decision.reply is not None:
            assert all("{" not in speak(met.decision.reply, locale) for locale in (EN_US, JA_JP)), shown(met)


def test_a_question_is_asked_wherever_an_answer_is_awaited() -> None:
    for met in MET:
        if isinstance(met.decision, Clarify):
            assert (met.decision.slot, met.decision.choices) in {
                (met.after.asked, met.after.choices),
                (None, ()),
            }, shown(met)


WAITING = Task(Intent.CARD_LOCK)
LAST = Reply(RuleId("ask.what"))


@pytest.mark.parametrize(
    "memory",
    [
        Memory(queue=(WAITING,)),
        Memory(misses=2),
        Memory(patience=1),
        Memory(last=LAST),
        Memory(outcomes=(Outcome(ActionOutcome.MOVED, LAST),)),
        Memory(outcomes=(Outcome(ActionOutcome.MOVED, LAST, heard=True),)),
    ],
)
def test_what_is_remembered_opens_no_other_way_into_a_phase_that_binds(memory: Memory) -> None:
    for met in visits(memory):
        if met.leads_to in ENTERED:
            assert (met.phase, met.event) in ENTERED[met.leads_to], shown(met)


def test_the_drawing_is_current() -> None:
    assert DRAWING.read_text(encoding="utf-8") == drawing(), "run `python -m deploy.dialogue.states` and commit it"
