"""An answer comes in time whatever had to end before it could begin: notes of what was heard, others' beginnings."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest

from app.auth.principal import Principal
from app.client import heard_out, typed
from schemas.banking import CustomerProfile
from schemas.errors import Busy
from schemas.ids import CustomerId
from services.banking.ledger import SqlLedger
from services.guard.shares import OPENINGS, Allowance, Shares
from services.timing import ANSWER_S, left, within
from tests.harness.calls import calling, gateway, heard

ORDER = "send fifty dollars to catherine nguyen"
BOUND_S = 5.0


async def test_a_yes_behind_a_slow_note_of_its_read_back_is_answered_in_time(tmp_path: Path) -> None:
    slow = {"ledger.delivered:begin": 2.4, "ledger.confirm:begin": 4.0, "ledger.take_back:begin": 4.0}
    async with gateway(tmp_path) as running, calling(running, "alex-morgan", "en-US") as call:
        ledger = running.gateway.callers.banking.ledger
        assert isinstance(ledger, SqlLedger)
        await call.send(typed(ORDER))
        read_back = await call.next("response.done")
        await asyncio.sleep(0.2)
        ledger._store.probe = lambda point: time.sleep(slow.get(point, 0.0))
        await call.send(heard_out(read_back["response"]["id"]))
        asked = time.monotonic()
        await call.send(typed("yes"))
        said = await heard(call)
        assert time.monotonic() - asked < BOUND_S - 1
        assert "on its way" not in said


async def test_whoever_waits_for_a_place_among_openings_is_answered_in_time() -> None:
    shares = Shares(Allowance(), time.monotonic)
    async with crowded(shares):
        began = time.monotonic()
        with within(0.1), pytest.raises(Busy):
            async with shares.opening():
                raise AssertionError("there was no place")
        assert time.monotonic() - began < 1.0
        assert shares.begun == OPENINGS
    assert shares.begun == 0
    async with shares.opening():
        assert shares.begun == 1


@asynccontextmanager
async def crowded(shares: Shares) -> AsyncIterator[None]:
    """Every place among openings is taken."""
    async with AsyncExitStack() as stack:
        for _ in range(OPENINGS):
            await stack.enter_async_context(shares.opening())
        yield


async def test_a_call_is_opened_within_one_time_for_all_its_steps(tmp_path: Path) -> None:
    """Identity, share and dialogue: each alone could take nearly as long as all of them may."""
    had: list[float] = []
    async with gateway(tmp_path) as running:
        callers, verify = running.gateway.callers, running.gateway.authenticator._tokens.verify

        async def slowly(token: str) -> Principal:
            await asyncio.sleep(0.3)
            return await verify(token)

        async def profile(customer: CustomerId) -> CustomerProfile:
            had.append(left(60.0))
            return await real(customer)

        real = callers.banking.bank.profile
        running.gateway.authenticator._tokens.verify = slowly  # type: ignore[method-assign]
        callers.banking.bank.profile = profile  # type: ignore[method-assign]
        async with calling(running, "alex-morgan", "en-US"):
            assert had
            assert had[0] <= ANSWER_S - 0.3
