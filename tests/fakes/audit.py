"""An audit log that keeps its records in memory."""

from dataclasses import dataclass, field

from schemas.audit import AuditRecord
from schemas.ids import CustomerId


@dataclass
class FakeAudit:
    """AuditLog without a chain, for tests of other rooms."""

    records: list[tuple[CustomerId, AuditRecord]] = field(default_factory=list)

    async def append(self, customer: CustomerId, record: AuditRecord) -> str:
        self.records.append((customer, record))
        return f"{len(self.records):064x}"
