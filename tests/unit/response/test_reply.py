"""A reply's life: every step in every state, and what may be asked of it on the way."""

import itertools

import pytest

from schemas.call import CutReason
from schemas.turn import Awaits, ItemId, ReplyId
from services.response.reply import NEXT, AgentReply, ReplyState, ReplyStep

ENDS = {ReplyState.UNHEARD, ReplyState.FAILED, ReplyState.WITHDRAWN}


def reply(state: ReplyState = ReplyState.QUEUED) -> AgentReply:
    return AgentReply(ReplyId("r"), ItemId("i"), state)


@pytest.mark.parametrize(("state", "step"), list(itertools.product(ReplyState, ReplyStep)))
def test_a_step_is_legal_or_changes_nothing(state: ReplyState, step: ReplyStep) -> None:
    one = reply(state)
    assert one.step(step) == ((state, step) in NEXT)
    assert one.state is NEXT.get((state, step), state)


def test_every_state_is_reached_and_leads_to_an_end() -> None:
    assert {ReplyState.QUEUED, *NEXT.values()} == set(ReplyState)
    assert set(ReplyState) - {state for state, _ in NEXT} == ENDS


def test_what_was_cut_or_heard_is_neither_heard_nor_cut_afterwards() -> None:
    for ended, step in itertools.product((ReplyState.CUT, ReplyState.WITHDRAWN), (ReplyStep.HEAR, ReplyStep.RELEASE)):
        assert not reply(ended).step(step)
    heard = reply(ReplyState.HEARD)
    assert not heard.cut(CutReason.TURN_DETECTED)
    assert heard.cut_by is None


def test_a_reply_is_audible_from_its_first_words_until_it_must_be_over() -> None:
    one = reply()
    one.step(ReplyStep.BEGIN)
    assert not one.audible(10.0)
    assert one.speak("Hello.", 1.0, 0.3, 10.0)
    assert not one.speak("Hello again.", 2.0, 0.3, 11.0)
    assert one.audible(100.0), "more may follow"
    one.end(Awaits.ANSWER)
    assert one.awaits is Awaits.ANSWER
    assert not one.spoken(13.2)
    assert one.spoken(13.4)
    assert one.audible(17.9)
    assert not one.audible(18.0)
    assert one.over(18.0)


def test_nothing_is_said_after_a_cut() -> None:
    one = reply(ReplyState.MAKING)
    assert one.cut(CutReason.CLIENT_CANCELLED)
    assert not one.speak("Hello.", 1.0, 0.3, 10.0)
    one.end(Awaits.END)
    assert (one.text, one.awaits, one.state) == ("", Awaits.NOTHING, ReplyState.CUT)


def test_a_wordless_reply_is_heard_at_once() -> None:
    one = reply(ReplyState.MAKING)
    one.end(Awaits.END)
    assert one.over(0.0)
