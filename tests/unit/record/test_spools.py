"""A process empties its own spool and those that others left behind, the oldest first, and lets go of theirs."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from schemas.errors import StoreUnavailable
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
