"""What is kept of calls is kept for days: transcripts (in the audit, encrypted) and recordings. Both are off at first.

A day is a UTC day. What was said on one is kept for it and the days that follow, so many in all as the settings say;
0 keeps nothing, and forgets what an earlier setting kept.
"""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from app.recordings.files import GONE, HEAD_FILE, RecordingHead, remove
from schemas.audit import AuditRecord
from schemas.errors import NotFound, TellerlineError
from schemas.ids import CustomerId
from services.disk import on_disk
from services.ports import Clock
from services.record.audit import ChainedAudit
from services.record.audit_keys import AuditKeys

log = logging.getLogger(__name__)

_AGAIN_S: Final = 60.0


@dataclass(frozen=True, slots=True)
class Retention:
    """Forgets what its time is over for. `recordings` is the folder of recorded calls; it may not exist."""

    audit: ChainedAudit
    recordings: Path
    clock: Clock
    transcript_days: int
    recording_days: int
    doubted: Callable[[], bool] = lambda: False
    """Whether the clock may be wrong: then nothing is forgotten yet."""

    async def run(self) -> None:
        """At once, and whenever a day begins, until cancelled; a pass that fails is logged and soon comes again."""
        while True:
            wait_s = self.until_tomorrow_s()
            try:
                if self.doubted():
                    wait_s = min(wait_s, _AGAIN_S)
                else:
                    await self.run_once()
            except (TellerlineError, OSError) as error:
                log.warning("a purge failed: %s", type(error).__name__)
                wait_s = min(wait_s, _AGAIN_S)
            await asyncio.sleep(wait_s)

    async def run_once(self) -> None:
        """One pass. Raises StoreUnavailable, OSError."""
        today = self.clock.now().astimezone(UTC).date()
        days = await self.audit.forget(today - timedelta(days=self.transcript_days))
        calls = await on_disk.run(None, _forget, self.recordings, today - timedelta(days=self.recording_days))
        if days or calls:
            log.info("forgot %d customer days of transcripts and %d recordings", days, calls)

    def until_tomorrow_s(self) -> float:
        """Seconds to the next UTC day."""
        now = self.clock.now().astimezone(UTC)
        tomorrow = datetime.combine(now.date() + timedelta(days=1), time(), UTC)
        return (tomorrow - now).total_seconds()


async def erase(audit: ChainedAudit, keys: AuditKeys, customer: CustomerId, recordings: Path, clock: Clock) -> int:
    """Forget all that a customer said, and put that on record; how many recordings there were.

    Raises NotFound where nothing of the customer was there, StoreUnavailable, OSError.
    """
    subjects = keys.subjects(customer)
    calls = await on_disk.run(None, _remove, recordings, lambda call: _subject(call) in subjects)
    known = await audit.erase(customer, AuditRecord("customer.erased", None, clock.now(), {"recordings": calls}))
    if not known and not calls:
        raise NotFound("nothing of this customer is on record under these audit keys; what others sealed stays")
    return calls


def seeds(folder: Path) -> list[bytes]:
    """Of the recordings there."""
    heads = (_head(call) for call in folder.iterdir()) if folder.is_dir() else ()
    return [bytes.fromhex(head.seed) for head in heads if head]


def _forget(folder: Path, through: date) -> int:
    """Remove the recordings of calls that began on the day `through` or before, and what was to go; how many."""
    return _remove(folder, lambda call: call.name.endswith(GONE) or _began(call) <= through)


def _remove(folder: Path, unwanted: Callable[[Path], bool]) -> int:
    """Remove recordings; how many. Raises OSError, once all that can be removed are."""
    failed: OSError | None = None
    calls = [call for call in folder.iterdir() if call.is_dir() and unwanted(call)] if folder.is_dir() else []
    for call in calls:
        try:
            remove(call)
        except OSError as error:
            failed = error
    if failed is not None:
        raise failed
    return len(calls)


def _head(call: Path) -> RecordingHead | None:
    try:
        return RecordingHead.model_validate_json((call / HEAD_FILE).read_bytes())
    except (OSError, ValidationError):
        return None


def _subject(call: Path) -> str | None:
    head = _head(call)
    return head.subject if head else None


def _began(call: Path) -> date:
    """The day a recording began; of one whose head does not read, the day it was last written to."""
    head = _head(call)
    if head is None:
        return datetime.fromtimestamp(call.stat().st_mtime, UTC).date()
    return head.started_at.astimezone(UTC).date()
