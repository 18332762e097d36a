"""What every call's transport is given by the composition root, and how patient each is with its line."""

import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Final

from fastapi import WebSocket

from app.transports.live.lease import Admitted, Verify
from schemas.errors import RateLimited
from schemas.ids import CallId, CustomerId, Locale
from services.audio.vad import SileroVad
from services.guard.admission import Admission
from services.guard.shares import Shares
from services.observability import Metrics
from services.ports import Clock, Recognizer, Synthesizer, TurnHandler

FIRST_MESSAGE_S: Final = 20.0
"""A client that opens a call and says nothing at all is let go after this."""
FLUSH_S: Final = 2.0
"""What the last events of a call may take."""


def _alone(_customer: CustomerId, _call: CallId) -> AbstractAsyncContextManager[None]:
    """There is no other gateway."""
    return contextlib.nullcontext()


def never(_call: CallId) -> bool:
    """No recordings are kept."""
    return False


@dataclass(frozen=True, slots=True)
class CallDeps:
    """What the composition root provides. `authenticate` raises NotAllowed; `handler` opens a call's dialogue.

    Where no language is given to it, the dialogue is in the customer's own.
    """

    admission: Admission
    shares: Shares
    authenticate: Callable[[WebSocket], Awaitable[Admitted]]
    handler: Callable[[CustomerId, CallId, Locale | None], Awaitable[TurnHandler]]
    recognizer: Recognizer
    vad: SileroVad
    clock: Clock
    metrics: Metrics
    verify: Verify
    consent: Callable[[CallId, bool], Awaitable[None]]
    synthesizer: Synthesizer | None = None
    max_call_seconds: float = 900.0
    together: Callable[[CustomerId, CallId], AbstractAsyncContextManager[None]] = _alone
    """Counts a call with those of every other gateway, as long as it lasts. Raises RateLimited, StoreUnavailable."""
    recordable: Callable[[CallId], bool] = never
    """Whether a call that is open is recorded once its caller agrees: what a client is told is what is done."""

    @asynccontextmanager
    async def place(self, customer: CustomerId, call: CallId) -> AsyncIterator[None]:
        """One of the calls a customer may have at once, at all gateways. Raises RateLimited, StoreUnavailable."""
        async with contextlib.AsyncExitStack() as held:
            try:
                held.enter_context(self.shares.call(customer))
                await held.enter_async_context(self.together(customer, call))
            except RateLimited:
                self.metrics.refused.labels("allowance").inc()
                raise
            yield
