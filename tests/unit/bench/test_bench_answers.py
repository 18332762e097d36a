"""Answers to a read-back in audio time: nothing is booked before the caller is done, whatever the machine does."""

import pytest

from deploy.bench._answers.said import AnswerCase, cases, load
from deploy.bench.answers import A_CALL_S, evenly, figures_of, in_audio_time, within

SAMPLE = [case for case in cases(load()) if not case.unseen and case.kind != "plain"][5::23]
GAPS = (0.0, 0.2, 0.4, 0.6, 0.7)


def _case(words: str, pause_s: float, *, moves: bool) -> AnswerCase:
    order = "send fifty dollars to catherine nguyen"
    return AnswerCase(order, "en-US", "alex-morgan", "some:voice", "test", words, pause_s, moves=moves, unseen=False)


def test_the_corpus_has_what_was_promised() -> None:
    found = cases(load())
    assert sum(case.locale == "en-US" for case in found) >= 400
    assert sum(case.locale == "ja-JP" for case in found) >= 200
    assert {case.pause_s for case in found} == {0.0, 0.1, 0.2, 0.3, 0.45, 0.6, 0.7}
    assert len({case.voice for case in found}) >= 6
    assert len({(case.voice, case.words, case.pause_s) for case in found}) == len(found)


@pytest.mark.parametrize(("minutes", "least", "most"), [(20, 200, 260), (2, 15, 30), (600, 749, 749)])
def test_a_run_in_real_time_is_as_long_as_it_may_be_and_leaves_no_kind_out(minutes: int, least: int, most: int) -> None:
    every = cases(load())
    chosen = evenly(every, within(every, minutes))
    assert least <= len(chosen) <= most
    assert len(set(chosen)) == len(chosen)
    assert {case.locale for case in chosen} == {"en-US", "ja-JP"}
    busiest = max(sum(case.customer == customer for case in chosen) for customer in {case.customer for case in chosen})
    assert busiest * A_CALL_S <= minutes * 60 + A_CALL_S


async def test_nothing_is_booked_before_the_caller_is_done() -> None:
    figures = figures_of(await in_audio_time(SAMPLE))
    assert figures["answers"] == len(SAMPLE) > 15
    assert figures["booked_before_the_end"] == 0
    assert figures["booked_twice"] == 0
    assert figures["outcome_unheard"] == 0


@pytest.mark.parametrize("pause_s", GAPS)
async def test_pieces_of_a_sentence_are_one_answer(pause_s: float) -> None:
    """As a recogniser gives them that ends a sentence at every pause."""
    said = ("yes | actually | no", "yes | wait | don't | do it", "okay | but | make it ten dollars")
    answered = await in_audio_time([_case(words, pause_s, moves=False) for words in said])
    assert [one.times_moved for one in answered] == [0, 0, 0]


async def test_a_plain_yes_is_booked_within_the_wait_and_told() -> None:
    (answered,) = await in_audio_time([_case("yes", 0.0, moves=True)])
    assert answered.times_moved == 1
    assert answered.told_s is not None
    assert 0.75 <= answered.told_s <= 0.9
    assert answered.outcome_heard
