"""The folder of what was decoded: a sealed file a sound, whole or absent, the longest unused going first.

The key of a file is made of the sound itself, as its name is: who has not the recording can read nothing of what was
said in it, so that whoever erases the recording has erased this as well.
"""

import os
import secrets
from collections.abc import Iterator
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from services.disk import OWNERS
from services.timing import SystemClock

MOST_BYTES: Final = 256 * 1024 * 1024
"""Of the disk; some 60,000 sounds."""
TRIM_EVERY: Final = 512
"""Files that one process writes before it looks whether there are too many."""
_LEFT: Final = 0.9
"""Of the room, once some had to go."""
_NONCE_BYTES: Final = 12
_BLOCK: Final = 512
_TORN_S: Final = 60.0
"""An unnamed file so old is of a process that was killed."""
_SUFFIX: Final = ".sealed"


class TranscriptCache:
    """Several processes may share a folder. A disk that fails keeps nothing, and fails nobody."""

    def __init__(self, folder: Path, most_bytes: int = MOST_BYTES) -> None:
        self._folder = folder
        self._most = most_bytes
        self._written = 0

    def read(self, digest: bytes) -> bytes | None:
        """What is kept of a sound; None where nothing is, or what is there was torn or changed."""
        path, cipher = self._path(digest), _cipher(digest)
        try:
            sealed = path.read_bytes()
            found = cipher.decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], None)
            os.utime(path)
        except (OSError, InvalidTag, ValueError):
            return None
        return found

    def write(self, digest: bytes, data: bytes) -> None:
        """Keep it in place of what was kept."""
        path, nonce = self._path(digest), secrets.token_bytes(_NONCE_BYTES)
        part = path.with_name(f".{secrets.token_hex(16)}")
        with suppress(OSError):
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            path.parent.mkdir(mode=0o700, exist_ok=True)
            try:
                with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWNERS), "wb") as file:
                    file.write(nonce + _cipher(digest).encrypt(nonce, data, None))
                part.replace(path)  # what a power cut tears does not open, and is decoded anew
            finally:
                part.unlink(missing_ok=True)
        self._written += 1
        if self._written % TRIM_EVERY == 0:
            self.trim()

    def trim(self) -> None:
        """Make room, and remove what killed processes left."""
        now = SystemClock().now().timestamp()
        kept: list[tuple[float, int, Path]] = []
        for path, stat in self._files():
            if path.suffix == _SUFFIX:
                kept.append((stat.st_mtime, stat.st_blocks * _BLOCK, path))
            elif now - stat.st_mtime > _TORN_S:
                path.unlink(missing_ok=True)
        held = sum(size for _, size, _ in kept)
        room = held if held <= self._most else int(self._most * _LEFT)
        for _, size, path in sorted(kept):
            if held <= room:
                return
            with suppress(OSError):
                path.unlink(missing_ok=True)
            held -= size

    def _files(self) -> Iterator[tuple[Path, os.stat_result]]:
        """Ours alone: whatever else lies in a folder that somebody named is theirs."""
        for pattern in (f"[0-9a-f][0-9a-f]/{'[0-9a-f]' * 62}{_SUFFIX}", f"[0-9a-f][0-9a-f]/.{'[0-9a-f]' * 32}"):
            for path in self._folder.glob(pattern):
                with suppress(OSError):  # another process removed it
                    yield path, path.stat()

    def _path(self, digest: bytes) -> Path:
        name = blake2b(digest, digest_size=32, person=b"tellerline.name").hexdigest()
        return self._folder / name[:2] / f"{name[2:]}{_SUFFIX}"


def _cipher(digest: bytes) -> AESGCM:
    return AESGCM(blake2b(digest, digest_size=32, person=b"tellerline.key").digest())
