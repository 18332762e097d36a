"""Two gateways as real processes on one PostgreSQL: what counts once counts once; and an upgrade with calls on."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import httpx
import pytest
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import create_async_engine
from websockets.exceptions import ConnectionClosed

from app.client import typed
from services.banking.banks.tables import postings
from services.timing.clock import SystemClock
from tests.harness.calls import heard
from tests.harness.gateway import Caller
from tests.harness.handshakes import status
from tests.harness.processes import ROOT, VERSIONS, Process, gateway_process, previous, signed, tree_of
from tests.harness.stores import administer, emptied

ALEX, IMOGEN = "alex-morgan", "imogen-hartley"
ORDER = "send fifty dollars to catherine nguyen"
SAID = {"text": "what's my balance", "locale": "en-US"}
FEW = {"CALLS_PER_CUSTOMER": "2", "CALLS_PER_MINUTE": "18", "REQUESTS_PER_MINUTE": "15"}
"""Six calls and five requests at once, then one every 3.3 and 4 s."""


async def asked(database: str, statement: sa.Select[tuple[object]] | sa.TextClause) -> list[object]:
    """The first column of every row."""
    engine = create_async_engine(database)
    async with engine.connect() as connection:
        rows = list((await connection.execute(statement)).scalars())
    await engine.dispose()
    return rows


async def transfers(database: str) -> int:
    """How many transfers the bank has carried out."""
    return len(await asked(database, sa.select(postings.c.key).where(postings.c.outcome == "done")))


@pytest.fixture
async def pair(postgres_server: str, quick_folder: Path) -> AsyncIterator[tuple[Process, Process, str]]:
    url = await emptied(postgres_server)
    async with (
        gateway_process(url, quick_folder / "a", **FEW) as a,
        gateway_process(url, quick_folder / "b", **FEW) as b,
    ):
        yield a, b, url


@pytest.mark.timeout(600)
async def test_two_processes_are_one_service(pair: tuple[Process, Process, str]) -> None:
    """One start of both for everything: each costs some seconds of processor time."""
    await calls_at_once_are_counted_by_both(*pair[:2])
    await nonces_count_once(*pair[:2])
    await typed_requests_have_one_rate(*pair[:2])
    await a_dropped_call_is_taken_up_and_booked_once(*pair)
    await calls_have_one_rate(*pair[:2])


async def calls_at_once_are_counted_by_both(a: Process, b: Process) -> None:
    async with a.calling(IMOGEN), b.calling(IMOGEN):
        assert [await status(one.calls, await one.token(IMOGEN)) for one in (a, b)] == [429, 429]


async def nonces_count_once(a: Process, b: Process) -> None:
    headers = signed(IMOGEN, "nonce-0001", SystemClock().now())
    assert [await status(one.calls, headers) for one in (a, b, a)] == [101, 401, 401]


async def typed_requests_have_one_rate(a: Process, b: Process) -> None:
    """Each alone has room for five; together they have no more."""
    async with httpx.AsyncClient(timeout=30) as client:
        answers = []
        for number in range(8):
            one = (a, b)[number % 2]
            answers.append(await client.post(f"{one.http}/v1/text", json=SAID, headers=await one.token(ALEX)))
        let_in = [answer.status_code for answer in answers].count(200)
        other = await client.post(f"{b.http}/v1/text", json=SAID, headers=await b.token(IMOGEN))
    assert 5 <= let_in < 8  # the bucket flows while a loaded machine answers
    late = next(answer for answer in answers if answer.status_code == 429)
    assert 1 <= int(late.headers["Retry-After"]) <= 4
    assert other.status_code == 200


async def a_dropped_call_is_taken_up_and_booked_once(a: Process, b: Process, url: str) -> None:
    before = await transfers(url)
    async with a.calling(ALEX) as old, b.calling(ALEX) as new:
        await old.send(typed(ORDER))
        await heard(old)
        await new.send(typed("what's my balance"))
        await heard(new)
        old.socket.transport.abort()
    async with b.calling(ALEX) as again:
        assert (await heard(again)).startswith("You have yet to answer this.")
        await again.send(typed("yes"))
        await heard(again)
    assert await transfers(url) == before + 1


async def calls_have_one_rate(a: Process, b: Process) -> None:
    """Alex has begun three calls; six were saved up."""
    told = []
    for number in range(9):
        one = (a, b)[number % 2]
        told.append(await status(one.calls, await one.token(ALEX)))
    assert told.count(429) >= 2
    assert told.count(0) <= 7


async def hears(call: Caller, words: str) -> None:
    """Replies up to the one with these words: who waits for a gateway to start is asked whether they are there."""
    while words not in await heard(call):
        pass


async def read_back(call: Caller) -> None:
    await call.send(typed(ORDER))
    await hears(call, "Is that right?")


async def agreed(call: Caller) -> None:
    await call.send(typed("yes"))
    await hears(call, "Done")
    assert [event["state"] for event in call.of("tellerline.ledger")] == ["succeeded"]


@pytest.mark.timeout(900)
async def test_a_gateway_is_upgraded_with_calls_on(postgres_server: str, quick_folder: Path) -> None:
    """One of the previous version on its own schema, and one of this: every call says its yes once."""
    commit = previous()
    if not commit:
        pytest.skip("there is no history to take the previous version from")
    name = "tellerline_upgraded"
    await administer(postgres_server, f"DROP DATABASE IF EXISTS {name}", f"CREATE DATABASE {name}")
    url, old_tree = postgres_server.format(database=name), tree_of(commit, quick_folder / "tree")
    revision = sa.text("SELECT version_num FROM alembic_version")
    newest = max(path.stem[:4] for path in (ROOT / VERSIONS).glob("[0-9]*.py"))
    async with AsyncExitStack() as stack:
        old = await stack.enter_async_context(gateway_process(url, quick_folder / "a", old_tree))
        assert (await asked(url, revision))[0] < newest  # type: ignore[operator] # both are text
        before = await transfers(url)
        staying = await stack.enter_async_context(old.calling(ALEX))
        leaving = await stack.enter_async_context(old.calling(IMOGEN))
        await leaving.send(typed("what's my balance"))
        await heard(leaving)
        starting = asyncio.create_task(stack.enter_async_context(gateway_process(url, quick_folder / "b")))
        await read_back(staying)
        while not starting.done() and await asked(url, revision) != [newest]:  # noqa: ASYNC110 - a database tells nobody
            await asyncio.sleep(0.2)
        await agreed(staying)
        new = await starting
        await _leaves(old, leaving)
        await _dies(old, staying, new)
        assert await transfers(url) == before + 2


async def _leaves(gateway: Process, call: Caller) -> None:
    """The old gateway drains: newcomers are refused, calls go on to their end."""
    gateway.leave()
    await call.next("tellerline.draining", within_s=30)
    await call.send(typed("when is my electricity bill due"))
    await heard(call)
    await call.socket.close()


async def _dies(gateway: Process, call: Caller, new: Process) -> None:
    """Before it is done it is killed between read-back and yes: the new version takes its call up."""
    await read_back(call)
    gateway.kill()
    with pytest.raises(ConnectionClosed):
        await call.for_a_while(30)
    async with new.calling(ALEX) as again:
        assert (await heard(again)).startswith("You have yet to answer this.")
        await agreed(again)
