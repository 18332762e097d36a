"""Many short calls leave no task, descriptor or memory behind."""

import asyncio

import pytest

from schemas.turn import Completeness
from tests.fakes.turn_handler import FakeTurnHandler
from tests.harness.gateway import Gateway, caller, clip, gateway, line
from tests.harness.unharmed import held

TEXT = "what's my balance"


def complete() -> FakeTurnHandler:
    return FakeTurnHandler(judgements={TEXT: Completeness.COMPLETE})


async def one_call(running: Gateway, number: int) -> None:
    """Answered, hung up on in the middle, or refused: by turns."""
    async with caller(running) as call:
        if number % 3 == 1:
            await call.say(line(0.2, clip("balance")[:8000]), chunk_ms=200)
            return
        if number % 3 == 2:
            await call.socket.send("{")
            await call.next("error")
            return
        await call.say(line(0.3, clip("balance"), 0.6), chunk_ms=200)
        await call.next("response.done")


async def many(running: Gateway, count: int, at_once: int = 8) -> None:
    places = asyncio.Semaphore(at_once)

    async def one(number: int) -> None:
        async with places:
            await one_call(running, number)

    await asyncio.gather(*(one(n) for n in range(count)))
    running.handlers.clear()
    running.recognizer.decodes.clear()


async def soak(warm_up: int, count: int) -> None:
    async with gateway(lambda _: TEXT, complete) as running:
        await many(running, warm_up)
        async with asyncio.timeout(10):
            await running.admission.empty.wait()
        tasks, descriptors, memory = held()
        await many(running, count)
        async with asyncio.timeout(10):
            await running.admission.empty.wait()
        await asyncio.sleep(0.2)
        after = held()
        assert after[0] <= tasks
        assert after[1] <= descriptors + 2
        assert after[2] <= memory + 16


async def test_a_few_dozen_calls_leave_nothing_behind() -> None:
    await soak(12, 36)


@pytest.mark.slow
async def test_two_thousand_calls_leave_nothing_behind() -> None:
    await soak(200, 2000)
