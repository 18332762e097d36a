"""Load that our own client makes: extraction end to end, and hostile prompts; rows like those of vLLM's generator."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

from app.qa.doctor.offers import offers
from deploy.bench.extraction import measure
from deploy.reporting import percentile
from deploy.vllm.sweep.plan import LoadJob
from deploy.vllm.sweep.report import PERCENTILES
from schemas.extraction import Fallback
from services.guard.breaker import NEVER_OPENS, CircuitBreaker
from services.timing.clock import SystemClock
from services.understanding.extraction.extract import ExtractionEndpoint, GemmaExtractor

ROOT = Path(__file__).parents[3]
DEADLINE_S = 60.0


def run(job: LoadJob, url: str, model: str) -> dict[str, Any]:
    """What `vllm bench serve` would have left of this job, as far as our client knows it."""
    count, at_once = int(job.flags["num-prompts"]), int(job.flags["max-concurrency"])
    if job.load == "hostile":
        return asyncio.run(hostile(url, model, count))
    return asyncio.run(_extraction(url, model, count, at_once))


async def _extraction(url: str, model: str, count: int, at_once: int) -> dict[str, Any]:
    """The real prompt with new candidates in every request; connections and grammar are warm."""
    endpoint = ExtractionEndpoint(url, model, deadline_s=DEADLINE_S, in_flight=at_once)
    cases = offers(count, seed=at_once)
    await measure(endpoint, cases[: 2 * at_once], at_once)
    done = await measure(endpoint, cases, at_once)
    times = {f"{p}_e2el_ms": percentile(done.elapsed_ms, int(p[1:])) for p in PERCENTILES}
    return {"completed": len(done.elapsed_ms), "failed": count - len(done.elapsed_ms)} | times


async def hostile(url: str, model: str, count: int) -> dict[str, Any]:
    """Hostile prompts: how many answers kept to the schema and to what was offered; `failed` are those that did not."""
    sys.path.insert(0, str(ROOT))
    from tests.contract.extractor_suite import CUSTOMER, adversarial_cases, check

    clock = SystemClock()
    endpoint = ExtractionEndpoint(url, model, deadline_s=DEADLINE_S, in_flight=8, waiting=count)
    extractor = GemmaExtractor(endpoint, CircuitBreaker(clock, NEVER_OPENS), clock)
    cases = adversarial_cases(count)
    got = await asyncio.gather(*(extractor.extract(CUSTOMER, case.offer) for case in cases))
    await extractor.close()
    unoffered = 0
    for case, extraction in zip(cases, got, strict=True):
        try:
            check(case, extraction)
        except AssertionError:
            unoffered += 1
    unreadable = sum(extraction.fallback is Fallback.UNREADABLE for extraction in got)
    figures = {"not of the schema": unreadable, "not offered": unoffered}
    times = {f"{p}_e2el_ms": percentile([one.elapsed_ms for one in got], int(p[1:])) for p in PERCENTILES}
    return {"completed": len(got), "failed": max(unreadable, unoffered)} | figures | times
