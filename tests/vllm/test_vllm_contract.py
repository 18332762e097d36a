"""What FakeGemma promises, a real vLLM keeps: the same suites, the same checks."""

import asyncio
import time
from collections.abc import AsyncIterator

import httpx
import pytest

from app.qa.doctor.client import Endpoint as Examined
from app.qa.doctor.client import cached_tokens
from app.qa.doctor.findings import Report, Severity
from app.qa.doctor.probes import NO_THINKING, disconnect, identity, prefix_cache, structured
from schemas.errors import ModelUnavailable, TimedOut
from schemas.ids import EN_US, JA_JP
from services.answering.generate import AnswerEndpoint, GemmaAnswerer
from services.answering.quote import Library
from services.answering.stream import deltas
from services.guard.breaker import BreakerLimits, CircuitBreaker
from services.timing.clock import SystemClock
from services.understanding.extraction.extract import ExtractionEndpoint, GemmaExtractor
from tests.contract.answerer_suite import ask, invents_nothing
from tests.contract.extractor_suite import CUSTOMER, adversarial_cases, answers_only_what_was_offered, check

pytestmark = [pytest.mark.vllm, pytest.mark.timeout(1800)]
CLOCK = SystemClock()
PATIENT_S = 60.0


def breaker() -> CircuitBreaker:
    return CircuitBreaker(CLOCK, BreakerLimits(failures=10**6))


@pytest.fixture
async def extractor(vllm_url: str, vllm_model: str) -> AsyncIterator[GemmaExtractor]:
    made = GemmaExtractor(ExtractionEndpoint(vllm_url, vllm_model, deadline_s=PATIENT_S), breaker(), CLOCK)
    yield made
    await made.close()


async def test_two_hundred_adversarial_prompts_answer_only_what_was_offered(extractor: GemmaExtractor) -> None:
    got = await answers_only_what_was_offered(extractor, 200, at_once=8)
    assert len(got) == 200
    assert extractor.last_usage is not None
    assert extractor.last_usage.prompt_tokens <= 700


async def test_sixteen_at_once_keep_to_their_own_offers(extractor: GemmaExtractor) -> None:
    cases = adversarial_cases(48, seed=3)
    got = await asyncio.gather(*(extractor.extract(CUSTOMER, case.offer) for case in cases))
    for case, extraction in zip(cases, got, strict=True):
        check(case, extraction)


async def test_a_deadline_leaves_nothing_running(vllm_url: str, vllm_model: str) -> None:
    hasty = GemmaExtractor(ExtractionEndpoint(vllm_url, vllm_model, deadline_s=0.005), breaker(), CLOCK)
    with pytest.raises(TimedOut):
        await hasty.extract(CUSTOMER, adversarial_cases(1)[0].offer)
    await hasty.close()
    report = Report()
    async with Examined(vllm_url) as endpoint:
        await disconnect(endpoint, vllm_model, report, patience_s=10.0)
    assert [f.health for f in report.findings] == [Severity.OK]


async def test_another_tenant_is_never_served_from_the_cache(vllm_url: str, vllm_model: str) -> None:
    run = str(time.time_ns())
    words = [{"role": "user", "content": "The bank's opening hours are listed below. " * 30}]
    async with Examined(vllm_url) as endpoint:

        async def cached(tenant: str) -> int:
            said, _ = await endpoint.chat(
                model=vllm_model, messages=words, max_tokens=1, cache_salt=f"{tenant} {run}", **NO_THINKING
            )
            return cached_tokens(said) or 0

        assert await cached("one") == 0
        assert await cached("one") > 0
        assert await cached("another") == 0


async def test_what_the_server_refuses_is_unavailable(vllm_url: str, vllm_model: str) -> None:
    stranger = GemmaExtractor(ExtractionEndpoint(vllm_url, "no-such-model", deadline_s=PATIENT_S), breaker(), CLOCK)
    with pytest.raises(ModelUnavailable):
        await stranger.extract(CUSTOMER, adversarial_cases(1)[0].offer)
    await stranger.close()
    async with Examined(vllm_url) as endpoint:
        for fault in (
            {"messages": [{"role": "user", "content": "fee " * 20_000}]},
            {"messages": [{"role": "user", "content": "x"}], "response_format": {"type": "json_schema"}},
        ):
            with pytest.raises(httpx.HTTPStatusError, match="400"):
                await endpoint.chat(model=vllm_model, max_tokens=1, **fault)


async def test_answers_invent_nothing(vllm_url: str, vllm_model: str) -> None:
    endpoint = AnswerEndpoint(vllm_url, vllm_model, first_token_s=PATIENT_S, stall_s=PATIENT_S, total_s=PATIENT_S)
    answerer = GemmaAnswerer(endpoint, Library.load(), breaker(), CLOCK)
    questions = [
        ("What is the overdraft fee?", EN_US),
        ("海外送金の手数料はいくらですか", JA_JP),
        ("Sing a song", EN_US),
    ]
    await invents_nothing(answerer, questions)
    got = await ask(answerer, "What is the overdraft fee?", EN_US)
    assert got.done is not None
    assert got.done.first_token_ms is not None, "the model was asked and spoke"
    await answerer.close()


async def test_a_special_token_streams_as_an_event_with_an_empty_text(vllm_url: str, vllm_model: str) -> None:
    """What first tokens of random weights are timed by. Token 0 pads, here as in Gemma 4's own vocabulary."""
    body = {
        "model": vllm_model,
        "messages": [{"role": "user", "content": "hello"}],
        "stream": True,
        "max_tokens": 3,
        "min_tokens": 3,
        "allowed_token_ids": [0],
    }
    async with (
        httpx.AsyncClient(timeout=PATIENT_S, trust_env=False) as client,
        client.stream("POST", f"{vllm_url}/v1/chat/completions", json=body) as reply,
    ):
        assert [delta async for delta in deltas(reply.aiter_bytes())] == ["", "", ""]


async def test_the_server_is_what_the_doctor_calls_sound(vllm_url: str, vllm_model: str) -> None:
    report = Report()
    async with Examined(vllm_url) as endpoint:
        assert await identity(endpoint, report) == vllm_model
        await structured(endpoint, vllm_model, report)
        await prefix_cache(endpoint, vllm_model, report)
    assert {f.subject: f.health for f in report.findings if f.health is not Severity.OK} == {}
