"""Answers through our own client: real questions, real passages, the real prompt."""

from __future__ import annotations

import asyncio
from pathlib import Path

from app.qa.bench._report import percentile
from app.qa.bench.qna import cases_of
from deploy.vllm.gpu.record import Row
from schemas.answer import Done, Question
from schemas.ids import CustomerId
from services.answer.generate import Endpoint, GemmaAnswerer
from services.answer.quote import Library
from services.clock import SystemClock
from services.guard.breaker import BreakerLimits, CircuitBreaker

QUESTIONS = Path(__file__).parents[3] / "tests" / "data" / "answer"
PATIENT_S = 30.0


def answerable(library: Library, clock: SystemClock) -> list[Question]:
    """Questions whose evidence is strong enough to reach the model."""
    asked = [case.question for case in cases_of(QUESTIONS, "development") if case.passages]
    return [question for question in asked if library.refusal(question, library.find(question, clock)) is None]


async def first_words(url: str, model: str, count: int, at_once: int) -> Row:
    """When the first token came, over `count` answers, `at_once` at a time: of the real prompt, through our own client.

    Random weights seldom say anything: `told` counts the answers that had text, `generated` those that had tokens.
    """
    clock, library = SystemClock(), Library.load()
    patient = Endpoint(
        url, model, first_token_s=PATIENT_S, stall_s=PATIENT_S, total_s=2 * PATIENT_S, in_flight=at_once, max_tokens=48
    )
    answerer = GemmaAnswerer(patient, library, CircuitBreaker(clock, BreakerLimits(failures=10**6)), clock)
    questions = answerable(library, clock)
    waiting = iter(questions[number % len(questions)] for number in range(count + at_once))
    done: list[Done] = []

    async def worker() -> None:
        for question in waiting:
            events = [event async for event in answerer.answer(CustomerId("bench"), question)]
            done.extend(event for event in events if isinstance(event, Done))

    try:
        await asyncio.gather(*(worker() for _ in range(at_once)))
    finally:
        await answerer.close()
    warm = done[at_once:]
    first = [end.generated_ms for end in warm if end.generated_ms is not None]
    told = sum(end.first_token_ms is not None for end in warm)
    row: Row = {"at once": at_once, "answers": len(warm), "generated": len(first), "told": told}
    return row | {f"first token p{q}_ms": percentile(first, q) for q in (50, 95, 99)}
