"""Keys of what is on record: pseudonyms, and one encryption key a customer and day, derived from one master key.

Master keys follow one another. The one in use seals; those before it open what was sealed under them, and everything
sealed has a seed that tells under which: so that it is known when none needs a key any more.
"""

import hashlib
import hmac
import secrets
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from schemas.ids import CustomerId
from schemas.secret import long_enough

ID_BYTES: Final = 8
"""Of a key's id, which tells nothing of the key."""
SEED_BYTES: Final = ID_BYTES + 32
"""A seed begins with its key's id; those of before, without one, were shorter."""
_NONCE_BYTES: Final = 12
_SUBJECT_DIGITS: Final = 32
_PERSONAL: Final = b"tellerline.audit.personal.1"


class AuditKeys:
    """Derives what the audit needs from its master key, and from those `before` it what they sealed."""

    def __init__(self, master: bytes, *before: bytes) -> None:
        self._masters = (master, *before)
        long_enough("an audit key", self._masters)
        self._pseudonyms = [_derive(one, b"", b"tellerline.audit.subject.1") for one in self._masters]
        self.ids = tuple(key_id(one) for one in self._masters)

    def subject(self, customer: CustomerId) -> str:
        """The customer's pseudonym in the chain."""
        return self.subjects(customer)[0]

    def subjects(self, customer: CustomerId) -> tuple[str, ...]:
        """The customer's pseudonyms, under the key in use and those before it."""
        made = (hmac.new(key, customer.encode(), hashlib.sha256) for key in self._pseudonyms)
        return tuple(one.hexdigest()[:_SUBJECT_DIGITS] for one in made)

    def of(self, purpose: bytes) -> tuple[bytes, ...]:
        """Keys of 32 bytes for what is no customer's; the first is in use."""
        return tuple(_derive(one, b"", purpose) for one in self._masters)

    def seed(self) -> bytes:
        """A fresh seed of what the key in use seals."""
        return self.ids[0] + secrets.token_bytes(SEED_BYTES - ID_BYTES)

    def seal(self, subject: str, seed: bytes, text: bytes, bound: bytes, purpose: bytes = _PERSONAL) -> bytes:
        """AES-256-GCM under the customer's key for this seed and purpose; by a seed of before, under its own key."""
        nonce = secrets.token_bytes(_NONCE_BYTES)
        return nonce + _cipher(self._meant(seed)[0], subject, seed, purpose).encrypt(nonce, text, bound)

    def opened(self, subject: str, seed: bytes, sealed: bytes, bound: bytes, purpose: bytes = _PERSONAL) -> bytes:
        """What was sealed. Raises InvalidTag where it was changed, or none of our keys sealed it."""
        for master in self._meant(seed):
            try:
                return _cipher(master, subject, seed, purpose).decrypt(
                    sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], bound
                )
            except (InvalidTag, ValueError):
                continue
        raise InvalidTag

    def _meant(self, seed: bytes) -> tuple[bytes, ...]:
        """The master key that a seed tells, or all where it tells none of ours."""
        return tuple(one for one, named in zip(self._masters, self.ids, strict=True) if seed[:ID_BYTES] == named) or (
            self._masters
        )


def key_id(master: bytes) -> bytes:
    """By which a key is told from others."""
    return _derive(master, b"", b"tellerline.key.id.1")[:ID_BYTES]


def _cipher(master: bytes, subject: str, seed: bytes, purpose: bytes) -> AESGCM:
    return AESGCM(_derive(master, seed, purpose + subject.encode()))


def _derive(key: bytes, salt: bytes, purpose: bytes) -> bytes:
    return HKDF(SHA256(), 32, salt or None, purpose).derive(key)
