"""Files that are there whole or not at all: neither a crash nor a power cut leaves a part of one under its name."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

OWNERS = 0o600
"""The mode of a file that only its owner can read."""


@contextmanager
def beside(path: Path, data: bytes, mode: int = 0o666) -> Iterator[Path]:
    """A file of `data` next to `path`, on the disk itself, to be named within the block; its name lasts behind it."""
    made = path.with_name(f".{path.name}-{secrets.token_hex(8)}")
    try:
        with os.fdopen(os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode), "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())  # a name for bytes that a power cut loses would be one of nothing
        yield made
        sync_folder(path.parent)
    finally:
        made.unlink(missing_ok=True)


def write_whole(path: Path, data: bytes, mode: int = 0o666) -> None:
    """Write a file, or replace it. Raises OSError: then it is what it was."""
    with beside(path, data, mode) as made:
        made.replace(path)


def sync_folder(folder: Path) -> None:
    """Make the names in a folder last."""
    file = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(file)
    finally:
        os.close(file)
