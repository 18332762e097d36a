"""Scratch folders: one's own, gone when closed, and no litter of processes that were killed."""

import multiprocessing
import os
import signal
from multiprocessing.connection import Connection
from pathlib import Path

from app.qa.scratch import Scratch


def _live(parent: Path, made: Connection) -> None:
    scratch = Scratch("name", parent)
    (scratch.path / "file").write_text("x")
    made.send(str(scratch.path))
    signal.pause()


def test_a_folder_is_ones_own_until_it_is_closed(tmp_path: Path) -> None:
    first, second = Scratch("name", tmp_path), Scratch("name", tmp_path)
    assert first.path != second.path
    assert first.path.stat().st_mode & 0o077 == 0
    (first.path / "file").write_text("x")
    first.close()
    second.close()
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_process_left_is_removed_and_what_a_live_one_has_is_not(tmp_path: Path) -> None:
    ours, theirs = multiprocessing.Pipe()
    other = multiprocessing.get_context("fork").Process(target=_live, args=(tmp_path, theirs))
    other.start()
    folder = Path(ours.recv())
    Scratch("name", tmp_path).close()
    assert folder.is_dir(), "its process lives"
    assert other.pid is not None
    os.kill(other.pid, signal.SIGKILL)
    other.join()
    Scratch("another", tmp_path).close()
    assert folder.is_dir(), "another name"
    Scratch("name", tmp_path).close()
    assert not folder.exists()


def test_what_only_bears_the_name_stays(tmp_path: Path) -> None:
    link, elsewhere, file = tmp_path / "name-link", tmp_path / "elsewhere", tmp_path / "name-file"
    elsewhere.mkdir()
    link.symlink_to(elsewhere)
    file.write_text("x")
    Scratch("name", tmp_path).close()
    assert link.is_symlink()
    assert elsewhere.is_dir()
    assert file.is_file()
