"""A folder, in memory where there is such a file system, for files that live no longer than the process."""

import contextlib
import fcntl
import os
import shutil
import tempfile
from pathlib import Path
from typing import Final

_MEMORY: Final = Path("/dev/shm")  # noqa: S108 - a folder of our own is made in it


class Scratch:
    """A folder of our own, locked while we live; those that killed processes left under the same name are removed."""

    def __init__(self, name: str, parent: Path | None = None) -> None:
        parent = parent or (_MEMORY if _MEMORY.is_dir() else Path(tempfile.gettempdir()))
        for left in parent.glob(f"{name}-*"):
            _remove_unless_locked(left)
        made = Path(tempfile.mkdtemp(prefix=f".{name}-", dir=parent))
        self._lock = _opened(made)
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        self.path = made.rename(parent / made.name[1:])  # only now can others find it

    def close(self) -> None:
        """Remove it."""
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self._lock)


def _opened(folder: Path) -> int:
    return os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)


def _remove_unless_locked(folder: Path) -> None:
    """What is not ours to open or to lock stays as it is."""
    with contextlib.suppress(OSError):
        lock = _opened(folder)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)
        finally:
            os.close(lock)
