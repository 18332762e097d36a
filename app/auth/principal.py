"""The caller's identity as a credential proved it, and what it may do."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from schemas.errors import MissingScope, Unauthenticated
from schemas.ids import CustomerId


class Scope(StrEnum):
    """What a credential may be used for."""

    CALL = "call"
    QA = "qa"


@dataclass(frozen=True, slots=True)
class Principal:
    """`customer` comes from the verified credential and from nowhere else; null for staff and machines."""

    subject: str
    customer: CustomerId | None
    scopes: frozenset[Scope]
    expires_at: datetime | None = None
    """When the credential ends; null where it was for one request."""

    def require(self, scope: Scope) -> None:
        """Raises MissingScope unless the credential carries `scope`."""
        if scope not in self.scopes:
            raise MissingScope(f"needs the scope {scope.value}")

    def caller(self) -> CustomerId:
        """The customer who calls. Raises MissingScope, Unauthenticated where the credential names no customer."""
        self.require(Scope.CALL)
        if self.customer is None:
            raise Unauthenticated("the credential names no customer")
        return self.customer


def scopes_of(words: str) -> frozenset[Scope]:
    """The scopes we know in a space-separated list; others are ignored."""
    return frozenset(scope for scope in Scope if scope.value in words.split())
