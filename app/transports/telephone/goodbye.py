"""How a telephone call is parted with: as the protocol has it, to a person or for good, and by the carrier's API."""

import asyncio
import contextlib
import logging
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from app.transports.live.deps import FLUSH_S
from app.transports.live.together import Hung
from app.transports.telephone.connection import Connection, Ending, PhoneDeps
from app.transports.telephone.line import Act, CallTransport, Left, SendBack, WebRequest, Wire
from schemas.errors import (
    BadInput,
    CarrierUnavailable,
    DependencyFailed,
    Draining,
    InternalFault,
    SlowConsumer,
    StoreUnavailable,
    TellerlineError,
)
from schemas.turn import HandedOff
from services.timing import LEAST_S, within

log = logging.getLogger(__name__)

_OURS: Final = (DependencyFailed, Draining, InternalFault)
"""What is no fault of the caller's: a person takes over rather than the line going dead."""


@dataclass(frozen=True, slots=True)
class Goodbye:
    """One call's."""

    connection: Connection
    transport: CallTransport
    deps: PhoneDeps

    async def refuse(self, error: TellerlineError, call: str | None = None) -> None:
        """There is no call; whoever asks after one that is the bridge's own is told that we can't go on."""
        self.deps.calls.metrics.error(error.code)
        if call:
            await self._tell(call, Ending.TRANSFER)
        await self._part(self.transport.refuse(error), error)

    async def end(self, call: str, handed: HandedOff | None, reason: TellerlineError | Hung | None) -> None:
        """A person takes over where one is wanted, or where we can't go on; the line is never left dead."""
        if isinstance(reason, TellerlineError):
            self.deps.calls.metrics.error(reason.code)
        if isinstance(reason, Hung):
            await self.connection.close(None)
            return
        if isinstance(reason, _OURS) and handed is None:
            handed = HandedOff(reason.code, f"the assistant failed: {reason.code}")
        if isinstance(reason, BadInput | SlowConsumer):
            words = self.transport.refuse(reason)
        elif handed is not None:
            words = self.transport.transfer(handed.reason, handed.summary)
        else:
            words = self.transport.hang_up()
        await self._tell(call, Ending.END if handed is None else Ending.TRANSFER)
        await self._ask_carrier(words)
        await self._part(words, reason)

    async def _tell(self, call: str, outcome: Ending) -> None:
        """Whoever asks what is to become of the call learns it; while no database answers, nothing."""
        try:
            with within(LEAST_S):
                await self.deps.ended(call, outcome)
        except StoreUnavailable as error:
            log.warning("what is to become of a call can't be asked for: %s", error.code)

    async def _ask_carrier(self, words: list[Act]) -> None:
        """A carrier that does not do it goes on as it was told beforehand; it is never passed over in silence."""
        for word in words:
            if isinstance(word, WebRequest):
                try:
                    await self.deps.web(word)
                except CarrierUnavailable as error:
                    self.deps.calls.metrics.error(error.code)
                    log.error("a call was not transferred or ended: %s", error.message)  # noqa: TRY400 - it is known

    async def _part(self, words: Iterable[Act], error: TellerlineError | None) -> None:
        """Say the last words, hear the answer where the protocol has one, and close."""
        with contextlib.suppress(Hung, BadInput, TimeoutError):
            async with asyncio.timeout(FLUSH_S):
                said = [word for word in words if isinstance(word, Wire)]
                for word in said:
                    await self.connection.send(word)
                if said and self.transport.lingers:
                    await self._linger()
        await self.connection.close(error)

    async def _linger(self) -> None:
        """Until the other side has left."""
        while (message := await self.connection.receive()) is not None:
            events = self.transport.read(message)
            for event in events:
                if isinstance(event, SendBack):
                    await self.connection.send(event.message)
            if any(isinstance(event, Left) for event in events):
                return
