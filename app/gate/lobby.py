"""Every connection of one server: who may come in, and whose turn it is to be parsed."""

import asyncio
import resource
import time
from typing import Final, Protocol

SURPLUS_S: Final = 0.25
"""Processor time a second for all that is more than a piece at a time, of all connections together."""
NEWCOMERS_S: Final = 0.2
"""And for first requests that are refused; past it the first ones come in turn."""
NEWCOMERS_BURST_S: Final = 0.1
"""What of that may be used at once: all this while, nobody else is served."""
PARSING_BURST_S: Final = 0.5
"""And of another allowance that was not used."""
STRANGERS: Final = 512
"""Connections that are no calls; fewer where the process may have few descriptors."""
SWEEP_S: Final = 1.0
PAUSE_S: Final = 0.01
"""The least wait for allowance: the loop's clock counts milliseconds, within which it would only turn round."""


class Guest(Protocol):
    """A connection, as the lobby sees it."""

    @property
    def stranger(self) -> bool:
        """Whether it is no accepted call."""
        ...

    @property
    def headless(self) -> bool:
        """Whether it has asked for nothing yet, or nothing since its last answer."""
        ...

    @property
    def regard(self) -> tuple[bool, float]:
        """Of a headless one: the least is the first to make room."""
        ...

    def feed(self) -> None:
        """Parse one piece, if it may be."""
        ...

    def check(self, now: float) -> None:
        """Whether a deadline of what it is doing has passed; then it ends."""
        ...

    def cut(self) -> None:
        """Drop the line without a word."""
        ...


class Turns:
    """Those who wait for an allowance of processor time, `share_s` a second for all: one a round of the loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop, share_s: float, burst_s: float = PARSING_BURST_S) -> None:
        self._loop = loop
        self._share_s = share_s
        self._burst_s = burst_s
        self._waiting: dict[Guest, None] = {}
        self._left, self._at = burst_s, loop.time()
        self._serving = False

    def queue(self, guest: Guest) -> None:
        """It is fed when it is its turn."""
        self._waiting[guest] = None
        if not self._serving:
            self._serving = True
            self._loop.call_soon(self._serve)

    def leave(self, guest: Guest) -> None:
        """It is gone."""
        self._waiting.pop(guest, None)

    def charge(self, seconds: float) -> None:
        """Something costs more than its parsing."""
        self._left -= seconds

    @property
    def in_debt(self) -> bool:
        """Whether the allowance is used up."""
        now = self._loop.time()
        self._left, self._at = min(self._burst_s, self._left + (now - self._at) * self._share_s), now
        return self._left < 0

    def _serve(self) -> None:
        """One of them; the next one is served by another round, of which there is one at a time, or none."""
        self._serving = bool(self._waiting)
        if not self._waiting:
            return
        if self.in_debt:
            self._loop.call_later(max(PAUSE_S, -self._left / self._share_s), self._serve)
            return
        began = time.thread_time()
        guest = next(iter(self._waiting))
        del self._waiting[guest]
        self._loop.call_soon(self._serve)
        guest.feed()
        self._left -= time.thread_time() - began


class Lobby:
    """Every connection of one server, and the rounds made among them."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._guests: dict[Guest, None] = {}
        self.surplus = Turns(loop, SURPLUS_S)
        """More than a piece at a time, and those who asked before, not well."""
        self.newcomers = Turns(loop, NEWCOMERS_S, NEWCOMERS_BURST_S)
        """First requests."""
        self._timer: asyncio.TimerHandle | None = None
        self._most = min(STRANGERS, resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 4)

    def enter(self, guest: Guest) -> bool:
        """Take a connection in; past the bound the longest without a head makes room. False where none can.

        Those that were answered well are asked last: a balancer keeps such between two requests.
        """
        if len(strangers := [one for one in self._guests if one.stranger]) >= self._most:
            dawdling = min((one for one in strangers if one.headless), key=lambda one: one.regard, default=None)
            if dawdling is None:
                return False
            dawdling.cut()
        self._guests[guest] = None
        if self._timer is None:
            self._timer = self._loop.call_later(SWEEP_S, self._sweep)
        return True

    def leave(self, guest: Guest) -> None:
        """It is gone."""
        self._guests.pop(guest, None)
        self.surplus.leave(guest)
        self.newcomers.leave(guest)

    def _sweep(self) -> None:
        now = self._loop.time()
        for guest in list(self._guests):
            guest.check(now)
        self._timer = self._loop.call_later(SWEEP_S, self._sweep) if self._guests else None
