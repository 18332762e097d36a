"""A spool keeps entries sealed, in order and whole, across ends without warning, a full disk, and other processes."""

import contextlib
import os
import resource
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import pytest

from schemas.errors import ConfigInvalid, StoreRefused
from services.record.spool import BROKEN, Spool, broken, left_behind, own

KEY, SIZE = b"k" * 32, 1 << 14


def entries(spool: Spool) -> list[bytes]:
    return [data for _, data in spool.oldest(999)]


def test_entries_come_back_in_order_also_after_an_end_without_warning(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "a", KEY, SIZE)
    for number in range(20):
        spool.put(b"entry %d" % number)
    os.close(spool._file)
    again = Spool(tmp_path / "a", KEY, SIZE)
    assert entries(again) == [b"entry %d" % number for number in range(20)]
    assert [number for number, _ in again.oldest(2)] == [1, 2]


def test_what_is_done_makes_room_and_numbers_go_on(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "a", KEY, SIZE)
    for number in range(1, 2_000):
        spool.put(b"x" * 200)
        assert spool.oldest(1)[0][0] == number
        spool.done(number)
    spool.close()
    assert Spool(tmp_path / "a", KEY, SIZE).waiting == 0


def test_what_was_done_in_part_comes_again_under_its_number(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "a", KEY, SIZE)
    for data in (b"a", b"b", b"c"):
        spool.put(data)
    spool.done(2)
    assert entries(spool) == [b"c"]
    spool.close()
    assert Spool(tmp_path / "a", KEY, SIZE).oldest(9) == [(1, b"a"), (2, b"b"), (3, b"c")]


def test_nothing_of_an_entry_can_be_read_without_the_key(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "a.spool", KEY, SIZE)
    spool.put(b"wilhelmina")
    spool.close()
    assert b"wilhelmina" not in (tmp_path / "a.spool").read_bytes()
    assert (tmp_path / "a.spool").stat().st_mode & 0o077 == 0
    whole = (tmp_path / "a.spool").read_bytes()
    with pytest.raises(ConfigInvalid, match=r"a\.spool is under an audit key that is not here: write it into"):
        Spool(tmp_path / "a.spool", b"z" * 32, SIZE)
    assert (tmp_path / "a.spool").read_bytes() == whole, "it would be lost"
    assert not broken_in(tmp_path)


def test_what_waits_under_a_key_of_before_is_read_and_what_comes_is_under_the_key_in_use(tmp_path: Path) -> None:
    for number, named in enumerate((True, False)):
        path, other = tmp_path / f"{number}", b"z" * 32
        spool = Spool(path, KEY, SIZE)
        spool.put(b"first")
        if not named:  # as before names told of keys
            spool.done(1)
            spool._name = b"n" * 16
            spool._cipher = spool._cipher_of(KEY)
            spool._write(0, b"tlspool1" + spool._name + bytes(7) + b"\x02")
            spool.put(b"first")
        spool.close()
        rotated = Spool(path, other, SIZE, [b"y" * 32, KEY])
        rotated.put(b"second")
        assert entries(rotated) == [b"first", b"second"]
        rotated.done(rotated.oldest(9)[-1][0])
        rotated.put(b"third")
        rotated.close()
        assert entries(Spool(path, other, SIZE)) == [b"third"]


def test_an_empty_one_of_another_key_is_used_again(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "a", KEY, SIZE)
    spool.put(b"taken")
    spool.done(1)
    spool.close()
    other = Spool(tmp_path / "a", b"z" * 32, SIZE)
    other.put(b"later")
    other.close()
    assert Spool(tmp_path / "a", b"z" * 32, SIZE).oldest(9) == [(2, b"later")]


@pytest.mark.parametrize("missing", [(0, 1), (1, 2), (2, 3), (3, 4), (1, 4)])
def test_an_entry_that_was_torn_ends_the_spool_and_what_follows_is_kept(
    tmp_path: Path, missing: tuple[int, int]
) -> None:
    """Some sectors of the last write reached the disk, others did not."""
    spool = Spool(tmp_path / "a", KEY, SIZE)
    spool.put(b"whole")
    end = spool._end
    spool.put(b"torn" * 400)
    last = spool._end
    spool.close()
    with (tmp_path / "a").open("r+b") as file:
        first, behind = max(end, missing[0] * 512), min(last, missing[1] * 512)
        file.seek(first)
        file.write(bytes(behind - first))
    again = Spool(tmp_path / "a", KEY, SIZE)
    assert entries(again) == [b"whole"]
    again.put(b"later")
    again.close()
    assert entries(Spool(tmp_path / "a", KEY, SIZE)) == [b"whole", b"later"]
    assert not broken_in(tmp_path), "a crash is no tampering"


def broken_in(folder: Path) -> int:
    return len(broken(folder))


TAMPERED = {
    "a byte of the first": (40, b"\xff", [BROKEN, b"second", b"third"]),
    "a byte of the second": (90, b"\xff", [b"first", BROKEN, b"third"]),
    "a byte of the last": (130, b"\xff", [b"first", b"second", BROKEN]),
    "a length": (32, b"\xff\xff\xff\xff", [BROKEN, b"second", b"third"]),
    "a length to nothing": (32, b"\0\0\0\0", [BROKEN, b"second", b"third"]),
    "a length in the middle": (69, b"\xff\xff\xff\xff", [b"first", BROKEN, b"third"]),
    "the number of the first": (31, b"\x07", [BROKEN] * 3),
    "what it is": (0, b"nonsense", []),
    "something behind the last": (160, b"more", [b"first", b"second", b"third"]),
}


@pytest.mark.parametrize("what", TAMPERED)
def test_a_hand_in_it_is_noticed_and_what_can_be_read_is_kept(
    tmp_path: Path, what: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    spool = Spool(tmp_path / "a.spool", KEY, SIZE)
    for data in (b"first", b"second", b"third"):
        spool.put(data)
    spool.close()
    at, changed, left = TAMPERED[what]
    with (tmp_path / "a.spool").open("r+b") as file:
        file.seek(at)
        file.write(changed)
    evidence = (tmp_path / "a.spool").read_bytes()
    with monkeypatch.context() as full:
        full.setattr(os, "fsync", Mock(side_effect=OSError("no room for a copy")))
        with pytest.raises(OSError, match="no room"):
            Spool(tmp_path / "a.spool", KEY, SIZE)
    assert (tmp_path / "a.spool").read_bytes() == evidence, "it would be lost"
    again = Spool(tmp_path / "a.spool", KEY, SIZE)
    assert entries(again) == left
    (aside,) = broken(tmp_path)
    assert aside.read_bytes() == evidence
    assert aside.stat().st_mode & 0o077 == 0
    assert "tampered" in caplog.text
    again.put(b"later")
    again.close()
    third = Spool(tmp_path / "a.spool", KEY, SIZE)
    assert entries(third) == [*left, b"later"]
    if left:
        third.done(third.oldest(99)[-1][0])
    third.close()
    before = broken_in(tmp_path)
    assert Spool(tmp_path / "a.spool", KEY, SIZE).waiting == (0 if left else 1)
    assert broken_in(tmp_path) == before


def test_entries_behind_a_sector_that_was_lost_are_kept_and_the_loss_is_told(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "a.spool", KEY, SIZE)
    for data in (b"first" * 89, b"second" * 20, b"third"):
        spool.put(data)
    spool.close()
    with (tmp_path / "a.spool").open("r+b") as file:
        file.seek(509)
        file.write(bytes(60))  # the length of the second with it
    again = Spool(tmp_path / "a.spool", KEY, SIZE)
    assert entries(again) == [b"first" * 89, BROKEN, b"third"]
    assert broken_in(tmp_path) == 1


@pytest.mark.parametrize("size", [0, 31, 40, 300])
def test_a_file_that_was_cut_short_has_room_again(tmp_path: Path, size: int) -> None:
    spool = Spool(tmp_path / "a.spool", KEY, SIZE)
    for data in (b"first", b"second" * 90):
        spool.put(data)
    spool.close()
    os.truncate(tmp_path / "a.spool", size)
    again = Spool(tmp_path / "a.spool", KEY, SIZE)
    kept = entries(again)
    again.put(b"later")
    again.close()
    assert entries(Spool(tmp_path / "a.spool", KEY, SIZE)) == [*kept, b"later"]


def test_a_file_that_was_removed_takes_nothing_any_more(tmp_path: Path) -> None:
    """Entries were taken, and gone with the process."""
    spool = Spool(tmp_path / "a", KEY, SIZE)
    spool.put(b"taken")
    assert not spool.look()
    (tmp_path / "a").unlink()
    with pytest.raises(StoreRefused, match="removed"):
        spool.put(b"lost")
    assert spool.gone
    assert entries(spool) == [b"taken"], "which the database may still take"


def test_what_was_taken_is_overwritten(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "a", KEY, SIZE)
    for number in range(20):
        spool.put(b"secret %d" % number)
    spool.done(20)
    assert not any((tmp_path / "a").read_bytes()[32:])


def test_an_end_while_it_is_overwritten_is_no_tampering(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for stop in (1, 2):
        spool = Spool(tmp_path / f"{stop}", KEY, SIZE)
        spool.put(b"taken")
        write, writes = spool._write, iter(range(9))

        def dying(at: int, data: bytes) -> None:
            if next(writes) >= stop:  # noqa: B023 - called within the loop's round
                raise KeyboardInterrupt
            write(at, data)  # noqa: B023 - as above

        monkeypatch.setattr(spool, "_write", dying)
        with pytest.raises(KeyboardInterrupt):
            spool.done(1)
        spool.close()
        again = Spool(tmp_path / f"{stop}", KEY, SIZE)
        assert again.waiting == 0
        again.put(b"later")
        assert again.oldest(1) == [(2, b"later")]
    assert not broken_in(tmp_path)


def test_entries_can_not_be_swapped_or_taken_from_another_spool(tmp_path: Path) -> None:
    for name in ("a", "b"):
        spool = Spool(tmp_path / name, KEY, SIZE)
        spool.put(b"first of " + name.encode())
        middle, begin = spool._end, 32
        spool.put(b"other of " + name.encode())
        end = spool._end
        spool.close()
    whole = (tmp_path / "a").read_bytes()
    swapped = whole[:begin] + whole[middle:end] + whole[begin:middle] + whole[end:]
    foreign = whole[:begin] + (tmp_path / "b").read_bytes()[begin:]
    for name, data in (("swapped", swapped), ("foreign", foreign)):
        (tmp_path / name).write_bytes(data)
        assert set(entries(Spool(tmp_path / name, KEY, SIZE))) <= {BROKEN}


def test_past_its_bound_it_refuses_and_keeps_what_it_has(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "a", KEY, SIZE)
    for _ in range(SIZE // 100):
        with contextlib.suppress(StoreRefused):
            spool.put(b"x" * 100)
    with pytest.raises(StoreRefused):
        spool.put(b"x" * 100)
    kept = entries(spool)
    assert spool.fill > 0.9
    spool.close()
    assert entries(Spool(tmp_path / "a", KEY, SIZE)) == kept


def test_its_place_on_the_disk_is_its_own(tmp_path: Path) -> None:
    """Where no file may grow any more it still takes entries; where nothing may be written it says so."""
    spool = Spool(tmp_path / "a", KEY, SIZE)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (SIZE, hard))
        spool.put(b"taken")
        resource.setrlimit(resource.RLIMIT_FSIZE, (1, hard))
        with pytest.raises(StoreRefused):
            spool.put(b"not taken")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    spool.put(b"taken too")
    assert entries(spool) == [b"taken", b"taken too"]


def test_each_process_has_its_own_and_what_a_dead_one_left_is_found(tmp_path: Path) -> None:
    code = (
        "import os, sys; from pathlib import Path; from services.record.spool import own; "
        f"own(Path(sys.argv[1]), 'audit', {KEY!r}, {SIZE}).put(b'left'); os._exit(9)"
    )
    mine = own(tmp_path, "audit", KEY, SIZE)
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False)
    found = left_behind(tmp_path, "audit", KEY, SIZE)
    assert [entries(spool) for spool in found] == [[b"left"]]
    assert not left_behind(tmp_path, "audit", KEY, SIZE), "found by two"
    mine.close()
    assert own(tmp_path, "audit", KEY, SIZE).waiting == 0


def test_more_processes_than_spools_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("services.record.spool._MOST_SPOOLS", 2)
    kept = [own(tmp_path, "audit", KEY, SIZE) for _ in range(2)]
    with pytest.raises(ConfigInvalid):
        own(tmp_path, "audit", KEY, SIZE)
    assert len(kept) == 2
