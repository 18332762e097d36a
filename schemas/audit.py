"""What is put on record of each decision."""

from dataclasses import dataclass, field
from datetime import datetime

from schemas.ids import CallId

AuditValue = str | int | float | bool | None | list["AuditValue"] | dict[str, "AuditValue"]


@dataclass(frozen=True, slots=True)
class AuditRecord:
    """One fact for the record.

    `facts` holds ids, versions, spans' offsets and kinds, scores, timings: no personal data.
    `personal` (words, names, amounts) is encrypted for the customer before it is stored, or left out.
    """

    event: str
    call: CallId | None
    at: datetime
    facts: dict[str, AuditValue] = field(default_factory=dict)
    personal: dict[str, AuditValue] = field(default_factory=dict)
