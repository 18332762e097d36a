"""Shares: what one has taken another still has, and what was taken comes back with time."""

import asyncio

import pytest

from schemas.errors import Busy, RateLimited
from services.guard import shares
from services.guard.shares import Allowance, Rate, Shares


class Time:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_rate_lets_a_burst_through_then_its_flow() -> None:
    time = Time()
    rate = Rate(60, time)
    for _ in range(20):
        rate.take("a")
    with pytest.raises(RateLimited) as refused:
        rate.take("a")
    assert refused.value.retry_after_s == 1
    rate.take("b")
    time.now += 1.0
    rate.take("a")
    with pytest.raises(RateLimited):
        rate.take("a")


def test_refusals_do_not_prolong_the_wait() -> None:
    time = Time()
    rate = Rate(60, time)
    for _ in range(20):
        rate.take("a")
    for _ in range(10):
        time.now += 0.1
        try:
            rate.take("a")
        except RateLimited:
            continue
    assert time.now >= 0.99
    time.now += 1.0
    rate.take("a")


def test_a_rate_remembers_a_bounded_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shares, "MAX_KEYS", 10)
    rate = Rate(60, Time())
    for number in range(100):
        rate.take(str(number))
    assert len(rate._left) == 10


def test_a_customer_has_so_many_calls_and_no_more_and_another_has_them_too() -> None:
    made = Shares(Allowance(calls=2, calls_a_minute=60), Time())
    with made.call("a"), made.call("a"):
        with pytest.raises(RateLimited), made.call("a"):
            pass
        with made.call("b"):
            pass
    with made.call("a"):
        pass
    assert not made._calling


def test_a_refused_call_takes_nothing_of_the_rate() -> None:
    made = Shares(Allowance(calls=1, calls_a_minute=6), Time())
    with made.call("a"):
        for _ in range(50):
            with pytest.raises(RateLimited), made.call("a"):
                pass
    with made.call("a"):
        pass
    with pytest.raises(RateLimited), made.call("a"):
        pass


async def test_openings_take_turns_and_the_line_is_bounded() -> None:
    made = Shares(Allowance(), Time())
    inside = 0
    most = 0
    leave = asyncio.Event()

    async def opening() -> None:
        nonlocal inside, most
        async with made.opening():
            inside, most = inside + 1, max(most, inside + 1)
            await leave.wait()
            inside -= 1

    tasks = [asyncio.create_task(opening()) for _ in range(shares.OPENING_WAITS + 5)]
    await asyncio.sleep(0.01)
    leave.set()
    told = await asyncio.gather(*tasks, return_exceptions=True)
    assert most == shares.OPENINGS
    assert sum(isinstance(one, Busy) for one in told) == 5


async def test_who_is_refused_again_and_again_is_told_slowly_and_others_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(shares, "SLOW_REFUSALS", 3)
    made = Shares(Allowance(requests_a_minute=60), Time())

    async def ask(customer: str) -> None:
        async with made.request(customer):
            pass

    async def told(*customers: str) -> tuple[list[asyncio.Task[None]], list[asyncio.Task[None]]]:
        asking = [asyncio.create_task(ask(customer)) for customer in customers]
        await asyncio.sleep(0.01)
        return [one for one in asking if one.done()], [one for one in asking if not one.done()]

    _, slow = await told(*["a"] * 20, *["b"] * 20)
    assert not slow, "what they may ask is answered"
    quick, slow = await told(*["a"] * 25)
    assert len(slow) == 3, "no more wait than there is room for"
    assert all(isinstance(one.exception(), RateLimited) for one in quick)
    quick, _ = await told("b")
    assert [type(one.exception()) for one in quick] == [RateLimited]
    for one in slow:
        one.cancel()
    await asyncio.gather(*slow, return_exceptions=True)
    _, slow = await told("a")
    assert len(slow) == 1, "those that went away made room"
    slow[0].cancel()


async def test_a_slow_refusal_is_a_refusal_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shares, "SLOW_REFUSAL_S", 0.0)
    made = Shares(Allowance(requests_a_minute=60), Time())
    refused = 0
    for _ in range(50):
        try:
            async with made.request("a"):
                pass
        except RateLimited:
            refused += 1
    assert refused == 30
