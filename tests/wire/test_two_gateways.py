"""Two gateways over one PostgreSQL, with state folders of their own: what counts once counts once across both.

Processes that are killed are tried in tests/deploy/test_plain.py; here the second gateway is asked at the worst moment.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
import sqlalchemy as sa

from app.client import typed
from schemas.banking import BankOutcome, TransferState
from schemas.ids import CallId, CustomerId
from services.banking.banks.tables import postings
from services.banking.tables import transfers
from services.guard.shared_calls import LEASE, calls
from services.store import micros
from tests.fakes.recognizer import FakeRecognizer
from tests.harness.calls import calling, heard
from tests.harness.gateway import Caller
from tests.harness.handshakes import refusal, status
from tests.harness.phone import KEYS
from tests.harness.phone_lines import Place, announced
from tests.harness.processes import SECRET, signed
from tests.harness.rows import rows
from tests.harness.served import Served, served
from tests.harness.stores import emptied

ALEX = "alex-morgan"
SHARED = {"confirmation_key": "c0" + "fe1234567890abcd" * 4, "audit_key": "a0" + "dit987654321fedc" * 4}
ORDER = "send fifty dollars to catherine nguyen"


@dataclass
class Pair:
    """Two gateways that share a database and keys, and nothing else."""

    first: Served
    second: Served

    async def booked(self) -> list[str]:
        """The states of all transfers; the bank has moved money for those that succeeded, once each."""
        store = self.first.gateway.callers.banking.ledger._store  # type: ignore[attr-defined] # the ledger's own
        booked = await rows(store, sa.select(transfers))
        moved = await rows(store, sa.select(postings.c.key).where(postings.c.outcome == BankOutcome.DONE))
        keys = {row.bank_key for row in booked}
        done = {row.bank_key for row in booked if row.state == TransferState.SUCCEEDED}
        assert sorted(row.key for row in moved if row.key in keys) == sorted(done)
        return sorted(row.state for row in booked)


@pytest.fixture
async def pair(postgres_server: str, quick_folder: Path) -> AsyncIterator[Pair]:
    url = await emptied(postgres_server)
    settings = SHARED | {"database_url": url, "ivr_keys": {"bridge": SECRET} | KEYS}
    silent = FakeRecognizer(lambda _seconds: "")
    async with (
        served(quick_folder / "a", silent, **settings) as first,
        served(quick_folder / "b", silent, **settings) as second,
    ):
        yield Pair(first, second)


@asynccontextmanager
async def read_back(running: Served) -> AsyncIterator[Caller]:
    """A call in which a transfer was read back and heard."""
    async with calling(running, ALEX, "en-US") as call:
        await call.send(typed(ORDER))
        await heard(call)
        yield call


async def test_a_yes_on_both_at_once_is_one_booking(pair: Pair) -> None:
    async with read_back(pair.first) as old, calling(pair.second, ALEX, "en-US") as new:
        assert (await heard(new)).startswith("You have yet to answer this.")
        await asyncio.gather(old.send(typed("yes")), new.send(typed("yes")))
        await asyncio.gather(heard(old), heard(new))
        settled = [event["state"] for call in (old, new) for event in call.of("tellerline.ledger")]
        assert settled == ["succeeded"]
    assert (await pair.booked()).count("succeeded") == 1


async def test_calls_at_both_at_once_leave_one_proposal_alive(pair: Pair) -> None:
    async with read_back(pair.first) as dropped:
        dropped.socket.transport.abort()
        await dropped.socket.wait_closed()
    ledgers = [running.gateway.callers.banking.ledger for running in (pair.first, pair.second)]
    calls = [CallId(f"call-{number}") for number in range(8)]
    await asyncio.gather(*(ledgers[n % 2].resume(CustomerId(ALEX), call) for n, call in enumerate(calls)))
    left = [await ledger.open_proposal(CustomerId(ALEX)) for ledger in ledgers]
    assert left[0] == left[1]
    assert left[0] is not None
    assert left[0].call in calls
    assert (await pair.booked()).count("proposed") == 1


async def test_a_signed_request_counts_once_whichever_gateway_it_reaches(pair: Pair) -> None:
    headers = signed(ALEX, "nonce-0001", pair.first.gateway.clock.now())
    assert [await status(one.calls, headers) for one in (pair.first, pair.second)] == [101, 401]


async def test_a_call_that_was_announced_to_one_may_come_to_the_other(pair: Pair) -> None:
    identity = await announced(Place(pair.first.port, 0), ALEX)
    assert await pair.second.gateway.expected.take(identity, "") == ALEX
    assert await pair.first.gateway.expected.take(identity, "") is None
    await pair.second.gateway.expected.ended(identity, "transfer")
    async with httpx.AsyncClient() as client:
        assert (await client.get(f"{pair.first.http}/v1/ivr/calls/{identity}")).text == "transfer"


async def test_a_gateway_that_goes_away_sends_newcomers_on_and_lets_calls_finish(pair: Pair) -> None:
    """A bridge's handshake that is refused there is good at the other: its nonce was not taken."""
    async with read_back(pair.first) as inside:
        pair.first.gateway.admission.drain(30.0)
        async with httpx.AsyncClient() as client:
            assert (await client.get(f"{pair.first.http}/readyz")).status_code == 503
            assert (await client.get(f"{pair.second.http}/readyz")).status_code == 200
        headers = signed("imogen-hartley", "nonce-0002", pair.first.gateway.clock.now())
        refused = await refusal(pair.first.calls, headers)
        assert refused is not None
        assert refused.status_code == 503
        assert int(refused.headers["Retry-After"]) >= 1
        assert await status(pair.second.calls, headers) == 101
        await inside.send(typed("yes"))
        await heard(inside)
        assert [event["state"] for event in inside.of("tellerline.ledger")] == ["succeeded"]
    assert await pair.booked() == ["succeeded"]


async def test_calls_of_one_customer_are_counted_by_both(pair: Pair) -> None:
    for running in (pair.first, pair.second):
        running.gateway.limits.calls._most = 2
    async with calling(pair.first, ALEX, "en-US"):
        async with calling(pair.second, ALEX, "en-US"):
            assert [await status(one.calls, one.token(ALEX)) for one in (pair.first, pair.second)] == [429, 429]
            assert await status(pair.second.calls, pair.second.token("imogen-hartley")) == 101
        for _ in range(200):
            if await status(pair.first.calls, pair.first.token(ALEX)) == 101:
                break
            await asyncio.sleep(0.05)
        else:
            raise AssertionError("a call that is over still counts")


async def test_calls_of_a_gateway_that_died_count_no_longer_than_their_lease(pair: Pair) -> None:
    store = pair.first.gateway.callers.banking.ledger._store  # type: ignore[attr-defined] # the ledger's own
    clock = pair.first.gateway.clock
    for running in (pair.first, pair.second):
        running.gateway.limits.calls._most = 1
    for left, answered in ((LEASE, 429), (-LEASE, 101)):
        row = {"call_id": "of-the-dead", "customer_id": ALEX, "until": micros(clock.now() + left)}
        await store.execute("test.calls", sa.delete(calls))
        await store.execute("test.calls", sa.insert(calls).values(row))
        assert await status(pair.second.calls, pair.second.token(ALEX)) == answered


async def test_a_call_is_renewed_as_long_as_it_lasts(pair: Pair) -> None:
    async with calling(pair.first, ALEX, "en-US"):
        ours, store = pair.first.gateway.limits.calls, pair.first.gateway.callers.banking.ledger._store  # type: ignore[attr-defined]
        await store.execute("test.calls", sa.update(calls).values(until=1))
        await ours.renew()
        (row,) = await rows(store, sa.select(calls.c.until))
        assert row.until > micros(pair.first.gateway.clock.now())
