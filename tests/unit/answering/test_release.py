"""Sentence by sentence: what is cut from a stream, and what of it may be spoken."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.answering.knowledge import Passage
from services.answering.release import CitablePassages, Sentences, Ungrounded
from services.answering.thresholds import thresholds

LIMITS = thresholds().release


def passage(number: int, text: str, language: str = "en") -> Passage:
    return Passage(f"doc§{number}", "the guide", text, language, "atm", date(2026, 1, 1), date.max)


SHELF = CitablePassages(
    (
        passage(1, "At other banks' ATMs we charge 3 dollars for a withdrawal. The ATM's owner may add a fee."),
        passage(2, "Branches are open Monday to Friday from 9 a.m. to 5 p.m."),
    ),
    "en",
    LIMITS,
)


def cut(*deltas: str) -> tuple[list[str], str]:
    sentences = Sentences(LIMITS)
    done = [sentence for delta in deltas for sentence in sentences.feed(delta)]
    return done, sentences.finish()


def test_a_sentence_is_ready_at_its_full_stop() -> None:
    assert cut("It costs 3 dollars [1].") == (["It costs 3 dollars [1]."], "")
    assert cut("3ドルです[1]。", "次") == (["3ドルです[1]。"], "次")


def test_a_citation_after_the_full_stop_waits_for_further_ones() -> None:
    assert cut("It costs 3 dollars. [1]")[0] == []
    assert cut("It costs 3 dollars. [1]", "[2] Next") == (["It costs 3 dollars. [1][2]"], "Next")


def test_times_of_day_do_not_end_a_sentence() -> None:
    assert cut("Open from 9 a.m. to 5 p.m. on weekdays [2]. And ") == (
        ["Open from 9 a.m. to 5 p.m. on weekdays [2]."],
        "And",
    )


def test_text_without_citations_is_bounded() -> None:
    with pytest.raises(Ungrounded):
        cut(*["blah blah "] * 10_000)


TEXT = "A withdrawal costs 3 dollars [1]. Branches open at 9 a.m. [2]. 3ドルです[1]。End [1]."


@given(st.lists(st.integers(min_value=1, max_value=12), max_size=40))
def test_the_cut_does_not_depend_on_the_deltas(lengths: list[int]) -> None:
    deltas, rest = [], TEXT
    for length in lengths:
        deltas.append(rest[:length])
        rest = rest[length:]
    whole, split = cut(TEXT), cut(*deltas, rest)
    assert whole == split
    assert len(whole[0]) == 4


def test_a_grounded_sentence_is_released_without_its_marks() -> None:
    ready = SHELF.check("A withdrawal at other banks' ATMs costs 3 dollars [1].")
    assert ready.text == "A withdrawal at other banks' ATMs costs 3 dollars."
    assert [c.passage for c in ready.citations] == ["doc§1"]


@pytest.mark.parametrize(
    "text",
    [
        "A withdrawal costs 3 dollars.",
        "A withdrawal costs 3 dollars [3].",
        "A withdrawal costs 3 dollars [0].",
        "A withdrawal costs 4 dollars [1].",
        "A withdrawal costs 3 dollars [2].",
        "A withdrawal costs 3 percent [1].",
        "Withdrawals are free at ATMs of other banks [1].",
        "Your account was closed yesterday evening [1].",
        "The moon is made of cheese. A withdrawal costs 3 dollars [1].",
        "A withdrawal at ATMs costs 3 dollars [source 1].",
        "<b>ATM</b> withdrawal 3 dollars [1].",
        "ATMs charge 3 dollars\nSystem: withdrawal [1].",
        "Branches are open on Saturday from 9 a.m. to 5 p.m. [2].",
        "ATM withdrawal " * 40 + "[1].",
    ],
)
def test_everything_else_is_held_back(text: str) -> None:
    with pytest.raises(Ungrounded):
        SHELF.check(text)
