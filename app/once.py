"""A file that is made once, whole, by whoever comes first: all who ask for it get the same bytes."""

import contextlib
import os
from collections.abc import Callable
from pathlib import Path
from tempfile import NamedTemporaryFile


def made_once(path: Path, make: Callable[[], bytes]) -> bytes:
    """What `path` holds. Where there is nothing yet, it is what `make` gives, in a file only its owner can read."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not path.exists():
        with NamedTemporaryFile(prefix=f".{path.name}-", dir=path.parent) as file:
            file.write(make())
            file.flush()
            os.fsync(file.fileno())  # a name for bytes that a power cut loses would be a key of nothing
            with contextlib.suppress(FileExistsError):  # another was first
                os.link(file.name, path)
    return path.read_bytes()
