"""Order, bounds, cancellation and the end of the worker scheduler."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable

import pytest

from schemas.errors import Busy, RecognizerUnavailable
from schemas.transcript import Decode
from services.asr.scheduler import DecodeScheduler


@pytest.fixture
async def scheduler() -> AsyncIterator[DecodeScheduler]:
    made = DecodeScheduler(workers=1, waiting=3)
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


async def held(scheduler: DecodeScheduler) -> tuple[Gate, asyncio.Task[str]]:
    gate = Gate()
    task = asyncio.create_task(scheduler.run(Decode.FINAL, gate.work))
    assert await asyncio.to_thread(gate.begun.wait, 10)
    return gate, task


def noting(done: list[str], name: str) -> Callable[[], None]:
    return lambda: done.append(name)


async def queue(scheduler: DecodeScheduler, priority: Decode, work: Callable[[], object]) -> asyncio.Task[object]:
    task = asyncio.create_task(scheduler.run(priority, work))
    await asyncio.sleep(0)
    return task


async def test_the_most_urgent_goes_first(scheduler: DecodeScheduler) -> None:
    gate, first = await held(scheduler)
    done: list[str] = []
    tasks = [
        await queue(scheduler, priority, noting(done, priority.name))
        for priority in (Decode.PARTIAL, Decode.FINAL, Decode.CONFIRMING)
    ]
    gate.opened.set()
    await asyncio.gather(first, *tasks)
    assert done == ["CONFIRMING", "FINAL", "PARTIAL"]


async def test_partials_leave_a_thread_to_finals() -> None:
    scheduler, gate, done = DecodeScheduler(workers=2, waiting=8), Gate(), list[str]()
    try:
        first = asyncio.create_task(scheduler.run(Decode.PARTIAL, gate.work))
        assert await asyncio.to_thread(gate.begun.wait, 10)
        second = await queue(scheduler, Decode.PARTIAL, noting(done, "PARTIAL"))
        await scheduler.run(Decode.FINAL, noting(done, "FINAL"))
        assert done == ["FINAL"]
        gate.opened.set()
        await asyncio.gather(first, second)
    finally:
        gate.opened.set()
        scheduler.close()


async def test_a_cancelled_job_never_runs(scheduler: DecodeScheduler) -> None:
    gate, first = await held(scheduler)
    done: list[str] = []
    stale = await queue(scheduler, Decode.FINAL, noting(done, "stale"))
    fresh = await queue(scheduler, Decode.FINAL, noting(done, "fresh"))
    stale.cancel()
    gate.opened.set()
    await asyncio.gather(first, fresh)
    assert done == ["fresh"]


async def test_a_full_line_refuses_at_once_and_says_when_to_return(scheduler: DecodeScheduler) -> None:
    gate, first = await held(scheduler)
    waiting = [await queue(scheduler, Decode.FINAL, lambda: None) for _ in range(3)]
    with pytest.raises(Busy) as refused:
        await scheduler.run(Decode.FINAL, lambda: None)
    assert refused.value.retry_after_s
    gate.opened.set()
    await asyncio.gather(first, *waiting)


async def test_a_final_takes_the_place_of_a_partial(scheduler: DecodeScheduler) -> None:
    gate, first = await held(scheduler)
    partials = [await queue(scheduler, Decode.PARTIAL, lambda: "partial") for _ in range(3)]
    final = await queue(scheduler, Decode.FINAL, lambda: "final")
    gate.opened.set()
    results = await asyncio.gather(first, *partials, final, return_exceptions=True)
    assert results[:3] == ["gate", "partial", "partial"]
    assert isinstance(results[3], Busy)
    assert results[4] == "final"


async def test_an_error_reaches_the_caller_and_the_thread_lives(scheduler: DecodeScheduler) -> None:
    def broken() -> None:
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        await scheduler.run(Decode.FINAL, broken)
    assert await scheduler.run(Decode.FINAL, lambda: 7) == 7


async def test_closing_cancels_what_waits() -> None:
    scheduler = DecodeScheduler(workers=1, waiting=3)
    gate, first = await held(scheduler)
    waiting = await queue(scheduler, Decode.FINAL, lambda: None)
    scheduler.close()
    gate.opened.set()
    assert await first == "gate"
    with pytest.raises(asyncio.CancelledError):
        await waiting
    with pytest.raises(RecognizerUnavailable):
        await scheduler.run(Decode.FINAL, lambda: None)


async def test_what_waits_is_counted_and_what_runs_or_was_given_up_is_not(scheduler: DecodeScheduler) -> None:
    gate, running = await held(scheduler)
    line = [asyncio.create_task(scheduler.run(Decode.FINAL, lambda: None)) for _ in range(2)]
    await asyncio.sleep(0)
    assert scheduler.waiting == 2
    line[0].cancel()
    await asyncio.sleep(0)
    assert scheduler.waiting == 1
    gate.opened.set()
    await asyncio.gather(running, line[1])
    assert scheduler.waiting == 0
