"""A file that is made once, whole, by whoever comes first: all who ask for it get the same bytes."""

import contextlib
import os
from collections.abc import Callable
from pathlib import Path

from services.disk import OWNERS, beside


def made_once(path: Path, make: Callable[[], bytes]) -> bytes:
    """What `path` holds. Where there is nothing yet, it is what `make` gives, in a file only its owner can read."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not path.exists():
        with beside(path, make(), OWNERS) as made, contextlib.suppress(FileExistsError):  # another was first
            os.link(made, path)
    return path.read_bytes()
