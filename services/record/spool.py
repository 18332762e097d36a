"""A spool: entries kept on this machine, in order and sealed, until the database takes them.

One file of a fixed size, whose place on the disk is reserved when it is made: a disk that is full later does not keep
an entry out. Each entry is encrypted, bound to its number and to the entry before it, and durable once `put` returns.
A process has a spool to itself; what another left behind when it died is found by `left_behind`.

Behind the last entry the file holds zeros alone, and zeros again once all were taken: what was forgotten elsewhere is
not kept here. So whatever does not decrypt was torn by a crash in its last write, or somebody's hand was in it: then
the file is put aside as it is, for a person to look at, and each entry that still can be read is kept.
"""

import fcntl
import hashlib
import logging
import os
import secrets
import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from schemas.errors import ConfigInvalid, StoreRefused
from services.disk import OWNERS, sync_folder, write_whole
from services.record.audit_keys import ID_BYTES, key_id
from services.record.frames import LENGTH, NONCE_BYTES, TAG_BYTES, framed, missing, sector_after, written_up_to

log = logging.getLogger(__name__)

_MAGIC, _EMPTYING = b"tlspool1", b"tlspool0"
"""As it is used, and while it is being overwritten with zeros: then it holds nothing that is still wanted."""
_HEAD: Final = struct.Struct(">8s16sQ")
"""What the file is, its name (its key's id, and random bytes), and the number of the first entry in it."""
_MOST_SPOOLS: Final = 64
_PURPOSE: Final = b"tellerline.spool.1"
_SHORT: Final = bytes(2)
"""How the length of an entry below 64 KiB begins; longer ones are not looked for behind a gap."""
_MOST_LOST: Final = 4
"""Entries that a gap may have taken, if those behind it are to be found."""
BROKEN: Final = b""
"""Stands for an entry that can't be read any more; none of ours is empty."""


class Spool:
    """A spool in a file, locked for this process. Its methods block, and may be called from any thread."""

    def __init__(self, path: Path, key: bytes, size: int, before: Sequence[bytes] = ()) -> None:
        """`size` is the file's, in bytes; keys `before` open what waits under them.

        Raises BlockingIOError where another process has it, ConfigInvalid where what waits is under no key, OSError.
        """
        self._path, self._keys, self._name, self._users, self._closed = path, (key, *before), b"", 1, False
        self._first, self._entries, self._end, self._tag = 1, list[bytes](), _HEAD.size, b""
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._size, self._disk, self._state, self.gone = size, Lock(), Lock(), False
            if os.fstat(self._file).st_size < _HEAD.size:
                self._make()
            self._open()
        except BaseException:
            os.close(self._file)
            raise

    @property
    def waiting(self) -> int:
        """Entries in it."""
        return len(self._entries)

    @property
    def fill(self) -> float:
        """The part of it that is taken, 0 … 1."""
        return self._end / self._size

    def look(self) -> bool:
        """Whether its file was removed: what it takes would end with this process."""
        if not self._closed:
            self.gone = os.fstat(self._file).st_nlink == 0
        return self.gone

    def put(self, data: bytes) -> None:
        """Add an entry, durable when this returns. Raises StoreRefused where there is no room, or the disk fails."""
        assert data, "an empty one stands for what is broken"
        with self._using():
            if self.look():
                raise StoreRefused("the spool's file was removed")
            number = self._first + len(self._entries)
            nonce = secrets.token_bytes(NONCE_BYTES)
            sealed = nonce + self._cipher.encrypt(nonce, data, self._bound(number, self._tag))
            framed = LENGTH.pack(len(sealed)) + sealed
            if self._end + len(framed) + LENGTH.size > self._size:
                raise StoreRefused("the spool is full")
            try:
                self._write(self._end, framed + LENGTH.pack(0))
            except OSError as error:
                raise StoreRefused(f"the spool can't be written: {type(error).__name__}") from error
            with self._state:
                self._entries.append(data)
                self._end, self._tag = self._end + len(framed), sealed[-TAG_BYTES:]

    def oldest(self, most: int) -> list[tuple[int, bytes]]:
        """The entries that wait longest, with their numbers. Does not wait for a disk that falls silent."""
        with self._state:
            return list(enumerate(self._entries[:most], self._first))

    def done(self, through: int) -> None:
        """Entries up to the number `through` are where they belong. Emptied, the file is used from its start again."""
        with self._using():
            with self._state:
                taken = max(0, through + 1 - self._first)
                del self._entries[:taken]
                self._first += taken
            if not self._entries:
                self._restart()

    def close(self) -> None:
        """Let go of the file; what waits stays in it. A write under way comes to its end first."""
        if not self._closed:
            self._closed = True
            self._let_go()

    @property
    def name(self) -> str:
        """The file's own name, which it keeps."""
        return self._name.hex()

    @contextmanager
    def _using(self) -> Iterator[None]:
        """The file is open within the block: its descriptor is no other file's by now. Raises StoreRefused."""
        with self._disk:
            with self._state:
                if self._closed:
                    raise StoreRefused("the spool is closed")
                self._users += 1
            try:
                yield
            finally:
                self._let_go()

    def _let_go(self) -> None:
        with self._state:
            self._users -= 1
            if not self._users:
                os.close(self._file)

    def _make(self) -> None:
        os.posix_fallocate(self._file, 0, self._size)
        self._write(0, _HEAD.pack(_MAGIC, self._fresh_name(), 1) + LENGTH.pack(0))
        sync_folder(self._path.parent)

    def _open(self) -> None:
        if os.fstat(self._file).st_size < self._size:
            os.posix_fallocate(self._file, 0, self._size)  # cut short, it would have no room for anything
        self._size = os.fstat(self._file).st_size
        whole = os.pread(self._file, self._size, 0)
        magic, self._name, self._first = _HEAD.unpack_from(whole)
        if magic not in {_MAGIC, _EMPTYING}:
            self._put_aside(whole)
            self._write(0, bytes(self._size))
            self._make()
            whole = os.pread(self._file, self._size, 0)
            magic, self._name, self._first = _HEAD.unpack_from(whole)
        if magic == _EMPTYING:
            self._end = self._size
            self._restart()
            return
        if not self._read_under_its_key(whole):
            self._put_aside(whole)
        if whole.count(0, self._end) < len(whole) - self._end:  # what is there was being written, or is kept aside
            self._write(self._end, bytes(self._size - self._end))
        if not self._entries and not self._of(self._keys[0]):
            self._restart()

    def _read_under_its_key(self, whole: bytes) -> bool:
        """As `_read`, under the key that the name tells, or that opens an entry where it tells none of ours."""
        named = [key for key in self._keys if self._of(key)]
        for key in named or self._keys:
            self._entries, self._end, self._tag = [], _HEAD.size, b""
            self._cipher = self._cipher_of(key)
            sound = self._read(whole)
            if named or any(data != BROKEN for data in self._entries):
                return sound
        if self._entries:
            raise ConfigInvalid(
                f"what waits in {self._path} is under an audit key that is not here: write it into "
                "TELLERLINE_AUDIT_KEYS_BEFORE; without it, move the file away, and what it holds is lost"
            )
        return sound

    def _of(self, key: bytes) -> bool:
        return self._name[:ID_BYTES] == key_id(key)

    def _fresh_name(self) -> bytes:
        return key_id(self._keys[0]) + secrets.token_bytes(16 - ID_BYTES)

    def _cipher_of(self, key: bytes) -> AESGCM:
        return AESGCM(HKDF(SHA256(), 32, self._name, _PURPOSE).derive(key))

    def _read(self, whole: bytes) -> bool:
        """Take the entries in; whether they are as they were written, but for a last one that was being written."""
        sound = True
        while (sealed := framed(whole, self._end)) is not None or self._go_on_after_a_gap(whole):
            if sealed is None:
                sound = False
                continue
            end = self._end + LENGTH.size + len(sealed)
            data = self._opened(sealed, self._first + len(self._entries), self._tag)
            if data is None:
                if not any(whole[end:]) and missing(whole, self._end + LENGTH.size, end):
                    return sound
                data, sound = BROKEN, False
            self._entries.append(data)
            self._end, self._tag = end, sealed[-TAG_BYTES:]
        return sound and missing(whole, self._end, min(sector_after(self._end), len(whole)))

    def _opened(self, sealed: bytes, number: int, before: bytes) -> bytes | None:
        """What is sealed, where it is the entry of this number and `before` the tag of the one before it."""
        try:
            return self._cipher.decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], self._bound(number, before))
        except InvalidTag:
            return None

    def _go_on_after_a_gap(self, whole: bytes) -> bool:
        """Whether entries follow a place whose length is gone, which no last write leaves; those in it are broken."""
        last, next_number = written_up_to(whole), self._first + len(self._entries)
        at = whole.find(_SHORT, self._end + LENGTH.size)
        while 0 <= at < last:
            sealed = framed(whole, at)
            for lost in range(1, _MOST_LOST + 1) if sealed else ():
                if sealed and self._opened(sealed, next_number + lost, whole[at - TAG_BYTES : at]) is not None:
                    self._entries += [BROKEN] * lost
                    self._end, self._tag = at, whole[at - TAG_BYTES : at]
                    return True
            at = whole.find(_SHORT, at + 1)
        return False

    def _put_aside(self, whole: bytes) -> None:
        """Keep a copy of the file under a name that says what is the matter, before anything of it is overwritten."""
        aside = self._path.with_name(f"{self._path.name}.broken.{hashlib.sha256(whole).hexdigest()[:16]}")
        log.error("a spool was tampered with; it is kept as %s", aside.name)
        write_whole(aside, whole, OWNERS)

    def _restart(self) -> None:
        """Overwrite what was taken; what comes is under the key in use. The numbers go on: nothing from before fits."""
        head = _HEAD.pack(_EMPTYING, self._name, self._first)
        self._write(0, head)
        self._write(_HEAD.size, bytes(self._end - _HEAD.size))
        if not self._of(self._keys[0]):
            self._name = self._fresh_name()
        self._cipher = self._cipher_of(self._keys[0])
        self._write(0, _HEAD.pack(_MAGIC, self._name, self._first))
        self._end, self._tag = _HEAD.size, b""

    def _bound(self, number: int, before: bytes) -> bytes:
        return self._name + struct.pack(">Q", number) + before

    def _write(self, at: int, data: bytes) -> None:
        if os.pwrite(self._file, data, at) != len(data):
            raise OSError("a short write")
        os.fdatasync(self._file)


def broken(folder: Path) -> list[Path]:
    """Spools that were put aside because somebody's hand was in them, until a person takes them away."""
    return sorted(folder.glob("*.spool.broken.*"))


def own(folder: Path, kind: str, key: bytes, size: int, before: Sequence[bytes] = ()) -> Spool:
    """The first spool of this kind that no other process has. Raises OSError, ConfigInvalid where all are taken."""
    for path in _paths(folder, kind):
        with suppress(BlockingIOError):
            return Spool(path, key, size, before)
    raise ConfigInvalid(f"more than {_MOST_SPOOLS} processes use the state folder")


def left_behind(folder: Path, kind: str, key: bytes, size: int, before: Sequence[bytes] = ()) -> list[Spool]:
    """Spools with entries, of processes that are no more; an empty one is left where it is. Raises OSError."""
    found = []
    for path in _paths(folder, kind):
        if not path.exists():
            continue
        try:
            spool = Spool(path, key, size, before)
        except BlockingIOError:
            continue
        if spool.waiting:
            found.append(spool)
        else:
            spool.close()
    return found


def _paths(folder: Path, kind: str) -> Iterator[Path]:
    return (folder / f"{kind}.{number}.spool" for number in range(_MOST_SPOOLS))
