"""A process empties its own spool and those that others left behind, the oldest first, and lets go of theirs."""

import asyncio
import os
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

from schemas.errors import StoreRefused, StoreUnavailable
from services.record.spool import Spool, left_behind, own
from services.record.spools import Spools

KEY, SIZE = b"k" * 32, 1 << 14


async def test_what_others_left_behind_is_taken_first_and_let_go_of(tmp_path: Path) -> None:
    ours, theirs = own(tmp_path, "kept", KEY, SIZE), own(tmp_path, "kept", KEY, SIZE)
    theirs.put(b"theirs")
    theirs.close()
    spools = Spools(ours, left_behind(tmp_path, "kept", KEY, SIZE))
    await spools.put(b"ours")
    taken: list[bytes] = []

    async def take(spool: Spool, entries: Sequence[tuple[int, bytes]]) -> None:
        taken.extend(data for _, data in entries)
        await asyncio.to_thread(spool.done, entries[-1][0])

    assert await spools.empty(take) == 2
    assert taken == [b"theirs", b"ours"]
    assert (spools.waiting, await spools.empty(take)) == (0, 0)
    assert own(tmp_path, "kept", KEY, SIZE).waiting == 0, "the other one is free again"
    spools.close()


async def test_what_waits_for_a_silent_disk_is_written_into_no_file_that_comes_after_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A spool that was closed is none of ours, and its descriptor may be another file's."""
    spool, again, sync = own(tmp_path, "kept", KEY, SIZE), threading.Event(), os.fdatasync
    spools = Spools(spool)
    monkeypatch.setattr(os, "fdatasync", lambda file: (again.wait(9), sync(file)))
    for data in (b"being written", b"waits"):
        with pytest.raises(StoreUnavailable):
            await spools.put(data)
    done = asyncio.create_task(asyncio.to_thread(spool.done, 1))
    spools.close()
    with (tmp_path / "other").open("w+b") as other:
        again.set()
        with pytest.raises(StoreRefused, match="closed"):
            await done
        assert not other.read()
    assert [data for _, data in own(tmp_path, "kept", KEY, SIZE).oldest(9)] == [b"being written"]


async def test_what_can_not_be_taken_waits(tmp_path: Path) -> None:
    spools = Spools(own(tmp_path, "kept", KEY, SIZE))
    await spools.put(b"ours")

    async def refuse(_spool: Spool, _entries: Sequence[tuple[int, bytes]]) -> None:
        raise StoreUnavailable("the database is gone")

    with pytest.raises(StoreUnavailable):
        await spools.empty(refuse)
    assert spools.waiting == 1
    assert spools.fill > 0
    spools.close()
