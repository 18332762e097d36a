"""The extractor over real HTTP against FakeGemma: the shared suite, then every way a server can go wrong."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import pytest

from schemas.errors import ModelUnavailable, TimedOut
from schemas.extraction import ExtractionOffer, Fallback
from schemas.ids import EN_US, PayeeId
from schemas.intent import Intent
from schemas.payee import PayeeCandidate
from schemas.span import MoneyValue
from services.guard.breaker import BreakerLimits, CircuitBreaker
from services.timing.clock import ManualClock, SystemClock
from services.understanding.extraction.extract import ExtractionEndpoint, GemmaExtractor
from tests.contract.extractor_suite import CUSTOMER, Case, answers_only_what_was_offered, check, money
from tests.fakes.gemma import Body, FakeGemma, Reply, completion, random_weights
from tests.harness.until import until

OFFER = ExtractionOffer(
    text="send fifty to ken",
    locale=EN_US,
    spans=(money(5000, None),),
    amounts=(MoneyValue(5000, None),),
    payees=(PayeeCandidate(PayeeId("p-ken"), "Ken Sato", "", 0.9), PayeeCandidate(PayeeId("p-kim"), "Kim", "", 0.2)),
)
CASE = Case(OFFER, frozenset(OFFER.amounts), frozenset(p.id for p in OFFER.payees))


@asynccontextmanager
async def against(
    behave: Callable[[Body], Reply], deadline_s: float = 30.0, in_flight: int = 16, waiting: int = 32
) -> AsyncIterator[tuple[GemmaExtractor, FakeGemma, CircuitBreaker]]:
    async with FakeGemma(behave) as server:
        breaker = CircuitBreaker(ManualClock(datetime(2026, 1, 1, tzinfo=UTC)), BreakerLimits(failures=3))
        endpoint = ExtractionEndpoint(
            server.url, "fake-gemma", key="secret", deadline_s=deadline_s, in_flight=in_flight, waiting=waiting
        )
        extractor = GemmaExtractor(endpoint, breaker, SystemClock())
        try:
            yield extractor, server, breaker
        finally:
            await extractor.close()


async def test_a_random_model_answers_only_what_was_offered() -> None:
    async with against(random_weights(7)) as (extractor, _, _):
        got = await answers_only_what_was_offered(extractor)
    assert {e.intent for e in got} > {Intent.TRANSFER_MONEY, Intent.CARD_LOCK, None}
    assert {e.fallback for e in got} >= {Fallback.OK, Fallback.AMBIGUOUS_PAYEE, Fallback.NOT_BANKING}


async def test_the_request_is_bounded_salted_and_constrained() -> None:
    async with against(lambda _: completion('"transfer A V"')) as (extractor, server, _):
        got = await extractor.extract(CUSTOMER, OFFER)
    assert (got.intent, got.amount, got.payee) == (Intent.TRANSFER_MONEY, MoneyValue(5000, None), "p-ken")
    assert got.needs_confirmation
    (body,) = server.requests
    assert body["temperature"] == 0
    assert body["max_tokens"] <= 16
    assert body["cache_salt"] == "tellerline"
    assert body["chat_template_kwargs"] == {"enable_thinking": False}
    wanted = body["response_format"]["json_schema"]["schema"]
    assert "transfer A V" in wanted["enum"]
    assert not [line for line in wanted["enum"] if "B" in line.split() or "X" in line.split()]
    assert "secret" not in json.dumps(body)
    assert "p-ken" not in json.dumps(body), "ids stay here; the server sees letters"


HOSTILE_REPLIES: dict[str, tuple[Reply, str]] = {
    "prose": (completion("Sure! The answer is transfer A V"), "not_json"),
    "prose before JSON": (completion('Here you go: "transfer A V"'), "not_json"),
    "an object": (completion('{"intent": "transfer_money", "extra": 1}'), "not_json"),
    "an unknown amount": (completion('"transfer D V"'), "not_offered"),
    "an unknown payee": (completion('"transfer A Z"'), "not_offered"),
    "a slot its code does not take": (completion('"balance A"'), "not_offered"),
    "consent, which is not for a model": (completion('"confirm"'), "not_offered"),
    "cut off": (completion('"transfer A', "length"), "truncated"),
    "cut off, yet readable": (completion('"lock"', "length"), "truncated"),
    "newlines only": (completion("\n" * 60), "not_json"),
    "a very long line": (completion('"' + "a" * 5000 + '"'), "too_long"),
    "nothing": (completion(""), "empty"),
    "null": (completion(None), "empty"),
    "a refusal": (completion(None, refusal="I can't help with that"), "refused"),
    "a tool call": (completion(None, tool_calls=[{"type": "function"}]), "tool_call"),
    "no end": (completion('"lock"', None), "not_finished"),
    "a filter": (completion('"lock"', "content_filter"), "not_finished"),
    "a number": (completion("5"), "not_json"),
    "two values": (completion('"lock" "unlock"'), "not_json"),
    "a thought": (completion('<think>hm</think>"lock"'), "not_json"),
}


@pytest.mark.parametrize("name", HOSTILE_REPLIES)
async def test_what_was_not_offered_ends_in_a_question(name: str) -> None:
    reply, reason = HOSTILE_REPLIES[name]
    async with against(lambda _: reply) as (extractor, _, _):
        got = await extractor.extract(CUSTOMER, OFFER)
    check(CASE, got)
    assert (got.fallback, got.reason) == (Fallback.UNREADABLE, reason)


BROKEN_SERVERS: dict[str, Reply] = {
    "500": Reply([b'{"error":{"message":"boom"}}'], status=500),
    "503": Reply([b"overloaded"], status=503, content_type="text/plain"),
    "429": Reply([b"{}"], status=429, headers={"retry-after": "60"}),
    "400": Reply([b'{"error":{"message":"bad schema"}}'], status=400),
    "a redirect": Reply([b""], status=307, headers={"location": "http://127.0.0.1:1/"}),
    "HTML with 200": Reply([b"<html><body>Login</body></html>"], content_type="text/html"),
    "another object": Reply([b'{"object":"list","data":[]}']),
    "half a body, then gone": Reply([b'{"object":"chat.comp'], hang_up=True),
    "gone at once": Reply([], hang_up=True),
    "endless": Reply([b" " * 50_000, b" " * 50_000, b" " * 50_000]),
    "no choices' list": Reply([b'{"object":"chat.completion"}']),
    "not UTF-8": Reply([b"\xff\xfe\x00"]),
}


@pytest.mark.parametrize("name", BROKEN_SERVERS)
async def test_a_broken_server_is_unavailable_and_opens_the_breaker(name: str) -> None:
    async with against(lambda _: BROKEN_SERVERS[name]) as (extractor, server, breaker):
        for _ in range(3):
            with pytest.raises(ModelUnavailable):
                await extractor.extract(CUSTOMER, OFFER)
        assert breaker.state == "open"
        asked = len(server.requests)
        with pytest.raises(ModelUnavailable):
            await extractor.extract(CUSTOMER, OFFER)
        assert asked == len(server.requests) == 3, "neither retried nor asked once open"


async def test_no_choice_at_all_is_unreadable() -> None:
    reply = Reply([b'{"object":"chat.completion","choices":[]}'])
    async with against(lambda _: reply) as (extractor, _, _):
        assert (await extractor.extract(CUSTOMER, OFFER)).reason == "no_choice"


async def test_an_absent_server_is_unavailable() -> None:
    async with against(lambda _: completion('"lock"')) as (extractor, server, _):
        await server.__aexit__(None, None, None)
        with pytest.raises(ModelUnavailable):
            await extractor.extract(CUSTOMER, OFFER)


@pytest.mark.parametrize(
    "reply",
    [completion('"lock"', after_s=30.0), Reply([b'{"ob', 30.0, b'ject"'])],
    ids=["slow to begin", "slow to go on"],
)
async def test_the_deadline_holds_and_the_late_answer_is_dropped(reply: Reply) -> None:
    async with against(lambda _: reply, deadline_s=1.0) as (extractor, server, _):
        began = time.perf_counter()
        with pytest.raises(TimedOut):
            await extractor.extract(CUSTOMER, OFFER)
        assert time.perf_counter() - began < 10.0, "the server would have taken 30"
        await until(lambda: server.hang_ups == 1)


async def test_a_slow_drip_meets_the_deadline_too() -> None:
    drip = Reply([part for byte in b'{"object":"chat.completion"' for part in (0.03, bytes([byte]))])
    async with against(lambda _: drip, deadline_s=0.2) as (extractor, _, _):
        with pytest.raises(TimedOut):
            await extractor.extract(CUSTOMER, OFFER)


async def test_a_caller_who_speaks_on_cancels_the_request() -> None:
    async with against(lambda _: completion('"lock"', after_s=30.0)) as (extractor, server, breaker):
        asking = asyncio.create_task(extractor.extract(CUSTOMER, OFFER))
        await until(lambda: server.in_flight == 1)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        await until(lambda: server.hang_ups == 1)
        assert breaker.state == "closed"


async def test_concurrency_and_the_queue_are_bounded() -> None:
    async with against(lambda _: completion('"lock"', after_s=0.1), in_flight=2, waiting=2) as (extractor, server, _):
        results = await asyncio.gather(*(extractor.extract(CUSTOMER, OFFER) for _ in range(6)), return_exceptions=True)
    assert server.most_in_flight == 2
    assert sum(isinstance(r, ModelUnavailable) for r in results) == 2
    assert sum(not isinstance(r, Exception) for r in results) == 4


async def test_waiting_counts_towards_the_deadline() -> None:
    async with against(lambda _: completion('"lock"', after_s=1.0), deadline_s=1.8, in_flight=1) as (extractor, _, _):
        results = await asyncio.gather(*(extractor.extract(CUSTOMER, OFFER) for _ in range(4)), return_exceptions=True)
    assert [type(r) for r in results].count(TimedOut) == 3
