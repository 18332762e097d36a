"""What an examination finds."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum

from app.qa.figures import Figure


class Severity(StrEnum):
    """OK as it should be; NOTE worth knowing; WARN costs latency or privacy; FAIL not to be used."""

    OK = "ok"
    NOTE = "note"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report."""

    subject: str
    health: Severity
    said: str


@dataclass
class Report:
    """All findings in order, and figures for machines."""

    findings: list[Finding] = field(default_factory=list)
    figures: dict[str, Figure] = field(default_factory=dict)

    def add(self, subject: str, health: Severity, said: str) -> None:
        """Add a finding."""
        self.findings.append(Finding(subject, health, said))

    def extend(self, findings: Iterable[Finding]) -> None:
        """Add several."""
        self.findings.extend(findings)

    @property
    def usable(self) -> bool:
        """Whether nothing failed."""
        return all(finding.health is not Severity.FAIL for finding in self.findings)
