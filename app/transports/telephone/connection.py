"""What a telephone call needs from outside: the line's socket, and what the composition root provides."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from app.transports.live.deps import CallDeps
from app.transports.telephone.line import WebRequest, Wire
from app.transports.telephone.unproven import Unproven
from schemas.errors import TellerlineError
from schemas.ids import CallId, CustomerId, Locale
from services.ports import TurnHandler


class Connection(Protocol):
    """A line's socket."""

    async def open(self) -> None:
        """Take the call. Raises Hung."""
        ...

    async def receive(self) -> Wire | None:
        """The next message; null where the other side has closed. Raises BadInput."""
        ...

    async def send(self, message: Wire) -> None:
        """Send one. Raises Hung."""
        ...

    async def close(self, error: TellerlineError | None) -> None:
        """The call is over, or never began; raises nothing."""
        ...


class Ending(StrEnum):
    """What is to become of a call that the assistant is done with."""

    TRANSFER = "transfer"
    END = "end"


async def _nobody_asks(_call: str, _outcome: Ending) -> None:
    """The protocol itself says it."""


@dataclass(frozen=True, slots=True)
class PhoneDeps:
    """What the composition root provides.

    `vouch` says whose a call is, by its statement and the bridge's id of it; null where nobody says. `stranger` opens a
    call of nobody's. `web` asks a carrier; it raises CarrierUnavailable. `ended` is told what becomes of a call.
    `inband_keys`: keys are also listened for as tones in the sound. `transfer_keys` are pressed
    before a caller is given to a person.
    """

    calls: CallDeps
    vouch: Callable[[str, str], Awaitable[CustomerId | None]]
    stranger: Callable[[CallId, Locale], Awaitable[TurnHandler]]
    web: Callable[[WebRequest], Awaitable[None]]
    ended: Callable[[str, Ending], Awaitable[None]] = _nobody_asks
    unproven: Unproven = field(default_factory=Unproven)
    inband_keys: bool = False
    transfer_keys: str = ""
