"""The question set itself, and what the answers to it must not fall below."""

import asyncio
from datetime import date
from pathlib import Path

import pytest

from app.qa.bench._questions import read_questions
from app.qa.bench.qna import Tally, ask, cases_of
from app.qa.bench.retrieval import library_of, measure, recall
from schemas.answer import Question
from schemas.ids import EN_US
from services.answer.knowledge import load_passages
from services.answer.quote import Library, QuotingAnswerer
from services.answer.retrieve import Retriever
from services.clock import SystemClock

FOLDER = Path(__file__).parents[2] / "data" / "answer"
DAY = date(2026, 11, 21)
PASSAGES = load_passages()


def tally(half: str) -> Tally:
    async def every() -> Tally:
        found = Tally()
        answerer = QuotingAnswerer(Library.load(PASSAGES), SystemClock())
        for case in cases_of(FOLDER, half):
            await ask(answerer, case, found)
        return found

    return asyncio.run(every())


@pytest.mark.parametrize("language", ["en", "ja"])
def test_the_set_is_large_enough_and_its_answers_exist(language: str) -> None:
    halves = read_questions(FOLDER, language)
    for half in halves.values():
        assert len(half.answerable) >= 40
        assert len(half.unanswerable) >= 30
    ids = {p.id for p in PASSAGES if p.language == language and p.holds_on(DAY)}
    for half in halves.values():
        assert {p for entry in half.answerable for p in entry.passages} <= ids
    texts = [entry.q for half in halves.values() for entry in half.answerable]
    assert len(texts) == len(set(texts)), "no question is in both halves"


def test_what_was_tuned_on_stays_right_or_refused() -> None:
    found = tally("development")
    assert found.invented == 0
    assert found.ends["right"] >= 320
    assert found.ends["wrong"] <= 1
    assert found.ends["unanswerable_answered"] <= 2


def test_the_held_half_is_right_or_refused_and_invents_nothing() -> None:
    found = tally("held")
    assert found.invented == 0
    assert found.ends["right"] >= 60
    assert found.ends["wrong"] <= 1
    assert found.ends["unanswerable_answered"] <= 1


def test_the_right_passage_is_among_the_first_three() -> None:
    retriever = Retriever(PASSAGES)
    assert recall(retriever, "development", FOLDER, DAY, 3) >= 0.97
    assert recall(retriever, "held", FOLDER, DAY, 3) >= 0.92


def test_a_large_library_is_mixed_and_searched() -> None:
    passages = library_of(300)
    assert len([p for p in passages if p.language == "en"]) == 300
    taken = measure(Retriever(passages), [Question("What is the overdraft fee?", EN_US)], DAY, 3)
    assert len(taken) == 3
