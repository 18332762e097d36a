"""What was compiled of the rules is kept for the next process, beside Python's own compiled code.

Whoever may write there may write code as well, so what is read from there is trusted as code is. It is taken only where
it was made of these very rules, by this very code and these libraries; anything else is made anew.
"""

import hashlib
import pickle
import sys
import sysconfig
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from importlib.util import cache_from_source, find_spec
from pathlib import Path
from typing import Final, TypeVar

from rules import load
from schemas.errors import RulesInvalid

T = TypeVar("T")

CODE: Final = ("rules", "schemas", "services")
"""Packages whose code compiles rules, or is what rules are compiled to."""
_TORN: Final = (OSError, EOFError, ValueError, LookupError, TypeError, AttributeError, ImportError, pickle.PickleError)
_DIGEST: Final = hashlib.sha256().digest_size


def kept(name: str, make: Callable[[], T]) -> T:
    """What `make` makes of the rules, or what it made in an earlier process; `name` is no other's.

    Raises what `make` raises, and RulesInvalid where the name has a folder in it.
    """
    if "/" in name:
        raise RulesInvalid(f"nothing is kept as {name}")
    path = Path(cache_from_source(str(load.ROOT / f"{name}.py"))).with_suffix(".kept")
    with suppress(*_TORN):
        file = memoryview(path.read_bytes())
        stamp, digest, made = file[:_DIGEST], file[_DIGEST : 2 * _DIGEST], file[2 * _DIGEST :]
        if stamp == _stamp() and digest == hashlib.sha256(made).digest():
            found: T = pickle.loads(made)  # noqa: S301 - of the folder of our own compiled code
            return found
    fresh = make()
    if not sys.dont_write_bytecode and unchanged():
        with suppress(OSError):  # a folder that is not ours to write to
            _write(path, pickle.dumps(fresh, pickle.HIGHEST_PROTOCOL))
    return fresh


def unchanged() -> bool:
    """Whether rules and code are still what they were when this process began to read them."""
    return _state() == _AT_FIRST != {}


def _write(path: Path, made: bytes) -> None:
    """The file is there whole or not at all: other processes read it, and write it."""
    path.parent.mkdir(exist_ok=True)
    written = path.with_suffix(f".{id(made)}")
    try:
        with written.open("xb") as file:
            file.write(_stamp() + hashlib.sha256(made).digest() + made)
        written.replace(path)
    finally:
        written.unlink(missing_ok=True)


@lru_cache(maxsize=1)
def _stamp() -> bytes:
    """SHA-256 over the rules, the code, the Python that runs it and the versions of the libraries."""
    digest = hashlib.sha256(f"{load.ruleset_hash()} {sys.version}".encode())
    for path in _code():
        digest.update(f"{path}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
    libraries = Path(sysconfig.get_path("purelib")).glob("*.dist-info")
    digest.update(" ".join(sorted(path.name for path in libraries)).encode())
    return digest.digest()


def _code() -> list[Path]:
    specs = filter(None, map(find_spec, CODE))
    folders = [Path(folder) for spec in specs for folder in spec.submodule_search_locations or ()]
    return sorted(path for folder in folders for path in folder.rglob("*.py"))


def _state() -> dict[Path, tuple[int, int, int]]:
    """Which file each of rules and code is, how long, of when; empty where one vanished as it was looked at.

    Not when its node was changed: a link to it from elsewhere does that.
    """
    files = (*_code(), *(path for path in load.ROOT.rglob("*.*") if path.parent.name != "__pycache__"))
    with suppress(OSError):
        told = {path: path.stat() for path in files}
        return {path: (at.st_ino, at.st_size, at.st_mtime_ns) for path, at in told.items()}
    return {}


_AT_FIRST: Final = _state()
"""What changed since may not be what this process has read: nothing that it makes is kept then."""
