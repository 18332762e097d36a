"""Callers with a read-back each, of whom some lose their gateway: how soon they hear it again, and what a yes books."""

import asyncio
import itertools
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import orjson
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException

from app.client import Event, calls_url, heard_out, session, typed
from services.timing.clock import SystemClock
from tests.harness.processes import signed

SILENT_S: Final = 60.0
AGAIN_S: Final = 0.05
"""How long a client waits between two gateways that it tries."""
_nonces = itertools.count()


@dataclass
class KeptCaller:
    """One customer's client, which knows every gateway, and calls the next one when its own is gone."""

    customer: str
    bases: Sequence[str]
    words: list[str] = field(default_factory=list)
    lost: int = 0
    read_back: asyncio.Event = field(default_factory=asyncio.Event)
    settled: list[str] = field(default_factory=list)
    told: asyncio.Event = field(default_factory=asyncio.Event)
    resumed: float | None = None
    """Moment at which the read-back was heard again after a line was lost."""
    _socket: ClientConnection | None = None

    async def call(self, order: str) -> None:
        """Order once; then listen, on whatever line there is, until cancelled."""
        asked = False
        for base in itertools.cycle(self.bases):
            try:
                async with connect(calls_url(base), compression=None, additional_headers=self._signed()) as line:
                    self._socket = line
                    await self._send(session("en-US"))
                    if not asked:
                        await self._send(typed(order))
                    asked = True
                    await self._listen(line)
            except (WebSocketException, OSError, TimeoutError):
                self.lost += asked
                self._socket = None
            await asyncio.sleep(AGAIN_S)

    def _signed(self) -> dict[str, str]:
        return signed(self.customer, f"kept-{next(_nonces)}-{time.monotonic_ns()}", SystemClock().now())

    async def yes(self) -> None:
        """Say it on the line that there is, and hear out what it came to. Raises TimeoutError."""
        self.settled.clear()  # what an earlier call left to be told
        await self._send(typed("yes"))
        async with asyncio.timeout(SILENT_S):
            await self.told.wait()
        await asyncio.sleep(0.3)  # that it was heard is known, too

    async def _send(self, event: Event) -> None:
        if self._socket is not None:
            await self._socket.send(orjson.dumps(event).decode())

    async def _listen(self, line: ClientConnection) -> None:
        async for message in line:
            event: Event = orjson.loads(message)
            if event["type"] == "response.output_text.done":
                self._heard(event["text"])
            elif event["type"] == "response.done":
                await self._send(heard_out(event["response"]["id"]))
                if self.settled:
                    self.told.set()
            elif event["type"] == "tellerline.ledger":
                self.settled.append(event["state"])

    def _heard(self, text: str) -> None:
        self.words.append(text)
        if "Is that right" in text:
            if self.lost and self.resumed is None:
                self.resumed = time.monotonic()
            self.read_back.set()


@dataclass(frozen=True)
class Kept:
    """What one loss came to."""

    lost: int
    """Calls that were on what died."""
    resumed_s: tuple[float, ...]
    """Of those that heard their read-back again, from the death on."""
    states: Mapping[str, int]
    """What the yeses came to, as callers were told."""


async def through_a_loss(order: str, customers: Sequence[str], bases: Sequence[str], kill: Callable[[], None]) -> Kept:
    """Every customer has a read-back, half of them at the first of `bases`, which dies; then everyone says yes."""
    callers = [KeptCaller(name, bases if n % 2 else [*bases[1:], bases[0]]) for n, name in enumerate(customers)]
    calls = [asyncio.create_task(caller.call(order)) for caller in callers]
    try:
        if (silent := await _without(callers)) is not None:
            raise SystemExit(f"no read-back was heard; but {silent.words}")
        await asyncio.sleep(1.0)  # the read-backs are known to be heard
        died = time.monotonic()
        await asyncio.to_thread(kill)
        await _resumed(callers)
        await asyncio.sleep(1.0)
        for caller in callers:
            caller.told.clear()
        await asyncio.gather(*(caller.yes() for caller in callers), return_exceptions=True)
    finally:
        for call in calls:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)
    told = [caller.settled[-1] if caller.settled else "none" for caller in callers]
    back = tuple(caller.resumed - died for caller in callers if caller.resumed is not None)
    return Kept(sum(caller.lost > 0 for caller in callers), back, {state: told.count(state) for state in set(told)})


async def _without(callers: Sequence[KeptCaller]) -> KeptCaller | None:
    """One who has no read-back, where there is one, once there was time for it."""
    waiting = [asyncio.create_task(caller.read_back.wait()) for caller in callers]
    _, late = await asyncio.wait(waiting, timeout=SILENT_S)
    for task in late:
        task.cancel()
    return next((caller for caller in callers if not caller.read_back.is_set()), None)


async def _resumed(callers: Sequence[KeptCaller]) -> None:
    """Until whoever lost a line has heard the read-back again, or for as long as one waits."""
    until = time.monotonic() + SILENT_S
    while time.monotonic() < until:
        await asyncio.sleep(0.1)
        lost = [caller for caller in callers if caller.lost]
        if lost and all(caller.resumed for caller in lost):
            return
