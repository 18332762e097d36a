"""What is kept of calls is kept for so many days and no longer; at first nothing is."""

import asyncio
import json
import os
import sqlite3
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from unittest.mock import Mock

import pytest
from typer.testing import CliRunner

from app.cli import main
from app.composition.keys import audit_keys
from app.qa.replay.records.recorded import read_recording
from app.recordings.files import HEAD_FILE, RecordingHead
from app.recordings.live import Recordings
from app.recordings.recorder import CallRecorder
from app.recordings.shelf import SampleShelf
from app.retention import Retention, erase
from app.settings import Settings
from schemas.audit import AuditRecord
from schemas.errors import NotFound, StoreUnavailable
from schemas.ids import CallId, CustomerId, Locale
from schemas.transcript import Transcript
from schemas.turn import Normalized, ReplyId
from services.record.audit import ChainedAudit
from services.record.audit_keys import AuditKeys
from services.record.chain import verify
from services.record.heads import FileHead
from services.store import Store
from services.timing.clock import ManualClock
from tests.fakes.knowing_handler import fake_handler
from tests.fakes.recognizer import FakeRecognizer
from tests.harness.app import running_app

NOON = datetime(2026, 3, 4, 12, 0, tzinfo=UTC)
KEYS = AuditKeys(b"a" * 32)
ANN, BOB = CustomerId("ann"), CustomerId("bob")


@pytest.fixture
def audit(store: Store, tmp_path: Path) -> ChainedAudit:
    return ChainedAudit(store, KEYS, FileHead(tmp_path / "head.json"))


async def say(audit: ChainedAudit, customer: CustomerId, at: datetime) -> None:
    await audit.append(customer, AuditRecord("turn", CallId("c"), at, {"rule": "a@1"}, {"text": "send it to Kim"}))


async def readable(audit: ChainedAudit, customer: CustomerId, seq: int) -> bool:
    try:
        return (await audit.personal(customer, seq))["text"] == "send it to Kim"
    except NotFound:
        return False


def record(folder: Path, name: str, began: datetime, subject: str = "") -> Path:
    call = folder / name
    call.mkdir(parents=True)
    head = RecordingHead(call=name, locale=Locale("en-US"), started_at=began, subject=subject, seed="")
    (call / HEAD_FILE).write_text(head.model_dump_json())
    (call / "turn-01.flac.sealed").write_bytes(b"sound")
    return call


@pytest.mark.parametrize(("days", "kept"), [(0, []), (1, [4]), (2, [3, 4]), (30, [1, 2, 3, 4])])
async def test_transcripts_go_by_the_day_and_the_chain_stands(
    store: Store, audit: ChainedAudit, tmp_path: Path, days: int, kept: list[int]
) -> None:
    for back, customer in ((9, ANN), (2, BOB), (1, ANN), (0, ANN)):
        await say(audit, customer, NOON - timedelta(days=back))
    await Retention(audit, tmp_path / "none", ManualClock(NOON), days, 0).run_once()
    found = [seq for seq, who in ((1, ANN), (2, BOB), (3, ANN), (4, ANN)) if await readable(audit, who, seq)]
    assert found == kept
    assert (await verify(store)).seq == 4


async def test_a_day_ends_at_midnight_utc_and_the_next_pass_comes_then(audit: ChainedAudit, tmp_path: Path) -> None:
    clock = ManualClock(NOON)
    retention = Retention(audit, tmp_path / "none", clock, 1, 0)
    await say(audit, ANN, NOON)
    clock.advance(retention.until_tomorrow_s() - 1)
    await retention.run_once()
    assert await readable(audit, ANN, 1)
    assert retention.until_tomorrow_s() == 1
    clock.advance(retention.until_tomorrow_s())
    await retention.run_once()
    assert not await readable(audit, ANN, 1)
    assert retention.until_tomorrow_s() == 24 * 3600


async def test_recordings_go_by_the_day(audit: ChainedAudit, tmp_path: Path) -> None:
    folder = tmp_path / "recordings"
    old, new = record(folder, "old", NOON - timedelta(days=3)), record(folder, "new", NOON - timedelta(days=2))
    torn = folder / "torn"
    torn.mkdir()
    os.utime(torn, (0, 0))
    retention = Retention(audit, folder, ManualClock(NOON), 0, 3)
    await retention.run_once()
    assert not old.exists()
    assert not torn.exists()
    assert (new / "turn-01.flac.sealed").is_file()


async def test_what_could_not_be_deleted_is_told_and_tried_again_however_it_was_asked_for(
    audit: ChainedAudit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Consent that was taken back too: what is left is out of the way, and no part of what is recorded after it."""
    folder, clock, yes = tmp_path / "recordings", ManualClock(NOON), Transcript.typed("hello", Locale("en-US"))
    head = RecordingHead(call="c", locale="en-US", started_at=NOON, subject="", seed="")
    monkeypatch.setattr("app.recordings.recorder._AGAIN_S", 0.01)
    taken_back = CallRecorder(folder / "c", head, KEYS, clock, SampleShelf())
    taken_back.agreed = True
    await taken_back.turn(yes, [Normalized(())], None)
    old, older = (record(folder, name, NOON - timedelta(days=3)) for name in ("old", "older"))
    with monkeypatch.context() as failing:
        failing.setattr("os.unlink", Mock(side_effect=OSError("a broken disk")))
        await taken_back.forget()
        assert "still to be deleted" in caplog.text
        with pytest.raises(OSError, match="broken disk"):
            await Retention(audit, folder, clock, 0, 2).run_once()
        assert {path.name for path in folder.iterdir()} == {".c.gone", ".old.gone", ".older.gone"}
        assert not old.exists()
        assert not older.exists()
        with pytest.raises(NotFound):
            read_recording(folder / ".c.gone", KEYS)
    for _ in range(200):
        await asyncio.sleep(0.01)
        if not (folder / ".c.gone").exists():
            break
    assert not (folder / ".c.gone").exists()
    await taken_back.turn(yes, [Normalized(())], None)
    await Retention(audit, folder, clock, 0, 2).run_once()
    assert [path.name for path in folder.iterdir()] == ["c"]


async def test_a_customer_is_erased_with_their_recordings_and_the_chain_stands(
    store: Store, audit: ChainedAudit, tmp_path: Path
) -> None:
    for customer in (ANN, BOB):
        await say(audit, customer, NOON)
    folder = tmp_path / "recordings"
    anns, bobs = (record(folder, str(customer), NOON, KEYS.subject(customer)) for customer in (ANN, BOB))
    (folder / "torn").mkdir()
    assert await erase(audit, KEYS, ANN, folder, ManualClock(NOON)) == 1
    assert not anns.exists()
    assert bobs.is_dir()
    assert not await readable(audit, ANN, 1)
    assert await readable(audit, BOB, 2)
    assert (await verify(store)).seq == 3


async def test_erasing_by_command(tmp_path: Path) -> None:
    own = CustomerId("alex-morgan")
    async with running_app(tmp_path, FakeRecognizer(lambda _: ""), transcript_days=9) as app:
        turn = await app.gateway.callers.open(own, CallId("c"), Locale("en-US"))
        async for _ in turn.take(Transcript.typed("what's my balance", Locale("en-US")), ReplyId("r")):
            pass
    assert seeds(tmp_path) == 1
    where = {"TELLERLINE_STATE_DIR": str(tmp_path)}
    rotated = where | {"TELLERLINE_AUDIT_KEY": "k" * 32}
    asked, strange, another, again, done, verified = [
        await asyncio.to_thread(CliRunner().invoke, main, ["audit", *wanted], input="n\n", env=env)
        for wanted, env in (
            (["erase", own], where),
            (["erase", "alex-morgen", "--yes"], where),
            *[(["erase", own, "--yes"], rotated)] * 2,
            (["erase", own, "--yes"], where),
            (["verify"], where),
        )
    ]
    assert asked.exit_code == 1
    for nothing in (strange, another, again):
        assert "tellerline: not_found: " in nothing.stderr, "whose words stay is not told that they are gone"
        assert "forgotten" not in nothing.output
    assert done.exit_code == 0, done.output
    assert verified.exit_code == 0, verified.output
    assert seeds(tmp_path) == 0


async def test_a_key_of_before_is_told_until_nothing_needs_it(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    own, folder, kept = CustomerId("alex-morgan"), tmp_path / "recordings", {"transcript_days": 9, "recording_days": 9}
    deaf, old, new = FakeRecognizer(lambda _: ""), "o" * 32, "n" * 32
    async with running_app(tmp_path, deaf, audit_key=old, **kept) as app:
        turn = await app.gateway.callers.open(own, CallId("c"), Locale("en-US"))
        async for _ in turn.take(Transcript.typed("what's my balance", Locale("en-US")), ReplyId("r")):
            pass
        sealed = audit_keys(app.gateway.settings)
    head = record(folder, "one", NOON, sealed.subject(own)) / HEAD_FILE
    head.write_text(head.read_text().replace('"seed":""', f'"seed":"{sealed.seed().hex()}"'))
    async with running_app(tmp_path, deaf, audit_key=new, **(kept | {"recording_days": 3650})):
        await asyncio.sleep(0.2)
    gone = f"(2 under {sealed.ids[0].hex()}), and are neither read nor erased: write the keys into TELLERLINE_AUDIT"
    assert gone in caplog.text, "at the start"
    before = {"TELLERLINE_AUDIT_KEYS_BEFORE": json.dumps([old])}
    for further, wanted, said, code in (
        ({}, ["verify"], gone, 1),
        (before, ["verify"], "records, head", 0),
        (before, ["erase", own, "--yes"], "forgotten, with 1 recordings", 0),
        ({}, ["verify"], "records, head", 0),
    ):
        where = {"TELLERLINE_STATE_DIR": str(tmp_path), "TELLERLINE_AUDIT_KEY": new} | further
        told = await asyncio.to_thread(CliRunner().invoke, main, ["audit", *wanted], env=where)
        assert (told.exit_code, said in told.output) == (code, True), told.output
        assert new not in told.output
        assert old not in told.output


async def test_a_spool_with_a_hand_in_it_is_told_until_it_is_taken_away(tmp_path: Path) -> None:
    spool, where = tmp_path / "audit.0.spool", {"TELLERLINE_STATE_DIR": str(tmp_path)}
    spool.write_bytes(b"nonsense" * 9)
    async with running_app(tmp_path, FakeRecognizer(lambda _: "")) as app:
        assert "tellerline_spools_broken 1.0" in (await app.client.get("/metrics")).text
        assert (await app.client.get("/readyz")).status_code == 200, "callers are served all the same"
    told = await asyncio.to_thread(CliRunner().invoke, main, ["audit", "verify"], env=where)
    assert told.exit_code == 1
    assert "audit.0.spool.broken." in told.output
    for aside in await asyncio.to_thread(lambda: list(tmp_path.glob("*.broken.*"))):
        aside.unlink()
    again = await asyncio.to_thread(CliRunner().invoke, main, ["audit", "verify"], env=where)
    assert again.exit_code == 0


async def test_a_state_folder_that_was_removed_lets_no_newcomers_in(tmp_path: Path) -> None:
    async with running_app(tmp_path, FakeRecognizer(lambda _: "")) as app:
        (tmp_path / "audit.0.spool").unlink()
        await asyncio.to_thread(app.gateway.audit.look)  # type: ignore[attr-defined] # as it is every few seconds
        told = await app.client.get("/readyz")
        assert told.status_code == 503
        assert "start again" in told.json()["error"]["message"]


async def test_a_pass_that_fails_comes_again(
    audit: ChainedAudit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    passes: list[str] = []

    async def forget(_self: ChainedAudit, _through: date) -> int:
        passes.append("transcripts")
        raise StoreUnavailable("down")

    class Stop(Exception):
        """Leave the endless loop."""

    async def sleep(seconds: float) -> None:
        passes.append(f"{seconds:.0f} s")
        if len(passes) == 4:
            raise Stop

    monkeypatch.setattr(ChainedAudit, "forget", forget)
    monkeypatch.setattr("app.retention.asyncio.sleep", sleep)
    with pytest.raises(Stop):
        await Retention(audit, tmp_path, ManualClock(NOON), 1, 1).run()
    assert passes == ["transcripts", "60 s"] * 2


async def test_nothing_is_kept_at_first_and_what_was_kept_is_forgotten_at_the_next_start(tmp_path: Path) -> None:
    """Through the composition root, with the settings alone."""
    settings = Settings(_env_file=None)
    assert (settings.transcript_days, settings.recording_days) == (0, 0)
    recognizer, text = FakeRecognizer(lambda _: ""), "what's my balance"

    async def call_and_count_seeds(**kept: int) -> tuple[int, int]:
        async with running_app(tmp_path, recognizer, **kept) as app:
            before = seeds(tmp_path)
            turn = await app.gateway.callers.open(CustomerId("alex-morgan"), CallId(f"c{kept}"), Locale("en-US"))
            async for _ in turn.take(Transcript.typed(text, Locale("en-US")), ReplyId("r")):
                pass
            return before, seeds(tmp_path)

    assert await call_and_count_seeds() == (0, 0)
    assert await call_and_count_seeds(transcript_days=1) == (0, 1)
    assert await call_and_count_seeds(transcript_days=1) == (1, 1)
    assert await call_and_count_seeds() == (0, 0)
    assert text.encode() not in everything(tmp_path)


def everything(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.glob("tellerline.db*"))


def seeds(folder: Path) -> int:
    with sqlite3.connect(folder / "tellerline.db") as database:
        (count,) = database.execute("select count(*) from audit_seeds").fetchone()
    database.close()
    return int(count)


async def test_of_a_call_that_goes_on_after_its_customer_was_erased_nothing_more_is_kept(
    audit: ChainedAudit, tmp_path: Path
) -> None:
    recordings = Recordings(tmp_path / "recordings", ManualClock(NOON), KEYS)
    handler = await recordings.opener(fake_handler)(ANN, CallId("one"), Locale("en-US"))
    await recordings.consent(CallId("one"), True)
    for number, erased in enumerate((False, True, False)):
        if erased:
            assert await erase(audit, KEYS, ANN, tmp_path / "recordings", ManualClock(NOON)) == 1
        async for _ in handler.take(Transcript.typed("send it to Kim", Locale("en-US")), ReplyId(f"r{number}")):
            pass
        assert any((tmp_path / "recordings").iterdir()) is (number == 0)
