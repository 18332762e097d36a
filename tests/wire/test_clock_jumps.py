"""The wall clock of a running service jumps: nothing moves early or twice, lives longer or is forgotten too soon."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from datetime import datetime, timedelta
from pathlib import Path
from unittest.mock import patch

import pytest
import sqlalchemy as sa

from app.client import typed
from app.retention import Retention
from schemas.ids import CustomerId
from services.banking.reconcile import Reconciler
from services.banking.tables import transfers
from services.guard.nonces import PURGE_EVERY
from services.guard.redact import redactor
from services.record.tables import seeds
from services.timing import Steadiness, SystemClock
from services.timing.steady import BELIEVED_S
from tests.fakes.recognizer import FakeRecognizer
from tests.harness.calls import calling, heard
from tests.harness.gateway import Caller
from tests.harness.handshakes import status
from tests.harness.processes import SECRET, signed
from tests.harness.rows import rows
from tests.harness.served import Served, served
from tests.harness.stores import emptied

ALEX = CustomerId("alex-morgan")
HOUR, MONTHS = timedelta(hours=1), timedelta(days=40)
JUMPS = pytest.mark.parametrize("jump", [-HOUR, HOUR, MONTHS, -MONTHS], ids=str)


class Moved(SystemClock):
    """The system's, whose wall clock is wrong by `by`, and whose time has gone on by `later`."""

    by = later = timedelta(0)

    def now(self) -> datetime:
        return super().now() + self.by + self.later

    def monotonic(self) -> float:
        return super().monotonic() + self.later.total_seconds()


class World:
    """A service on PostgreSQL and its clock."""

    def __init__(self, running: Served, clock: Moved) -> None:
        self.running, self.clock = running, clock
        self.store = running.gateway.callers.banking.ledger._store  # type: ignore[attr-defined] # the ledger's own

    async def states(self) -> list[str]:
        return sorted(row.state for row in await rows(self.store, sa.select(transfers)))


@asynccontextmanager
async def world(postgres_server: str, folder: Path) -> AsyncIterator[World]:
    clock, deaf = Moved(), FakeRecognizer(lambda _seconds: "")
    settings = {"database_url": await emptied(postgres_server), "ivr_keys": {"bridge": SECRET}, "transcript_days": 9}
    with patch("app.bootstrap.SystemClock", lambda: clock):
        async with served(folder, deaf, **settings) as running:
            yield World(running, clock)


async def says(call: Caller, words: str) -> str:
    await call.send(typed(words))
    return await heard(call)


@JUMPS
async def test_a_yes_after_it_is_asked_for_again(postgres_server: str, quick_folder: Path, jump: timedelta) -> None:
    async with world(postgres_server, quick_folder) as it, calling(it.running, ALEX, "en-US") as call:
        assert "Is that right?" in await says(call, "send fifty dollars to catherine nguyen")
        it.clock.by = jump
        assert "I'll send 50 dollars" in await says(call, "yes")
        assert "succeeded" not in await it.states()
        it.clock.by = timedelta(0)
        assert len([state for state in await it.states() if state in {"succeeded", "submitting"}]) <= 1


@JUMPS
async def test_a_payment_of_a_later_day_is_sent_on_none_but_that(
    postgres_server: str, quick_folder: Path, jump: timedelta
) -> None:
    async with world(postgres_server, quick_folder) as it, calling(it.running, ALEX, "en-US") as call:
        day = it.clock.now() + timedelta(days=20)
        asked = await says(call, f"send fifty dollars to catherine nguyen on {day:%B} {day.day}")
        assert f"{day:%B} {day.day}" in asked
        assert (await says(call, "yes")).startswith("Done: 50 dollars will go")
        it.clock.by = jump
        ledger = it.running.gateway.callers.banking.ledger
        steady = Steadiness(it.clock, await it.store.clock())
        reconciler = Reconciler(ledger._deps, steady.doubted)  # type: ignore[attr-defined] # the ledger's own
        await reconciler.run_once()
        assert await it.states() == ["confirmed"]
        it.clock.by, it.clock.later = timedelta(0), timedelta(days=21)
        await reconciler.run_once()
        assert await it.states() == ["succeeded"], "its day has come"


async def test_a_bridge_s_handshake_counts_once(postgres_server: str, quick_folder: Path) -> None:
    async with world(postgres_server, quick_folder) as it:
        calls, one = it.running.calls, signed(ALEX, "nonce-0001", it.clock.now())
        assert [await status(calls, one), await status(calls, one)] == [101, 401]
        it.clock.by = HOUR
        assert await status(calls, signed(ALEX, "nonce-0002", it.clock.now())) == 101
        it.clock.by = timedelta(0)
        assert await status(calls, one) == 401
        it.clock.later = PURGE_EVERY
        assert await status(calls, signed(ALEX, "nonce-0003", it.clock.now())) == 101


async def test_what_was_said_is_not_forgotten_too_soon(postgres_server: str, quick_folder: Path) -> None:
    async with world(postgres_server, quick_folder) as it, calling(it.running, ALEX, "en-US") as call:
        assert "dollars" in await says(call, "what's my balance")
        chain = it.running.gateway.audit._chain  # type: ignore[attr-defined] # the log's own
        retention = Retention(chain, quick_folder / "recordings", it.clock, 9, 9, Steadiness(it.clock).doubted)
        for it.clock.by, later, kept in ((MONTHS, 0.0, 1), (timedelta(0), 0.0, 1), (MONTHS, BELIEVED_S, 0)):
            for it.clock.later in (timedelta(0), timedelta(seconds=later)):
                with suppress(TimeoutError):
                    async with asyncio.timeout(0.3):
                        await retention.run()
            assert len(await rows(it.store, sa.select(seeds))) == kept


async def test_a_call_goes_on_and_its_token_is_renewed(postgres_server: str, quick_folder: Path) -> None:
    async with world(postgres_server, quick_folder) as it, calling(it.running, ALEX, "en-US") as call:
        for jump in (HOUR, -HOUR, MONTHS):
            it.clock.by = jump
            assert "dollars" in await says(call, "what's my balance")
            async with calling(it.running, ALEX, "en-US") as newcomer:
                assert "dollars" in await says(newcomer, "what's my balance"), "with a token of this time"


@pytest.mark.parametrize("jump", [HOUR, -HOUR, MONTHS], ids=str)
def test_a_jump_is_believed_after_an_hour_and_told(jump: timedelta, caplog: pytest.LogCaptureFixture) -> None:
    clock = Moved()
    steady = Steadiness(clock)
    said: Callable[[], bool] = steady.doubted
    assert not said()
    for clock.by in (timedelta(seconds=30), timedelta(0)):
        assert not said()
    clock.by = jump
    assert [said(), said()] == [True, True]
    assert f"jumped by {jump.total_seconds() / 60:+.0f} min" in redactor()(caplog.text)
    clock.by = timedelta(0)
    assert not said()
    clock.by = jump
    assert said()
    clock.later = timedelta(seconds=BELIEVED_S)
    assert not said()
