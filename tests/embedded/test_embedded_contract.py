"""What a small real model says reaches nobody but through the walls: the suites of any model, over llama.cpp's server.

`make embedded` makes its environment. The clients are the product's own, as they call vLLM; nothing of them is set
otherwise but their patience. It is a test of the walls: as a model it knows too little to serve anyone.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from schemas.errors import ModelUnavailable, TimedOut
from schemas.extraction import Fallback
from schemas.ids import EN_US, JA_JP
from services.answering.generate import AnswerEndpoint, GemmaAnswerer
from services.answering.quote import Library
from services.guard.breaker import BreakerLimits, BreakerState, CircuitBreaker
from services.timing.clock import SystemClock
from services.understanding.extraction.extract import ExtractionEndpoint, GemmaExtractor
from tests.contract.answerer_suite import ask, invents_nothing
from tests.contract.extractor_suite import CUSTOMER, adversarial_cases, check
from tests.embedded.server import Start

pytestmark = pytest.mark.timeout(900)
CLOCK = SystemClock()
MODEL = "SmolLM2-135M-Instruct"
PATIENT_S = 300.0
HOSTILE_PROMPTS = 12
FEE = "What is the overdraft fee?"
QUOTED = "the fee schedule"
QUESTIONS = [
    (FEE, EN_US),
    ("What does it cost to send money abroad?", EN_US),
    ("When are you open on Saturdays?", EN_US),
    ("How do I change my PIN?", EN_US),
    ("海外送金の手数料はいくらですか", JA_JP),
    ("カードをなくしたらどうすればいいですか", JA_JP),
]


class Overheard(GemmaAnswerer):
    """The product's client; `spoke` is set by the first words that it receives."""

    def __init__(self, endpoint: AnswerEndpoint, library: Library, watch: CircuitBreaker) -> None:
        super().__init__(endpoint, library, watch, CLOCK)
        self.spoke = asyncio.Event()

    async def _next(self, words: AsyncGenerator[str, None], telling: Any) -> str | None:
        delta = await super()._next(words, telling)
        if delta:
            self.spoke.set()
        return delta


def breaker() -> CircuitBreaker:
    return CircuitBreaker(CLOCK, BreakerLimits(failures=2, rest_s=0.5))


@asynccontextmanager
async def extracting(
    url: str, deadline_s: float = PATIENT_S, watch: CircuitBreaker | None = None
) -> AsyncIterator[GemmaExtractor]:
    made = GemmaExtractor(ExtractionEndpoint(url, MODEL, deadline_s=deadline_s), watch or breaker(), CLOCK)
    yield made
    await made.close()


@asynccontextmanager
async def answering(
    url: str, first_token_s: float = PATIENT_S, watch: CircuitBreaker | None = None, max_tokens: int = 48
) -> AsyncIterator[Overheard]:
    endpoint = AnswerEndpoint(
        url, MODEL, first_token_s=first_token_s, stall_s=60.0, total_s=PATIENT_S, max_tokens=max_tokens
    )
    made = Overheard(endpoint, Library.load(), watch or breaker())
    yield made
    await made.close()


async def until_closed(watch: CircuitBreaker, use: Callable[[], Awaitable[object]]) -> None:
    """Use it as calls would, until the breaker closes by itself."""
    async with asyncio.timeout(PATIENT_S):
        while watch.state is not BreakerState.CLOSED:
            await asyncio.sleep(0.1)
            await asyncio.gather(use(), return_exceptions=True)


async def test_hostile_prompts_are_answered_only_with_what_was_offered(embedded: str) -> None:
    """This model spells letter by letter: a line that 16 tokens do not hold is cut off, and the caller is asked."""
    async with extracting(embedded) as extractor:
        for case in adversarial_cases(HOSTILE_PROMPTS):
            got = await extractor.extract(CUSTOMER, case.offer)
            check(case, got)
            assert (got.fallback is Fallback.UNREADABLE) == (got.reason == "truncated"), got
        assert extractor.last_usage is not None
        assert extractor.last_usage.completion_tokens > 0


async def test_answers_invent_nothing(embedded: str) -> None:
    async with answering(embedded) as answerer:
        ends = await invents_nothing(answerer, QUESTIONS)
        got = await ask(answerer, FEE, EN_US)
    assert sum(ends.values()) == len(QUESTIONS)
    assert got.done is not None
    assert got.done.model == MODEL, "the model was asked"
    assert got.done.first_token_ms is not None, "and spoke"


async def test_a_deadline_cuts_a_slow_answer_and_the_server_serves_on(embedded: str) -> None:
    async with extracting(embedded, deadline_s=0.01) as hasty:
        with pytest.raises(TimedOut):
            await hasty.extract(CUSTOMER, adversarial_cases(1)[0].offer)
    async with answering(embedded, first_token_s=0.01) as hasty_answerer:
        got = await ask(hasty_answerer, FEE, EN_US)
    assert got.done is not None
    assert got.done.model == ""
    assert got.sentences[0].citations[0].title == QUOTED
    async with extracting(embedded) as extractor:
        await extractor.extract(CUSTOMER, adversarial_cases(1)[0].offer)


async def test_a_server_killed_in_mid_stream_leaves_the_quoted_passage_and_the_breaker_closes_again(
    start: Start,
) -> None:
    server, watch = start(), breaker()
    async with answering(server.url, watch=watch) as answerer:
        telling = asyncio.create_task(ask(answerer, FEE, EN_US))
        await answerer.spoke.wait()
        server.kill()
        got = await telling
        assert got.done is not None
        assert got.done.model == ""
        assert got.done.first_token_ms is not None
        assert got.sentences[0].citations[0].title == QUOTED
        await ask(answerer, FEE, EN_US)
        assert watch.state is not BreakerState.CLOSED
        await asyncio.to_thread(start)
        await until_closed(watch, lambda: ask(answerer, FEE, EN_US))


async def test_what_is_extracted_is_unavailable_while_the_server_is_gone_and_again_when_it_is_back(
    start: Start,
) -> None:
    server, watch = start(), breaker()
    offer = adversarial_cases(1)[0].offer
    async with extracting(server.url, watch=watch) as extractor:
        asked = asyncio.create_task(extractor.extract(CUSTOMER, offer))
        await asyncio.sleep(0.05)
        server.kill()
        for each in (asked, extractor.extract(CUSTOMER, offer)):
            with pytest.raises(ModelUnavailable):
                await each
        assert watch.state is not BreakerState.CLOSED
        await asyncio.to_thread(start)
        await until_closed(watch, lambda: extractor.extract(CUSTOMER, offer))
