"""How long a call may go on: as long as its caller's credential holds, and as the service stays."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from app.transports.live.together import together
from schemas.call import Leaving, TokenExpiring, TokenRenewed
from schemas.errors import Draining, NotAllowed, Unauthenticated
from schemas.ids import CustomerId
from services.call import OutboundQueue
from services.guard.admission import RETRY_AFTER_S, Admission
from services.ports import Clock

WARNING_S: Final = 60.0
"""The client is told so long before its token ends."""


@dataclass(frozen=True, slots=True)
class Admitted:
    """Who calls, and for how many seconds the credential says so; null where it was for the handshake alone."""

    customer: CustomerId
    expires_in_s: float | None = None


Verify = Callable[[str], Awaitable[Admitted]]
"""Who a token is of. Raises NotAllowed, DependencyFailed."""


class CallLease:
    """One call's right to go on. Time is monotonic: no change of the wall clock prolongs a token."""

    def __init__(
        self, admitted: Admitted, verify: Verify, admission: Admission, outbound: OutboundQueue, clock: Clock
    ) -> None:
        self._customer = admitted.customer
        self._verify = verify
        self._admission = admission
        self._outbound = outbound
        self._clock = clock
        self._until = self._end(admitted)
        self._renewed = asyncio.Event()

    async def renew(self, token: str) -> None:
        """Take a newer token of the same customer. Raises NotAllowed, which ends the call, and DependencyFailed."""
        admitted = await self._verify(token)
        if admitted.customer != self._customer:
            raise NotAllowed("the token is another customer's")
        self._until = self._end(admitted)
        self._renewed.set()
        self._outbound.put(TokenRenewed(self._left()))

    async def run(self) -> None:
        """Return never; raise Unauthenticated or Draining when the call's time is over."""
        async with together(self._leave(), self._expire()) as tasks:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            done.pop().result()

    async def _expire(self) -> None:
        while True:
            self._renewed.clear()
            if await self._passes(self._left() - WARNING_S):
                self._outbound.put(TokenExpiring(max(0.0, self._left())))
                if await self._passes(self._left()):
                    raise Unauthenticated("the token's time is over")

    async def _passes(self, seconds: float) -> bool:
        """Whether so long goes by without a newer token."""
        try:
            async with asyncio.timeout(None if seconds == float("inf") else max(0.0, seconds)):
                await self._renewed.wait()
        except TimeoutError:
            return True
        return False

    async def _leave(self) -> None:
        await self._admission.leaving.wait()
        self._outbound.put(Leaving(self._admission.closes_in_s, RETRY_AFTER_S))
        await self._admission.closing.wait()
        raise Draining("the service is going away", retry_after_s=RETRY_AFTER_S)

    def _end(self, admitted: Admitted) -> float:
        return float("inf") if admitted.expires_in_s is None else self._clock.monotonic() + admitted.expires_in_s

    def _left(self) -> float:
        return self._until - self._clock.monotonic()
