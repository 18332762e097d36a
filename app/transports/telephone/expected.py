"""Calls that a bridge announces before they come, where their protocol has no room for a statement but only for an id.

The bridge signs a request that names the customer, and gets an id that nobody can guess; the call that brings it, once
and within a minute, is that customer's. Afterwards the id tells what is to become of the call.
"""

import secrets
import uuid
from collections import OrderedDict
from dataclasses import dataclass
from typing import Final

from app.transports.telephone.connection import Ending
from schemas.errors import Busy, NotFound
from schemas.ids import CustomerId
from services.ports import Clock

LIFE_S: Final = 60.0
"""So long an announced call may take to come,"""
KEPT_S: Final = 3_600.0
"""and so long after its announcement its outcome can be asked for, at the most."""
MAX_EXPECTED: Final = 10_000


@dataclass(slots=True)
class _Call:
    customer: CustomerId | None
    at: float
    outcome: Ending | None = None


class ExpectedCalls:
    """The announced calls of one process. Used from one event loop only."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._calls: OrderedDict[str, _Call] = OrderedDict()

    def announce(self, customer: CustomerId) -> str:
        """The id that the customer's call is to bring: a UUID. Raises Busy where too many are remembered."""
        self._forget()
        if len(self._calls) >= MAX_EXPECTED:
            raise Busy("too many calls were announced", retry_after_s=LIFE_S)
        identity = str(uuid.UUID(bytes=secrets.token_bytes(16)))
        self._calls[identity] = _Call(customer, self._clock.monotonic())
        return identity

    async def take(self, identity: str, _call: str) -> CustomerId | None:
        """Whose call it is, once; null where it was not announced, came before, or comes late."""
        call = self._calls.get(identity)
        if call is None or self._clock.monotonic() - call.at > LIFE_S:
            return None
        customer, call.customer = call.customer, None
        return customer

    def ended(self, identity: str, outcome: Ending) -> None:
        """What is to become of the call; of a stranger's too."""
        self._forget()
        call = self._calls.setdefault(identity, _Call(None, self._clock.monotonic()))
        call.outcome = outcome
        while len(self._calls) > MAX_EXPECTED:
            self._calls.popitem(last=False)

    def outcome(self, identity: str) -> Ending:
        """What is to become of a call that is over. Raises NotFound: it is not, or nobody knows it."""
        call = self._calls.get(identity)
        if call is None or call.outcome is None:
            raise NotFound("no call with this id has ended")
        return call.outcome

    def _forget(self) -> None:
        oldest = self._clock.monotonic() - KEPT_S
        while self._calls and next(iter(self._calls.values())).at < oldest:
            self._calls.popitem(last=False)
