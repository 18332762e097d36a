"""Calls that count for nothing: what one that failed leaves behind reaches no other."""

from datetime import UTC, datetime

import pytest

from app.qa import rehearsal
from app.qa.rehearsal import Rehearsal
from app.settings import Settings
from schemas.errors import StoreUnavailable
from schemas.ids import EN_US, CustomerId
from services.timing.clock import ManualClock

ALEX = CustomerId("alex-morgan")
NOON = datetime(2026, 1, 15, 12, tzinfo=UTC)


async def test_a_bank_that_failed_to_open_is_opened_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    real, failed = rehearsal.open_demo_bank, []

    async def open_half(store: object, clock: object, customers: object) -> None:
        if not failed:
            failed.append(store)
            raise StoreUnavailable("bank.seed: no answer in time")
        await real(store, clock, customers)  # type: ignore[arg-type]

    monkeypatch.setattr(rehearsal, "open_demo_bank", open_half)
    played = Rehearsal(Settings())
    with pytest.raises(StoreUnavailable):
        async with played.opened(ALEX, EN_US, ManualClock(NOON)):
            pass
    async with played.opened(ALEX, EN_US, ManualClock(NOON)) as call:
        assert (await call.holdings())["alex-checking USD"] > 1_240_000
    await played.close()


async def test_what_a_failed_call_left_in_a_spool_fills_it_for_nobody() -> None:
    played = Rehearsal(Settings())
    while played._records.fill < 0.9:
        played._records.put(b"x" * 2_000)
    async with played.opened(ALEX, EN_US, ManualClock(NOON)) as call:
        assert played._records.fill < 0.5
        assert await call.holdings()
    await played.close()
