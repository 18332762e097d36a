"""A disk that never answers (a hung network folder) holds neither the other callers, nor the monitor, nor the end."""

import asyncio
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from pathlib import Path
from unittest.mock import create_autospec

import pytest

from app import bootstrap
from app.recordings.live import Recordings
from app.settings import read_settings
from schemas.errors import StoreUnavailable
from schemas.ids import CallId, CustomerId, Locale
from schemas.transcript import Transcript
from schemas.turn import ReplyId
from services.disk import DISK_S, DiskThreads
from services.observability import Metrics
from services.record.audit_keys import AuditKeys
from services.record.audit_spool import SpooledAudit
from services.timing import ManualClock
from tests.fakes.knowing_handler import fake_handler

EN_US = Locale("en-US")
ENDING = """
import threading
from app.leaving import end_soon
threading.Thread(target=threading.Event().wait).start()
end_soon(0.2)
"""


class FakeHungDisk:
    """Calls come back once it is let go."""

    def __init__(self) -> None:
        self.answers = threading.Event()

    def __call__(self, *_: object, **__: object) -> list[Path]:
        self.answers.wait(30)
        return []


@pytest.fixture
def hung() -> Iterator[FakeHungDisk]:
    disk = FakeHungDisk()
    yield disk
    disk.answers.set()


async def test_threads_that_hang_leave_everybody_elses_and_their_number_has_a_bound(hung: FakeHungDisk) -> None:
    disk = DiskThreads(threads=2, most=4)
    began = time.monotonic()
    for _ in range(4):
        with pytest.raises(StoreUnavailable):
            await disk.run(0.05, hung)
    assert await asyncio.to_thread(lambda: 7) == 7
    with pytest.raises(StoreUnavailable):
        await disk.run(None, hung)
    assert time.monotonic() - began < 1.0
    hung.answers.set()
    await asyncio.sleep(0.1)
    assert await disk.run(None, lambda: 8) == 8


async def test_the_monitor_is_answered_while_the_state_folder_hangs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hung: FakeHungDisk
) -> None:
    monkeypatch.setattr(bootstrap, "COUNT_EVERY_S", 0.05)
    async with AsyncExitStack() as stack:
        metrics = Metrics()
        audit = create_autospec(SpooledAudit, instance=True)
        base = bootstrap._Base(
            stack, read_settings(state_dir=tmp_path), ManualClock(datetime(2026, 1, 15, tzinfo=UTC)), metrics
        )
        await bootstrap._look_at_spools(base, audit)
        monkeypatch.setattr(bootstrap, "broken", hung)
        await asyncio.sleep(0.2)
        before = time.monotonic()
        assert b"tellerline_spools_broken 0.0" in metrics.exposition()
        assert time.monotonic() - before < 0.5


async def test_a_recording_that_hangs_keeps_no_caller_waiting_and_is_deleted_in_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hung: FakeHungDisk
) -> None:
    clock, folder = ManualClock(datetime(2026, 1, 15, tzinfo=UTC)), tmp_path / "recordings"
    recordings = Recordings(folder, clock, AuditKeys(b"k" * 32))
    handler = await recordings.opener(fake_handler)(CustomerId("x"), CallId("one"), EN_US)
    await recordings.consent(CallId("one"), True)
    said = Transcript.typed("what's my balance", EN_US)
    async for _ in handler.take(said, ReplyId("r")):
        pass
    assert (folder / "one").exists()
    rmtree = shutil.rmtree
    with monkeypatch.context() as hanging:
        hanging.setattr(shutil, "rmtree", lambda *given, **named: (hung(), rmtree(*given, **named)))
        hanging.setattr(Recordings, "_full", hung)
        began = time.monotonic()
        await asyncio.gather(recordings.consent(CallId("one"), False), _beating())
        async for _ in handler.take(said, ReplyId("r2")):
            pass
        await recordings.opener(fake_handler)(CustomerId("y"), CallId("two"), EN_US)
        assert time.monotonic() - began < DISK_S + 1.0
        assert CallId("two") not in recordings._recorders
        hung.answers.set()
        await asyncio.sleep(0.2)
    assert not (folder / "one").exists()


async def _beating() -> None:
    """The loop goes on meanwhile."""
    for _ in range(10):
        before = time.monotonic()
        await asyncio.sleep(0.02)
        assert time.monotonic() - before < 0.3


def test_the_process_ends_although_a_thread_never_does() -> None:
    ended = subprocess.run([sys.executable, "-c", ENDING], timeout=20, check=False, capture_output=True)
    assert ended.returncode == 0
    assert b"does not let go" in ended.stderr
