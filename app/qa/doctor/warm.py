"""Warming: every batch size with two kinds of prompts, until none stalls. The first of each compiles kernels."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from app.qa.doctor.client import Endpoint
from app.qa.doctor.findings import Report, Severity
from app.qa.doctor.offers import offers
from app.qa.locales import LOCALES
from schemas.answer import AnswerDone, Question
from schemas.errors import ModelUnavailable, TellerlineError
from schemas.extraction import ExtractionOffer
from schemas.ids import CustomerId
from services.answering.generate import AnswerEndpoint, GemmaAnswerer
from services.answering.knowledge import Passage, load_passages
from services.answering.quote import MAX_QUESTION, Library
from services.guard.breaker import NEVER_OPENS, CircuitBreaker
from services.ports import Clock
from services.timing import SystemClock
from services.understanding.extraction.extract import ExtractionEndpoint, GemmaExtractor

STALL_MS: Final = 300.0
"""More than this above the same bucket's best time is a stall."""
FEWEST_ROUNDS: Final = 2
ROUNDS: Final = 5
PATIENCE_S: Final = 120.0
_CUSTOMER: Final = CustomerId("doctor")
_HALF: Final = MAX_QUESTION // 2
_STRIDE: Final = 7
"""So far from a passage a lap looks for the one beside it: not every two are answered together."""
TOKENS: Final = 48
"""An answer's length: it takes steps enough to draft and to check in every batch."""
AGAIN: Final = 4
"""How many questions are asked again and again, so that their passages are cached."""

Ask = Callable[[int], Awaitable[bool]]
"""Sends one request; the number varies its words. Whether the answer had any text."""


@dataclass(frozen=True, slots=True)
class Bucket:
    """A batch size with a kind of prompt."""

    size: int
    prompt: str


@dataclass
class BucketTiming:
    """One bucket's slowest request in each round, milliseconds."""

    bucket: Bucket
    rounds: list[float]

    @property
    def cold(self) -> bool:
        """Whether the first round stalled."""
        return self.rounds[0] > min(self.rounds) + STALL_MS

    @property
    def stalls(self) -> bool:
        """Whether the last round still does."""
        return self.rounds[-1] > min(self.rounds) + STALL_MS


def _long(offer: ExtractionOffer) -> ExtractionOffer:
    return ExtractionOffer(
        offer.text * 8, offer.locale, (offer.text * 4,) * 2, offer.spans, offer.amounts, offer.payees, offer.asked
    )


def extraction_asks(url: str, model: str, key: str, batch: int) -> tuple[dict[str, Ask], GemmaExtractor]:
    """The real extraction request, short and long; each with candidates of its own, so that each has a new grammar."""
    clock = SystemClock()
    endpoint = ExtractionEndpoint(url, model, key, tenant="doctor", deadline_s=PATIENCE_S, in_flight=batch)
    extractor = GemmaExtractor(endpoint, CircuitBreaker(clock, NEVER_OPENS), clock)
    cases = offers(256, seed=99)

    async def short(number: int) -> bool:
        await extractor.extract(_CUSTOMER, cases[number % len(cases)])
        return True

    async def long(number: int) -> bool:
        await extractor.extract(_CUSTOMER, _long(cases[number % len(cases)]))
        return True

    return {"short": short, "long": long}, extractor


def questions(passages: Sequence[Passage], library: Library, clock: Clock) -> Callable[[int], Question]:
    """One for every number: the words of a passage, on later laps of two, so that others are found for each."""
    every = (Question(p.text[:MAX_QUESTION], LOCALES[p.language]) for p in passages)
    alone = [question for question in every if library.answers(question, clock)]

    def asked(number: int) -> Question:
        lap, place = divmod(number, len(alone))
        first = alone[place]
        others = (alone[(place + lap * _STRIDE + each) % len(alone)] for each in range(len(alone) if lap else 0))
        pairs = (replace(first, text=f"{first.text[:_HALF]} {second.text[:_HALF]}") for second in others)
        return next((both for both in pairs if library.answers(both, clock)), first)

    return asked


def qna_asks(url: str, model: str, key: str, batch: int) -> tuple[dict[str, Ask], GemmaAnswerer]:
    """The real QnA request: with passages that the server has to read, and with some that it has in its cache."""
    clock, passages = SystemClock(), load_passages()
    library = Library.load(passages)
    asked = questions(passages, library, clock)
    endpoint = AnswerEndpoint(
        url,
        model,
        key,
        tenant="doctor",
        first_token_s=PATIENCE_S,
        stall_s=PATIENCE_S,
        total_s=PATIENCE_S,
        in_flight=batch,
        max_tokens=TOKENS,
    )
    answerer = GemmaAnswerer(endpoint, library, CircuitBreaker(clock, NEVER_OPENS), clock)

    async def fresh(number: int) -> bool:
        """Raises ModelUnavailable where no token came, or words that broke off. Tokens without text warm as well."""
        events = [event async for event in answerer.answer(_CUSTOMER, asked(number))]
        done = next(event for event in events if isinstance(event, AnswerDone))
        if done.generated_ms is None or (done.first_token_ms is not None and not done.model):
            raise ModelUnavailable("no answer was streamed")
        return bool(done.model)

    async def again(number: int) -> bool:
        return await fresh(number % AGAIN)

    return {"fresh": fresh, "again": again}, answerer


async def _round(ask: Ask, size: int, start: int) -> tuple[float, int]:
    """The slowest of `size` requests at once, milliseconds, and how many of the answers had no text."""

    async def timed(number: int) -> tuple[float, bool]:
        began = time.perf_counter()
        told = await ask(number)
        return (time.perf_counter() - began) * 1000, told

    got = await asyncio.gather(*(timed(start + i) for i in range(size)))
    return max(taken for taken, _ in got), sum(not told for _, told in got)


async def warm(asks: dict[str, Ask], sizes: Sequence[int], report: Report) -> None:
    """Send every bucket until a round passes without a stall, ROUNDS at most. Fails where one goes on stalling."""
    timings = []
    sent = mute = 0
    for size in sizes:
        for prompt, ask in asks.items():
            timing = BucketTiming(Bucket(size, prompt), [])
            while len(timing.rounds) < FEWEST_ROUNDS or (timing.stalls and len(timing.rounds) < ROUNDS):
                slowest, without_text = await _round(ask, size, sent)
                timing.rounds.append(slowest)
                mute += without_text
                sent += size
            timings.append(timing)
    cold = [f"{t.bucket.size}×{t.bucket.prompt} {t.rounds[0]:.0f} ms" for t in timings if t.cold]
    slow = [f"{t.bucket.size}×{t.bucket.prompt}" for t in timings if t.stalls]
    worst = max(t.rounds[-1] for t in timings)
    report.figures |= {"warmed_buckets": len(timings), "cold_buckets": len(cold), "warm_worst_ms": worst}
    report.add("warm-up", Severity.OK, f"{len(timings)} buckets, {sent} requests, slowest when warm {worst:.0f} ms")
    if cold:
        report.add("cold buckets", Severity.NOTE, f"were cold, warm now: {', '.join(cold)}")
    if mute:
        report.figures["answers_without_text"] = mute
        said = f"{mute} of {sent} answers had no visible text: random weights, or a wrong chat template"
        report.add("answers without text", Severity.WARN, said)
    if slow:
        report.add("stalls", Severity.FAIL, f"still above {STALL_MS:.0f} ms over their best: {', '.join(slow)}")


async def warm_role(role: str, endpoint: Endpoint, model: str, key: str, batch: int, report: Report) -> None:
    """Warm an endpoint with the requests its role will get. A failure is a finding."""
    asks, client = (extraction_asks if role == "extraction" else qna_asks)(endpoint.url, model, key, batch)
    try:
        await warm(asks, range(1, batch + 1), report)
    except TellerlineError as error:
        report.add("warm-up", Severity.FAIL, f"{error.code}: {error.message}")
    finally:
        await client.close()
