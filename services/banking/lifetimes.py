"""How long this process's proposals live by a clock that nobody can set back.

Their rows say it by the wall's clock; this is a second opinion, which only ever ends a proposal earlier.
"""

from collections import OrderedDict
from typing import Final

from schemas.ids import CustomerId, ProposalId

MOST: Final = 4_096
"""Proposals remembered; the oldest are forgotten, and the wall's clock alone decides about them."""


class Lifetimes:
    """When each proposal is over at the latest, in seconds of a monotonic clock; each known to its customer alone."""

    def __init__(self) -> None:
        self._ends: OrderedDict[tuple[CustomerId, ProposalId], float] = OrderedDict()

    def note(self, customer: CustomerId, proposal: ProposalId, until: float) -> None:
        """Note when a proposal is over."""
        self._ends[customer, proposal] = until
        while len(self._ends) > MOST:
            self._ends.popitem(last=False)

    def over(self, customer: CustomerId, proposal: ProposalId, moment: float) -> bool:
        """Whether a proposal's time is over; False where it is not known here."""
        return moment >= self._ends.get((customer, proposal), float("inf"))
