"""`tellerline bench qna`: are answers right or refused, is anything invented, and when does the first sentence come."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

import typer

from app.qa.figures import Figure
from app.qa.locales import LOCALES
from deploy.bench._questions import read_questions
from deploy.reporting import percentile, publish
from schemas.answer import AnswerDone, Question, Refused, SentenceReady
from schemas.ids import CustomerId, language
from services.answering.facts import facts_of
from services.answering.generate import AnswerEndpoint, GemmaAnswerer
from services.answering.quote import Library, QuotingAnswerer
from services.guard.breaker import CircuitBreaker
from services.ports import Answerer
from services.timing.clock import SystemClock


@dataclass
class AnswerTally:
    """How answers ended, and the stamps of those that were given."""

    ends: Counter[str] = field(default_factory=Counter)
    invented: int = 0
    retrieve_ms: list[float] = field(default_factory=list)
    first_token_ms: list[float] = field(default_factory=list)
    first_sentence_ms: list[float] = field(default_factory=list)
    total_ms: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class QuestionCase:
    """A question and the passages that answer it; none, if nothing does."""

    question: Question
    passages: frozenset[str]


async def ask(answerer: Answerer, case: QuestionCase, tally: AnswerTally) -> None:
    """Ask one question and score it."""
    sentences: list[SentenceReady] = []
    refused: Refused | None = None
    async for event in answerer.answer(CustomerId("bench"), case.question):
        if isinstance(event, SentenceReady):
            sentences.append(event)
        elif isinstance(event, Refused):
            refused = event
        elif isinstance(event, AnswerDone):
            _stamp(event, tally)
    cited = {citation.passage for sentence in sentences for citation in sentence.citations}
    facts = facts_of(language(case.question.locale))
    for sentence in sentences:
        tally.invented += len(facts.unstated(sentence.text, " ".join(c.text for c in sentence.citations)))
    if not case.passages:
        tally.ends["unanswerable_refused" if refused or not sentences else "unanswerable_answered"] += 1
    elif refused or not sentences:
        tally.ends["refused"] += 1
    else:
        tally.ends["right" if cited & case.passages else "wrong"] += 1


def _stamp(done: AnswerDone, tally: AnswerTally) -> None:
    tally.retrieve_ms.append(done.retrieve_ms)
    tally.total_ms.append(done.total_ms)
    if done.first_token_ms is not None:
        tally.first_token_ms.append(done.first_token_ms)
    if done.first_sentence_ms is not None:
        tally.first_sentence_ms.append(done.first_sentence_ms)


def cases_of(folder: Path, half: str) -> list[QuestionCase]:
    """One set's questions of every language."""
    cases = []
    for name, locale in LOCALES.items():
        questions = read_questions(folder, name)[half]
        cases += [QuestionCase(Question(entry.q, locale), frozenset(entry.passages)) for entry in questions.answerable]
        cases += [QuestionCase(Question(text, locale), frozenset()) for text in questions.unanswerable]
    return cases


@asynccontextmanager
async def answerer_for(url: str, model: str, key: str) -> AsyncIterator[Answerer]:
    """The model's answerer where a URL is given, else the one that quotes."""
    clock, library = SystemClock(), Library.load()
    if not url:
        yield QuotingAnswerer(library, clock)
        return
    answerer = GemmaAnswerer(AnswerEndpoint(url, model, key), library, CircuitBreaker(clock), clock)
    try:
        yield answerer
    finally:
        await answerer.close()


async def _run(url: str, model: str, key: str, cases: list[QuestionCase]) -> AnswerTally:
    tally = AnswerTally()
    async with answerer_for(url, model, key) as answerer:
        for case in cases:
            await ask(answerer, case, tally)
    return tally


def bench(
    url: Annotated[str, typer.Option(help="an OpenAI-compatible server; without one, passages are quoted")] = "",
    model: str = "google/gemma-4-E4B-it",
    key: str = "",
    half: Literal["development", "held", "fresh"] = "fresh",
    questions: Path = Path("tests/data/answer"),
    json: Path | None = None,
) -> None:
    """Right, refused, wrong and invented over the demo bank's documents, with the stamps of the answer's parts."""
    cases = cases_of(questions, half)
    tally = asyncio.run(_run(url, model, key, cases))
    ends = ("right", "refused", "wrong", "unanswerable_refused", "unanswerable_answered")
    figures: dict[str, Figure] = {end: tally.ends[end] for end in ends}
    figures["invented_facts"] = tally.invented
    for name, stamps in (
        ("retrieve", tally.retrieve_ms),
        ("first_token", tally.first_token_ms),
        ("first_sentence", tally.first_sentence_ms),
        ("total", tally.total_ms),
    ):
        if stamps:
            figures |= {f"{name}_p50_ms": percentile(stamps, 50), f"{name}_p95_ms": percentile(stamps, 95)}
    how = f"model {model} at {url}" if url else "no model, passages quoted"
    publish("qna", f"{len(cases)} questions of the {half} set, {how}", figures, json)
