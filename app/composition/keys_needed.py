"""Keys of before that are still needed, and keys that are gone though something needs them."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import sqlalchemy as sa

from app.retention import seeds
from services.banking.entries import entry_of
from services.banking.proposals import binding
from services.banking.seal import Sealer
from services.banking.tables import transfers
from services.banking.transfers import UNSETTLED
from services.disk import on_disk
from services.record.audit import ChainedAudit
from services.record.audit_keys import ID_BYTES, SEED_BYTES, AuditKeys
from services.store import Store

PAGE: Final = 10_000
"""Transfers that are read at a time."""
_NONE: Final = -1


async def audit_keys_needed(audit: ChainedAudit, recordings: Path) -> Counter[bytes]:
    """How many customer days of words, and recordings, are under which audit key, by its id. Raises StoreUnavailable.

    What an older version sealed tells no key, and is not counted.
    """
    found = await on_disk.run(None, seeds, recordings)
    return await audit.days_by_key() + Counter(seed[:ID_BYTES] for seed in found if len(seed) == SEED_BYTES)


def audit_keys_gone(needed: Counter[bytes], keys: AuditKeys) -> str:
    """What to write where keys are gone that something is under; nothing where all are there."""
    gone = {name: count for name, count in needed.items() if name not in keys.ids}
    named = ", ".join(f"{count} under {name.hex()}" for name, count in sorted(gone.items()))
    said = f"days of words and recordings are under audit keys that are not here ({named}), and are neither read nor"
    return f"{said} erased: write the keys into TELLERLINE_AUDIT_KEYS_BEFORE" if gone else ""


def audit_keys_said(needed: Counter[bytes], keys: AuditKeys) -> str:
    """Each key's id, and whether it is needed."""
    current, *before = keys.ids
    said = [f"{current.hex()} in use", *(f"{one.hex()} {_still(needed[one])}" for one in before)]
    return ", ".join(said)


async def seals_needed(store: Store, keys: Sequence[bytes]) -> tuple[int, list[int]]:
    """Transfers that are not settled and fit none of the confirmation keys, and how many fit each of these."""
    unsettled = sa.select(transfers).where(transfers.c.state.in_([state.value for state in UNSETTLED]))
    page = unsettled.where(transfers.c.id > sa.bindparam("after")).order_by(transfers.c.id).limit(PAGE)
    sealers, found, after = [Sealer([key]) for key in keys], Counter[int](), {"after": ""}
    while rows := await store.look(lambda connection: connection.execute(page, after).all()):
        found.update(_fitting(row, sealers) for row in rows)
        after["after"] = rows[-1].id
    return found[_NONE], [found[at] for at in range(len(keys))]


def _fitting(row: sa.Row[Any], sealers: Sequence[Sealer]) -> int:
    """The place of the key that a transfer is sealed with; _NONE also of a row that can't be read."""
    try:
        proposal = entry_of(row).proposal
    except (ValueError, ArithmeticError):
        return _NONE
    fits = (at for at, sealer in enumerate(sealers) if sealer.fits(binding(proposal), proposal.seal))
    return next(fits, _NONE)


def seals_said(counts: Sequence[int]) -> str:
    """Whether keys before the one in use are needed."""
    return ", ".join(["one in use", *(f"before it {_still(count)}" for count in counts[1:])])


def _still(count: int) -> str:
    return f"still needed by {count}" if count else "needed no more"
