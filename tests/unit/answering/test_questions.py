"""The question set itself, and what the answers to it must not fall below."""

import asyncio
from datetime import date
from pathlib import Path

import pytest

from deploy.bench._questions import read_questions
from deploy.bench.evidence import fit, trials, unseen
from deploy.bench.qna import AnswerTally, ask, cases_of
from deploy.bench.retrieval import library_of, measure, recall
from schemas.answer import Question
from schemas.ids import EN_US, JA_JP
from services.answering.knowledge import load_passages
from services.answering.quote import Library, QuotingAnswerer
from services.answering.retrieve import Retriever
from services.dialogue.rules import dialogue_rules
from services.timing.clock import SystemClock

FOLDER = Path(__file__).parents[2] / "data" / "answer"
DAY = date(2026, 11, 21)
PASSAGES = load_passages()


def tally(half: str) -> AnswerTally:
    async def every() -> AnswerTally:
        found = AnswerTally()
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
        assert len(half.unanswerable) >= 25
    ids = {p.id for p in PASSAGES if p.language == language and p.effective_from <= DAY <= p.effective_to}
    for half in halves.values():
        assert {p for entry in half.answerable for p in entry.passages} <= ids
    texts = [entry.q for half in halves.values() for entry in half.answerable]
    assert len(texts) == len(set(texts)), "no question is in both halves"


def test_what_was_tuned_on_stays_right_or_refused() -> None:
    found = tally("development")
    assert found.invented == 0
    assert found.ends["right"] >= 345
    assert found.ends["wrong"] <= 1
    assert found.ends["unanswerable_answered"] <= 5


@pytest.mark.parametrize(("half", "right", "answered"), [("held", 80, 1), ("fresh", 74, 2)])
def test_what_was_not_tuned_on_is_right_or_refused_and_invents_nothing(half: str, right: int, answered: int) -> None:
    found = tally(half)
    assert found.invented == 0
    assert found.ends["right"] >= right
    assert found.ends["wrong"] <= 1
    assert found.ends["unanswerable_answered"] <= answered


@pytest.mark.parametrize("asked", dialogue_rules().questions.values())
def test_what_is_asked_about_an_order_is_answered(asked: str) -> None:
    assert Library.load(PASSAGES).answers(Question(asked, EN_US if asked.isascii() else JA_JP), SystemClock())


def test_the_right_passage_is_among_the_first_three() -> None:
    retriever = Retriever(PASSAGES)
    for half, least in (("development", 0.98), ("held", 0.97), ("fresh", 0.95)):
        assert recall(retriever, half, FOLDER, DAY, 3) >= least


def test_the_fit_tells_right_passages_from_the_next_best() -> None:
    data = list(trials(Library.load(PASSAGES), cases_of(FOLDER, "held"), DAY))
    assert any(trial.weight < 1 for trial in data), "questions are asked again without their answers"
    coverage, score, _, constant = fit(data)
    assert coverage > 0
    assert score > 0
    assert constant < 0
    likely, right = unseen(data), [trial.right for trial in data]
    assert likely[right].mean() > likely[[not each for each in right]].mean() + 0.3


def test_a_large_library_is_mixed_and_searched() -> None:
    passages = library_of(300)
    assert len([p for p in passages if p.language == "en"]) == 300
    taken = measure(Retriever(passages), [Question("What is the overdraft fee?", EN_US)], DAY, 3)
    assert len(taken) == 3
