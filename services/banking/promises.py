"""What callers were told of a yes that the database said nothing of, kept on this machine until it can be made true.

"I'm following it up" is said once it is in this spool, or where the ledger's own row says that the yes was spent. As
soon as the database answers, a yes that was not spent is closed for good and its end owed to the customer; one that was
is the reconciler's.
"""

import asyncio
import logging
from collections.abc import Sequence
from typing import Any, Final

import orjson

from schemas.errors import StoreUnavailable
from schemas.ids import CallId, CustomerId, ProposalId
from services.banking import transfers
from services.disk import on_disk
from services.ports import Clock
from services.record import BROKEN, Spool, Spools
from services.store import Store, instant, micros

log = logging.getLogger(__name__)

SIZE: Final = 1 << 20
"""Bytes of a spool: some five thousand promises."""


class Promises:
    """Promises over a spool of this process, and those `left_behind` by others."""

    def __init__(self, store: Store, clock: Clock, spool: Spool, left_behind: Sequence[Spool] = ()) -> None:
        self._store = store
        self._clock = clock
        self._spools = Spools(spool, left_behind)
        self._settling = asyncio.Lock()

    @property
    def waiting(self) -> int:
        """Promises that are still to be made true."""
        return self._spools.waiting

    async def follow_up(self, customer: CustomerId, proposal: ProposalId) -> bool:
        """Note that the customer is to be told what became of a yes; whether that will outlive this process."""
        return await self._put(customer, proposal, owed=True)

    async def withdraw(self, customer: CustomerId, proposal: ProposalId) -> bool:
        """Note that the customer was told that nothing moved: the proposal is to be closed."""
        return await self._put(customer, proposal, owed=False)

    async def void(self, customer: CustomerId, call: CallId) -> bool:
        """Note that what a call has proposed until now is to be voided; whether that will outlive this process."""
        at = micros(self._clock.now())
        return await self._kept({"customer": customer, "call": call, "at": at})

    async def settle(self) -> int:
        """Make true what waits; how many promises that were. Raises StoreUnavailable."""
        async with self._settling:
            return await self._spools.empty(self._keep)

    def close(self) -> None:
        """Let go of the spools; what waits is made true after the next start."""
        self._spools.close()

    async def _keep(self, spool: Spool, promises: Sequence[tuple[int, bytes]]) -> None:
        for number, data in promises:
            await self._make_true(data)
            await on_disk.run(None, spool.done, number)

    async def _put(self, customer: CustomerId, proposal: ProposalId, *, owed: bool) -> bool:
        return await self._kept({"customer": customer, "proposal": proposal, "owed": owed})

    async def _kept(self, promise: dict[str, Any]) -> bool:
        try:
            await self._spools.put(orjson.dumps(promise))
        except StoreUnavailable as error:
            log.error("a promise can't be kept on disk: %s", error.message)  # noqa: TRY400 - its cause is known
            return False
        return True

    async def _make_true(self, data: bytes) -> None:
        """Both this and the yes, should it arrive only now, exclude each other in the row, in whichever order."""
        if data == BROKEN:
            log.error("a promise on disk can't be read any more: a customer may wait for a word")
            return
        given, now = orjson.loads(data), self._clock.now()
        customer = CustomerId(given["customer"])
        if "call" in given:
            await transfers.void_until(customer, self._store, CallId(given["call"]), instant(given["at"]), now)
            return
        proposal = ProposalId(given["proposal"])
        if given["owed"]:
            await transfers.close_owing(customer, self._store, proposal, now)
            return
        why = {"reason": "not_carried_out", "updated_at": micros(now)}
        await transfers.move_alone(customer, self._store, "ledger.withdraw", proposal, transfers.TO_CANCELLED, why)
