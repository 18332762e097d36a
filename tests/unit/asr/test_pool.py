"""Order, bounds, cancellation and the end of the worker pool."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable

import pytest

from schemas.errors import Busy, RecognizerUnavailable
from services.asr.pool import Pool, Urgency


@pytest.fixture
async def pool() -> AsyncIterator[Pool]:
    made = Pool(workers=1, waiting=3)
    yield made
    made.close()


class Gate:
    """Work that holds the only thread until it is opened."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.opened = threading.Event()

    def work(self) -> str:
        self.begun.set()
        assert self.opened.wait(10)
        return "gate"


async def held(pool: Pool) -> tuple[Gate, asyncio.Task[str]]:
    gate = Gate()
    task = asyncio.create_task(pool.run(Urgency.FINAL, gate.work))
    assert await asyncio.to_thread(gate.begun.wait, 10)
    return gate, task


def noting(done: list[str], name: str) -> Callable[[], None]:
    return lambda: done.append(name)


async def queue(pool: Pool, urgency: Urgency, work: Callable[[], object]) -> asyncio.Task[object]:
    task = asyncio.create_task(pool.run(urgency, work))
    await asyncio.sleep(0)
    return task


async def test_the_most_urgent_goes_first(pool: Pool) -> None:
    gate, first = await held(pool)
    done: list[str] = []
    tasks = [
        await queue(pool, urgency, noting(done, urgency.name))
        for urgency in (Urgency.PARTIAL, Urgency.FINAL, Urgency.CONFIRMING)
    ]
    gate.opened.set()
    await asyncio.gather(first, *tasks)
    assert done == ["CONFIRMING", "FINAL", "PARTIAL"]


async def test_partials_leave_a_thread_to_finals() -> None:
    pool, gate, done = Pool(workers=2, waiting=8), Gate(), list[str]()
    try:
        first = asyncio.create_task(pool.run(Urgency.PARTIAL, gate.work))
        assert await asyncio.to_thread(gate.begun.wait, 10)
        second = await queue(pool, Urgency.PARTIAL, noting(done, "PARTIAL"))
        await pool.run(Urgency.FINAL, noting(done, "FINAL"))
        assert done == ["FINAL"]
        gate.opened.set()
        await asyncio.gather(first, second)
    finally:
        gate.opened.set()
        pool.close()


async def test_a_cancelled_job_never_runs(pool: Pool) -> None:
    gate, first = await held(pool)
    done: list[str] = []
    stale = await queue(pool, Urgency.FINAL, noting(done, "stale"))
    fresh = await queue(pool, Urgency.FINAL, noting(done, "fresh"))
    stale.cancel()
    gate.opened.set()
    await asyncio.gather(first, fresh)
    assert done == ["fresh"]


async def test_a_full_line_refuses_at_once_and_says_when_to_return(pool: Pool) -> None:
    gate, first = await held(pool)
    waiting = [await queue(pool, Urgency.FINAL, lambda: None) for _ in range(3)]
    with pytest.raises(Busy) as refused:
        await pool.run(Urgency.FINAL, lambda: None)
    assert refused.value.retry_after_s
    gate.opened.set()
    await asyncio.gather(first, *waiting)


async def test_a_final_takes_the_place_of_a_partial(pool: Pool) -> None:
    gate, first = await held(pool)
    partials = [await queue(pool, Urgency.PARTIAL, lambda: "partial") for _ in range(3)]
    final = await queue(pool, Urgency.FINAL, lambda: "final")
    gate.opened.set()
    results = await asyncio.gather(first, *partials, final, return_exceptions=True)
    assert results[:3] == ["gate", "partial", "partial"]
    assert isinstance(results[3], Busy)
    assert results[4] == "final"


async def test_an_error_reaches_the_caller_and_the_thread_lives(pool: Pool) -> None:
    def broken() -> None:
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        await pool.run(Urgency.FINAL, broken)
    assert await pool.run(Urgency.FINAL, lambda: 7) == 7


async def test_closing_cancels_what_waits() -> None:
    pool = Pool(workers=1, waiting=3)
    gate, first = await held(pool)
    waiting = await queue(pool, Urgency.FINAL, lambda: None)
    pool.close()
    gate.opened.set()
    assert await first == "gate"
    with pytest.raises(asyncio.CancelledError):
        await waiting
    with pytest.raises(RecognizerUnavailable):
        await pool.run(Urgency.FINAL, lambda: None)
