"""The seal of a confirmation and the fingerprint of an order: pure functions of what the caller agrees to.

Both are taken over one canonical encoding, in which every field is preceded by its length in bytes, so that no two
different orders can encode alike.
"""

import hashlib
import hmac
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from schemas.banking import TransferOrder
from schemas.ids import CallId, CustomerId, ProposalId
from schemas.secret import long_enough

SEAL_VERSION: Final = "tellerline.seal.1"
ORDER_VERSION: Final = "tellerline.order.1"


@dataclass(frozen=True, slots=True)
class Binding:
    """Everything a confirmation is bound to: who, in which call, what exactly, under which nonce, until when."""

    proposal: ProposalId
    customer: CustomerId
    call: CallId
    order: TransferOrder
    step_up_required: bool
    nonce: str
    expires_at: datetime


def _canonical(fields: Iterable[str]) -> bytes:
    encoded = (field.encode() for field in fields)
    return b"".join(b"%d:%b" % (len(field), field) for field in encoded)


def _order_fields(order: TransferOrder) -> tuple[str, ...]:
    return (
        order.source,
        "account" if order.payee_id is None else "payee",
        order.to_account or "" if order.payee_id is None else order.payee_id,
        str(order.payee_version),
        str(order.amount.minor),
        order.amount.currency,
        order.on.isoformat() if order.on else "",
        order.bill_id or "",
    )


def fingerprint(customer: CustomerId, order: TransferOrder) -> str:
    """SHA-256 (hex) of what is asked of the bank: the same key may only ever come with the same fingerprint."""
    return hashlib.sha256(_canonical((ORDER_VERSION, customer, *_order_fields(order)))).hexdigest()


def encode(binding: Binding) -> bytes:
    """The canonical bytes that are sealed."""
    return _canonical(
        (
            SEAL_VERSION,
            binding.proposal,
            binding.customer,
            binding.call,
            *_order_fields(binding.order),
            "step-up" if binding.step_up_required else "",
            binding.nonce,
            binding.expires_at.isoformat(timespec="microseconds"),
        )
    )


class Sealer:
    """HMAC-SHA256 over a binding. The first key seals; all of them verify, so that keys can be rotated."""

    def __init__(self, keys: Sequence[bytes]) -> None:
        long_enough("a confirmation key", keys or [b""])
        self._keys = tuple(keys)

    def seal(self, binding: Binding) -> str:
        """The seal, 64 hex digits."""
        return self._mac(self._keys[0], binding)

    def fits(self, binding: Binding, seal: str) -> bool:
        """Whether `seal` is this binding's, compared in constant time under every key."""
        given = seal.encode("utf-8", "replace")
        matches = [hmac.compare_digest(self._mac(key, binding).encode(), given) for key in self._keys]
        return any(matches)

    @staticmethod
    def _mac(key: bytes, binding: Binding) -> str:
        return hmac.new(key, encode(binding), hashlib.sha256).hexdigest()
