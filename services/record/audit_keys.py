"""Keys of what is on record: pseudonyms, and one encryption key a customer and day, derived from one master key."""

import hashlib
import hmac
from typing import Final

from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from schemas.errors import ConfigInvalid
from schemas.ids import CustomerId

MIN_KEY_BYTES: Final = 32
_SUBJECT_DIGITS: Final = 32
_PERSONAL: Final = b"tellerline.audit.personal.1"


class AuditKeys:
    """Derives what the audit needs from one master key: pseudonyms, and one encryption key a customer and day."""

    def __init__(self, master: bytes) -> None:
        if len(master) < MIN_KEY_BYTES:
            raise ConfigInvalid(f"an audit key needs {MIN_KEY_BYTES} bytes")
        self._master = master
        self._pseudonyms = _derive(master, b"", b"tellerline.audit.subject.1")

    def subject(self, customer: CustomerId) -> str:
        """The customer's pseudonym in the chain."""
        return hmac.new(self._pseudonyms, customer.encode(), hashlib.sha256).hexdigest()[:_SUBJECT_DIGITS]

    def of(self, purpose: bytes) -> bytes:
        """A key of 32 bytes for what is no customer's."""
        return _derive(self._master, b"", purpose)

    def cipher(self, subject: str, seed: bytes, purpose: bytes = _PERSONAL) -> AESGCM:
        """AES-256-GCM under the customer's key for this seed and purpose."""
        return AESGCM(_derive(self._master, seed, purpose + subject.encode()))


def _derive(key: bytes, salt: bytes, purpose: bytes) -> bytes:
    return HKDF(SHA256(), 32, salt or None, purpose).derive(key)
