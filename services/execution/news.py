"""What a customer is owed a word on: looked for as long as the call lasts, and told until it was heard."""

import asyncio
import logging
from collections.abc import Sequence
from typing import Final

from schemas.errors import TellerlineError
from schemas.ids import ProposalId
from schemas.transfer import Owed, TransferReceipt
from schemas.turn import ReplyId
from services.execution.executor import ActionExecutor
from services.timing import unbounded

log = logging.getLogger(__name__)

_EVERY_S: Final = 1.0
"""How often it is asked what became of a transfer whose end the caller waits for."""


class News:
    """One call's. `owed` is what earlier calls left to be told; of what is still open among it, the end is awaited."""

    def __init__(self, executor: ActionExecutor, owed: Sequence[Owed] = ()) -> None:
        self._executor = executor
        self._due = {item.receipt.proposal: item for item in owed if item.ended}
        self._told: dict[ReplyId, list[TransferReceipt]] = {}
        self._again: dict[ReplyId, list[Owed]] = {}
        self._settled: list[TransferReceipt] = []
        self._open: set[ProposalId] = set()
        self._watching: asyncio.Task[None] | None = None
        for item in owed:
            if not item.ended:
                self.await_end(item.receipt.proposal)

    @property
    def waiting(self) -> bool:
        """Whether there is something to be told."""
        return bool(self._due)

    def await_end(self, proposal: ProposalId) -> None:
        """The caller was told that this is followed up."""
        self._open.add(proposal)
        if self._watching is None or self._watching.done():
            with unbounded():  # it outlives the answer, or the call's opening, that begins it
                self._watching = asyncio.create_task(self._watch())

    def take(self, reply: ReplyId) -> Sequence[Owed]:
        """All that there is to be told, in the words of `reply`."""
        due, self._due = list(self._due.values()), {}
        if due:
            self._again[reply] = due
            self._told.setdefault(reply, []).extend(item.receipt for item in due)
        return due

    def settled(self, receipt: TransferReceipt) -> None:
        """A transfer of this call has come to an end, which its replies tell from now on."""
        self._settled.append(receipt)

    def telling(self, reply: ReplyId) -> None:
        """`reply` tells all that was settled in this call and not heard of yet."""
        if self._settled:
            self._told.setdefault(reply, []).extend(self._settled)

    async def heard(self, reply: ReplyId) -> None:
        """The caller heard all of a reply."""
        self._again.pop(reply, None)
        told = self._told.pop(reply, [])
        self._settled = [receipt for receipt in self._settled if receipt not in told]
        for receipt in told:
            await self._executor.told(receipt)

    def unheard(self, reply: ReplyId) -> None:
        """The caller did not hear all of a reply: what it told nobody asked for is told again."""
        self._told.pop(reply, None)
        self._due |= {item.receipt.proposal: item for item in self._again.pop(reply, ())}

    async def close(self) -> None:
        """The call is over."""
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.wait({self._watching})
            if not self._watching.cancelled() and (fault := self._watching.exception()) is not None:
                log.error("what became of a transfer was not followed to its end: %s", type(fault).__name__)

    async def _watch(self) -> None:
        while self._open:
            await asyncio.sleep(_EVERY_S)
            try:
                owed = await self._executor.owed()
            except TellerlineError as error:
                log.info("what became of a transfer can't be asked: %s", error.code)
                continue
            for item in owed:
                if item.ended and item.receipt.proposal in self._open:
                    self._open.discard(item.receipt.proposal)
                    self._due[item.receipt.proposal] = item
