"""The installation's doctor names the part that is broken, not the one beside it."""

from datetime import date, timedelta
from pathlib import Path

import pytest

from app.composition.chain import chained
from app.composition.keys import audit_keys
from app.migrate import database
from app.qa.doctor import installation
from app.qa.doctor.findings import Severity
from app.settings import Settings
from schemas.audit import AuditRecord
from schemas.directory import CustomerRecord
from schemas.ids import CustomerId
from services.banking.directory_import import DirectoryImport, Household
from services.record.chain import told_time
from services.timing import Steadiness, SystemClock
from tests.harness.stores import DATABASE, administer, emptied


async def test_a_core_that_is_not_there_is_no_fault_of_the_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings(
        _env_file=None, state_dir=tmp_path, bank="fineract", fineract_url="http://127.0.0.1:9/api",
        fineract_user="teller", fineract_password="one",
    )  # fmt: skip
    asha = CustomerRecord(type="customer", customer="C-1", name="Asha", locale="en-GB", zone="Europe/London", route="1")
    async with database(settings) as store:
        await DirectoryImport(store, date(2026, 1, 15)).write([Household("C-1", [(1, asha)])])
    monkeypatch.setattr(installation, "_CHECKS", (("database", installation._money),))
    found = {one.subject: one.health for one in (await installation.examine_installation(settings)).findings}
    assert found["database"] is Severity.OK
    assert found["core bank"] is Severity.FAIL


async def test_a_database_that_takes_nothing_is_found_with_its_own_words(
    postgres_server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All that it was asked for was read, and it was fine."""
    settings = Settings(_env_file=None, state_dir=tmp_path, database_url=await emptied(postgres_server))
    monkeypatch.setattr(installation, "_CHECKS", (("database", installation._money),))
    alter = f"ALTER DATABASE {DATABASE} SET default_transaction_read_only"
    await administer(postgres_server, f"{alter} = on")
    try:
        found = (await installation.examine_installation(settings)).findings
    finally:
        await administer(postgres_server, f"{alter} = off")
    assert found[-1].health is Severity.FAIL
    assert "read-only transaction" in found[-1].said


@pytest.mark.parametrize("hours", [0, 2])
async def test_a_clock_behind_the_last_record_is_told_where_a_file_has_no_clock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hours: int
) -> None:
    settings = Settings(_env_file=None, state_dir=tmp_path)
    async with database(settings) as store:
        clock, log = SystemClock(), chained(settings, store, audit_keys(settings))
        await log.append(CustomerId("C-1"), AuditRecord("turn", None, clock.now() + timedelta(hours=hours)))
        assert Steadiness(clock, await told_time(store, clock.now())).doubted() is bool(hours)
    monkeypatch.setattr(installation, "_CHECKS", (("database", installation._money),))
    found = {one.subject: one.said for one in (await installation.examine_installation(settings)).findings}
    assert ("before the last record" in found.get("clock", "")) is bool(hours)
