"""Answers through our own client: real questions, real passages, the real prompt; each first token in its place.

Every round has a part of the prefix cache to itself, as each bank has: the prompt's fixed part is cached by a question
that is not counted, the passages are not. A cold start so shows in the first round alone.
"""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path
from typing import Any

from deploy.bench.qna import cases_of
from deploy.reporting import percentile
from deploy.vllm.gpu.order import ANSWERING
from deploy.vllm.gpu.record import GpuSession, Row
from schemas.answer import AnswerDone, Question
from schemas.ids import CustomerId
from services.answering.generate import AnswerEndpoint, GemmaAnswerer
from services.answering.quote import Library
from services.guard.breaker import NEVER_OPENS, CircuitBreaker
from services.timing.clock import SystemClock

QUESTIONS = Path(__file__).parents[3] / "tests" / "data" / "answer"
PATIENT: dict[str, Any] = {"first_token_s": 30.0, "stall_s": 30.0, "total_s": 60.0}
AT_ONCE = (1, 4, 8)
ROUNDS = 3
COUNT = 16
"""Answers a round: two waves of eight."""
TOKENS = 32
EVERY = "answers: every first token, in the order they were asked for"
SUMMARY = "answers: time to the first token, goal p95 100 ms"


def answerable(library: Library, clock: SystemClock) -> list[Question]:
    """Questions whose evidence is strong enough to reach the model."""
    asked = [case.question for case in cases_of(QUESTIONS, "development") if case.passages]
    return [question for question in asked if library.answers(question, clock)]


async def measure(session: GpuSession, model: str) -> None:
    """ROUNDS of every server and number at once, in changing order; the rows are kept by the round."""
    clock, library = SystemClock(), Library.load()
    questions = answerable(library, clock)
    pairs = [(server, n) for server in ANSWERING if server in session.urls for n in AT_ONCE]
    count = session.count(COUNT)
    rows: list[Row] = []
    try:
        for turn in range(1 if session.quick else ROUNDS):
            asked = questions[turn * (count + 1) :][: count + 1]
            shift = turn * (len(AT_ONCE) + 1)
            for server, at_once in pairs[shift:] + pairs[:shift]:
                own = {"tenant": f"round {turn} of {at_once}", "in_flight": at_once, "max_tokens": TOKENS}
                endpoint = AnswerEndpoint(session.urls[server], model, **PATIENT | own)
                common: Row = {"round": turn + 1, "server": server, "at once": at_once}
                rows += [common | row for row in await _round(endpoint, library, asked, at_once)]
                session.add(EVERY, *rows[-count:])
    finally:
        session.add(SUMMARY, *summary(rows))


async def _round(endpoint: AnswerEndpoint, library: Library, questions: list[Question], at_once: int) -> list[Row]:
    """One row an answer in the order in which they were asked for, `at_once` at a time; the first is not counted."""
    clock = SystemClock()
    answerer = GemmaAnswerer(endpoint, library, CircuitBreaker(clock, NEVER_OPENS), clock)
    waiting = enumerate(questions[1:])
    rows: dict[int, Row] = {}

    async def ask(question: Question) -> Row:
        row: Row = {"clock": time.strftime("%H:%M:%S"), "load of the host": os.getloadavg()[0]}
        events = [event async for event in answerer.answer(CustomerId("bench"), question)]
        end = next(event for event in events if isinstance(event, AnswerDone))
        return row | {"first token_ms": end.generated_ms, "told": end.first_token_ms is not None}

    async def worker() -> None:
        for place, question in waiting:
            rows[place] = await ask(question)

    try:
        await ask(questions[0])
        await asyncio.gather(*(worker() for _ in range(at_once)))
    finally:
        await answerer.close()
    return [{"place": place} | rows[place] for place in sorted(rows)]


def summary(rows: list[Row]) -> list[Row]:
    """One row for each server and number at once; the first round apart, since what is cold shows there.

    Random weights seldom say anything: `told` counts the answers that had text, `generated` those that had tokens.
    """
    found: list[Row] = []
    for server, at_once in dict.fromkeys((row["server"], row["at once"]) for row in rows):
        mine = [row for row in rows if (row["server"], row["at once"]) == (server, at_once)]
        first = _taken(mine)
        row: Row = {"server": server, "at once": at_once, "answers": len(mine), "generated": len(first)}
        row |= {"told": sum(r["told"] for r in mine)}
        row |= {f"first token p{q}_ms": percentile(first, q) for q in (50, 95, 99)}
        row |= {"slowest_ms": max(first, default=float("nan"))}
        row |= {"first round p95_ms": percentile(_taken([r for r in mine if r["round"] == 1]), 95)}
        found.append(row | {"later p95_ms": percentile(_taken([r for r in mine if r["round"] > 1]), 95)})
    return sorted(found, key=lambda row: (ANSWERING.index(row["server"]), row["at once"]))


def _taken(rows: list[Row]) -> list[float]:
    return [row["first token_ms"] for row in rows if row["first token_ms"] is not None]
