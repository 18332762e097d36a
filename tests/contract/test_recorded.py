"""What a real vLLM sent (tests/vllm/record.py), replayed: the clients read every byte of it as they would its own."""

import json
import lzma
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from schemas.errors import ModelUnavailable
from schemas.extraction import Fallback
from schemas.ids import EN_US, JA_JP, Locale
from services.answering.generate import AnswerEndpoint, GemmaAnswerer
from services.answering.quote import Library
from services.guard.breaker import CircuitBreaker
from services.timing.clock import SystemClock
from services.understanding.extraction.extract import ExtractionEndpoint, GemmaExtractor
from tests.contract.answerer_suite import ask
from tests.contract.extractor_suite import CUSTOMER, adversarial_cases, check
from tests.fakes.gemma import Body, FakeGemma, Reply

RECORDED: list[dict[str, Any]] = json.loads(
    lzma.decompress((Path(__file__).parents[1] / "data" / "vllm" / "recorded.json.xz").read_bytes())
)["replies"]
CLOCK = SystemClock()


def replies(kind: str) -> list[Any]:
    """The recorded replies of a kind, by name."""
    return [pytest.param(one, id=one["name"]) for one in RECORDED if one["name"].startswith(kind)]


def replay(one: dict[str, Any], part_bytes: int = 0) -> Callable[[Body], Reply]:
    """The reply as it came, or in parts of some bytes, as a network may cut it."""
    parts = [part.encode() for part in one["parts"]]
    if part_bytes:
        whole = b"".join(parts)
        parts = [whole[at : at + part_bytes] for at in range(0, len(whole), part_bytes)]
    return lambda _: Reply(parts, one["status"], one["type"])


@pytest.mark.parametrize("one", replies("extraction"))
@pytest.mark.parametrize("part_bytes", [0, 7])
async def test_a_line_is_read_as_it_was_sent(one: dict[str, Any], part_bytes: int) -> None:
    case = adversarial_cases(8)[int(one["name"].rpartition(" ")[2])]
    async with FakeGemma(replay(one, part_bytes)) as server:
        extractor = GemmaExtractor(ExtractionEndpoint(server.url, "m", deadline_s=30.0), CircuitBreaker(CLOCK), CLOCK)
        got = await extractor.extract(CUSTOMER, case.offer)
        usage = extractor.last_usage
        await extractor.close()
    check(case, got)
    assert got.fallback is not Fallback.UNREADABLE, got.reason
    assert usage is not None
    assert 100 < usage.prompt_tokens <= 700
    assert usage.completion_tokens > 0


@pytest.mark.parametrize("one", replies("refused extraction"))
async def test_what_the_server_refused_is_unavailable(one: dict[str, Any]) -> None:
    async with FakeGemma(replay(one)) as server:
        extractor = GemmaExtractor(ExtractionEndpoint(server.url, "m", deadline_s=30.0), CircuitBreaker(CLOCK), CLOCK)
        with pytest.raises(ModelUnavailable):
            await extractor.extract(CUSTOMER, adversarial_cases(1)[0].offer)
        await extractor.close()


@pytest.mark.parametrize("one", replies("answer"))
@pytest.mark.parametrize("part_bytes", [0, 7])
async def test_a_stream_is_read_to_its_end_and_noise_is_not_spoken(one: dict[str, Any], part_bytes: int) -> None:
    got = await _asked(replay(one, part_bytes), EN_US if one["name"].endswith("0") else JA_JP)
    assert got.done is not None
    assert got.done.model == "m", "the model spoke"
    assert got.done.first_token_ms is not None
    assert got.refused is not None
    assert got.refused.reason == "ungrounded"


@pytest.mark.parametrize("one", replies("refused answer"))
async def test_a_refused_stream_leaves_the_quoted_passage(one: dict[str, Any]) -> None:
    got = await _asked(replay(one), EN_US)
    assert got.done is not None
    assert got.done.model == ""
    assert "15 dollars" in got.text


async def _asked(behave: Callable[[Body], Reply], locale: Locale) -> Any:
    text = "What is the overdraft fee?" if locale == EN_US else "海外送金の手数料はいくらですか"
    async with FakeGemma(behave) as server:
        endpoint = AnswerEndpoint(server.url, "m", first_token_s=30.0, stall_s=30.0, total_s=60.0)
        answerer = GemmaAnswerer(endpoint, Library.load(), CircuitBreaker(CLOCK), CLOCK)
        got = await ask(answerer, text, locale)
        await answerer.close()
    return got
