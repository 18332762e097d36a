"""Files of a recording as they lie on disk: encrypted with a key of the customer's for this recording alone."""

import secrets
from pathlib import Path
from typing import Final

from cryptography.exceptions import InvalidTag

from schemas.errors import MalformedMessage
from services.record.audit_keys import AuditKeys

_PURPOSE: Final = b"tellerline.recording.1"
_SUFFIX: Final = ".sealed"


class SealedFolder:
    """Writes and reads files of a folder, each bound to its name. `subject` is the customer's pseudonym.

    Whoever lacks the master key, or the recording's seed once it was removed, can read none of them.
    """

    def __init__(self, folder: Path, keys: AuditKeys, subject: str, seed: bytes) -> None:
        self._folder = folder
        self._keys = keys
        self._subject = subject
        self._seed = seed

    def write(self, name: str, data: bytes) -> None:
        """Write a file whole or not at all. Raises OSError."""
        sealed = self._keys.seal(self._subject, self._seed, data, name.encode(), _PURPOSE)
        part = self._folder / f".{name}.{secrets.token_hex(4)}.part"
        part.write_bytes(sealed)
        part.replace(self._folder / f"{name}{_SUFFIX}")

    def read(self, name: str) -> bytes:
        """Raises OSError, MalformedMessage where it was changed or sealed with another key."""
        sealed = (self._folder / f"{name}{_SUFFIX}").read_bytes()
        try:
            return self._keys.opened(self._subject, self._seed, sealed, name.encode(), _PURPOSE)
        except InvalidTag as error:
            raise MalformedMessage(f"{name} does not decrypt") from error

    def names(self, pattern: str) -> list[str]:
        """The names that match, in order."""
        return sorted(path.name.removesuffix(_SUFFIX) for path in self._folder.glob(f"{pattern}{_SUFFIX}"))
