"""What this process proposed and saw delivered: it spares the ledger a read before a yes.

Nothing depends on its being right: the write that spends a yes compares the whole row, and a refusal there is told from
the row itself.
"""

from collections import OrderedDict
from dataclasses import replace
from datetime import datetime
from typing import Final

from schemas.ids import CustomerId, ProposalId
from services.act.transfers import Entry

MOST: Final = 4_096
"""Proposals remembered; the oldest are forgotten."""


class Heard:
    """Open proposals of this process, each known to its own customer alone."""

    def __init__(self) -> None:
        self._entries: OrderedDict[tuple[CustomerId, ProposalId], Entry] = OrderedDict()

    def proposed(self, customer: CustomerId, entry: Entry, now: datetime) -> None:
        """Remember what was stored; what has expired can't be confirmed any more, and is forgotten."""
        while self._entries and next(iter(self._entries.values())).proposal.expires_at <= now:
            self._entries.popitem(last=False)
        self._entries[customer, entry.proposal.id] = entry
        while len(self._entries) > MOST:
            self._entries.popitem(last=False)

    def delivered(self, customer: CustomerId, proposal: ProposalId, at: datetime) -> None:
        """Note what the database took note of."""
        entry = self._entries.get((customer, proposal))
        if entry is not None:
            heard = replace(entry.proposal, delivered_at=at)
            self._entries[customer, proposal] = replace(entry, proposal=heard)

    def take(self, customer: CustomerId, proposal: ProposalId) -> Entry | None:
        """The entry of a proposal that was delivered, once."""
        entry = self._entries.pop((customer, proposal), None)
        return None if entry is None or entry.proposal.delivered_at is None else entry
