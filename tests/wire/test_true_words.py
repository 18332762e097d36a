"""What callers hear of their money while the database fails is true, is said once, and comes to an end."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
import sqlalchemy as sa

from app.client import typed
from schemas.banking import TransferState
from schemas.errors import StoreRefused, StoreUnavailable
from services.banking.ledger import SqlLedger
from services.banking.tables import transfers
from services.record import tables as audit_tables
from services.record.chain import verify
from services.response import speak
from services.store import Store
from tests.fakes.recognizer import FakeRecognizer
from tests.harness.calls import calling, heard
from tests.harness.gateway import Caller
from tests.harness.rows import rows, tamper
from tests.harness.served import Served, served

ALEX = "alex-morgan"
ORDER = "send fifty dollars to catherine nguyen"
DONE, FOLLOWED, NOTHING = "on its way", "following it up", "no money was moved"
WENT, NEVER = "that went through", "that was not carried out"
AGAIN = "try again"
NEXT_S = 40.0
"""Within this the background has looked again."""


@dataclass
class Faulty:
    """A running gateway whose database fails at the named points of its writes. `lost` writes say nothing at all."""

    running: Served
    store: Store
    failing: set[str] = field(default_factory=set)
    lost: set[str] = field(default_factory=set)

    def probe(self, point: str) -> None:
        if point in self.failing or point.partition(":")[0] in self.failing:
            raise OSError

    def well(self) -> None:
        self.failing.clear()
        self.lost.clear()

    async def state(self) -> list[str]:
        return sorted(row.state for row in await rows(self.store, sa.select(transfers.c.state)))

    async def recorded(self) -> list[str]:
        found = await rows(self.store, sa.select(audit_tables.records.c.event).order_by(audit_tables.records.c.seq))
        return [row.event for row in found]


@asynccontextmanager
async def faulty(state: Path, url: str) -> AsyncIterator[Faulty]:
    async with served(state, FakeRecognizer(lambda _: ""), database_url=url) as running:
        ledger = running.gateway.callers.banking.ledger
        assert isinstance(ledger, SqlLedger)
        made = Faulty(running, ledger._store)
        made.store.probe = made.probe
        silence(made)
        yield made


def silence(made: Faulty) -> None:
    """Let the database say nothing of the writes that are to be lost."""

    def falling_silent(real: Callable[..., Any]) -> Callable[..., Any]:
        async def write(name: str, *given: Any, **named: Any) -> Any:
            if name in made.lost:
                raise StoreUnavailable("silence")
            return await real(name, *given, **named)

        return write

    made.store.execute = falling_silent(made.store.execute)  # type: ignore[method-assign]
    made.store.transact = falling_silent(made.store.transact)  # type: ignore[method-assign]


async def said_yes(call: Caller) -> str:
    await call.send(typed(ORDER))
    await heard(call)
    await call.send(typed("yes"))
    return await heard(call)


async def unasked(call: Caller) -> str:
    """The next reply, which comes by itself."""
    return await heard(call, within_s=NEXT_S)


def words(call: Caller) -> str:
    return " ".join(event["text"] for event in call.of("response.output_text.done"))


async def until(holds: Callable[[], Any]) -> None:
    async with asyncio.timeout(NEXT_S):
        while not await holds():  # noqa: ASYNC110 - what is asked for is in the database
            await asyncio.sleep(0.1)


async def ready(made: Faulty) -> httpx.Response:
    async with httpx.AsyncClient(base_url=made.running.http) as client:
        return await client.get("/readyz")


async def test_what_was_done_is_said_once_also_when_it_can_not_be_put_on_record(
    database_url: str, tmp_path: Path
) -> None:
    async with faulty(tmp_path, database_url) as bank, calling(bank.running, ALEX, "en-US") as call:
        await call.send(typed(ORDER))
        await heard(call)
        before = await bank.recorded()
        bank.failing |= {"audit.append", "audit.transfers", "audit.spool"}
        await call.send(typed("yes"))
        assert DONE in await heard(call)
        assert call.of("response.done")[-1]["response"]["status"] == "completed"
        await call.send(typed(ORDER))
        refused = await heard(call)
        assert refused == speak_en("error.money_waits"), "new money while records wait"
        await call.send(typed("what's my balance"))
        assert "in checking" in await heard(call), "what moves nothing goes on"
        assert not call.of("error")
        assert words(call).count(DONE) == 1
        assert (await ready(bank)).status_code == 503
        assert "records" in (await ready(bank)).json()["error"]["message"]
        assert await bank.recorded() == before
        bank.well()
        await until(lambda: _has(bank, before, 4))
        assert (await bank.recorded())[len(before) :].count("turn") == 3
        await verify(bank.store)
        await until(lambda: _ready(bank))
        assert DONE in await said_yes(call)
        assert AGAIN not in words(call).replace(refused, "")


async def _nothing_owed(bank: Faulty) -> bool:
    return not await rows(bank.store, sa.select(transfers.c.id).where(transfers.c.owed_at.is_not(None)))


async def _has(bank: Faulty, before: list[str], more: int) -> bool:
    return len(await bank.recorded()) >= len(before) + more


async def _ready(bank: Faulty) -> bool:
    return (await ready(bank)).status_code == 200


def speak_en(template: str) -> str:
    from schemas.decision import Reply
    from schemas.ids import EN_US, RuleId

    return speak(Reply(RuleId(template)), EN_US)


@pytest.mark.parametrize("drops", [False, True], ids=["hung up", "dropped"])
async def test_what_a_caller_heard_out_just_before_leaving_is_not_told_again(tmp_path: Path, drops: bool) -> None:
    async with faulty(tmp_path, "") as bank:
        for _ in range(3):
            async with calling(bank.running, ALEX, "en-US") as call:
                assert DONE in await said_yes(call)
                assert WENT not in words(call)
                if drops:
                    call.socket.transport.close()
            await bank.running.gateway.admission.empty.wait()
        assert await _nothing_owed(bank)


async def test_records_that_waited_outlive_the_process(database_url: str, tmp_path: Path) -> None:
    async with faulty(tmp_path, database_url) as bank:
        async with calling(bank.running, ALEX, "en-US") as call:
            bank.failing |= {"audit.append", "audit.spool"}
            await call.send(typed("what's my balance"))
            await heard(call)
        await bank.running.gateway.admission.empty.wait()
        before = await bank.recorded()
    async with faulty(tmp_path, database_url) as bank:
        await until(lambda: _has(bank, before, 2))
        assert (await bank.recorded())[len(before) :] == ["turn", "call.ended"]
        await verify(bank.store)


@pytest.mark.parametrize("point", ["begin", "written"])
async def test_a_yes_that_certainly_came_to_nothing_is_said_so(database_url: str, tmp_path: Path, point: str) -> None:
    if point == "written" and database_url.startswith("postgresql"):
        pytest.skip("a lone statement has no such point")
    async with faulty(tmp_path, database_url) as bank:
        async with calling(bank.running, ALEX, "en-US") as call:
            await call.send(typed(ORDER))
            await heard(call)
            bank.failing |= {f"ledger.confirm:{point}", "ledger.take_back"}
            await call.send(typed("yes"))
            assert NOTHING in await heard(call)
            bank.well()
            await until(lambda: _all(bank, ["cancelled"]))
        async with calling(bank.running, ALEX, "en-US") as call:
            assert DONE in await said_yes(call), "nothing is offered again, nothing is owed"
        assert await bank.state() == ["cancelled", "succeeded"]


async def _all(bank: Faulty, states: list[str]) -> bool:
    return await bank.state() == states


@pytest.mark.parametrize("spent", [True, False], ids=["it was spent", "it never was"])
@pytest.mark.parametrize("same_call", [True, False], ids=["in the call", "in the next call"])
async def test_a_promise_to_follow_up_ends_in_a_word(
    database_url: str, tmp_path: Path, spent: bool, same_call: bool
) -> None:
    async with faulty(tmp_path, database_url) as bank:
        async with calling(bank.running, ALEX, "en-US") as call:
            await call.send(typed(ORDER))
            await heard(call)
            bank.failing |= {"ledger.confirm:committed"} if spent else set()
            bank.lost |= {"ledger.take_back", "ledger.owe"} | (set() if spent else {"ledger.confirm"})
            await call.send(typed("yes"))
            assert FOLLOWED in await heard(call)
            await sooner(bank)
            if same_call:
                bank.well()
                assert (WENT if spent else NEVER) in await unasked(call)
                await until(lambda: _nothing_owed(bank))
            assert AGAIN not in words(call)
        bank.well()
        await sooner(bank)
        await until(lambda: _all(bank, ["succeeded" if spent else "cancelled"]))
        async with calling(bank.running, ALEX, "en-US") as call:
            if not same_call:
                assert (WENT if spent else NEVER) in await unasked(call)
                await until(lambda: _nothing_owed(bank))
        async with calling(bank.running, ALEX, "en-US") as call:
            await call.send(typed("what's my balance"))
            await heard(call)
            assert WENT not in words(call)
            assert NEVER not in words(call)


async def sooner(bank: Faulty) -> None:
    """Nobody waits for the next attempt at settling."""
    submitted = transfers.c.state == TransferState.SUBMITTING.value
    await tamper(bank.store, sa.update(transfers).where(submitted).values(next_try_at=1))


async def test_nothing_is_promised_that_nothing_keeps(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with faulty(tmp_path, database_url) as bank, calling(bank.running, ALEX, "en-US") as call:
        await call.send(typed(ORDER))
        await heard(call)
        bank.lost |= {"ledger.confirm", "ledger.take_back"}

        def full(_spool: object, _data: bytes) -> None:
            raise StoreRefused("the disk is full")

        monkeypatch.setattr("services.record.spool.Spool.put", full)
        await call.send(typed("yes"))
        assert await heard(call) == speak_en("transfer.unsure")
        assert not call.of("error")


async def test_a_word_that_was_not_heard_is_still_owed(database_url: str, tmp_path: Path) -> None:
    async with faulty(tmp_path, database_url) as bank:
        async with calling(bank.running, ALEX, "en-US") as call:
            await call.send(typed(ORDER))
            await heard(call)
            await call.send(typed("yes"))
            await call.next("response.done")
            call.socket.transport.abort()
        async with calling(bank.running, ALEX, "en-US") as call:
            assert WENT in await heard(call)
            await until(lambda: _nothing_owed(bank))
        async with calling(bank.running, ALEX, "en-US") as call:
            await call.send(typed("what's my balance"))
            assert WENT not in await heard(call)


async def test_a_fault_after_the_money_moved_never_asks_to_try_again(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with faulty(tmp_path, database_url) as bank, calling(bank.running, ALEX, "en-US") as call:
        await call.send(typed(ORDER))
        await heard(call)
        real = SqlLedger.confirm

        async def broken(*given: Any) -> Any:
            await real(*given)
            raise ArithmeticError("a fault of ours")

        monkeypatch.setattr(SqlLedger, "confirm", broken)
        await call.send(typed("yes"))
        assert FOLLOWED in await heard(call)
        assert WENT in await unasked(call)
        assert AGAIN not in words(call)


async def test_ready_means_that_a_transfer_could_be_made(database_url: str, tmp_path: Path) -> None:
    async with faulty(tmp_path, database_url) as bank:
        assert (await ready(bank)).status_code == 200
        bank.failing |= {"store.probe"}
        await asyncio.sleep(1.1)
        answer = await ready(bank)
        assert answer.status_code == 503
        assert "database" in answer.json()["error"]["message"]
        bank.well()
        await until(lambda: _ready(bank))
