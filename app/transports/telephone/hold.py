"""Whether a telephone's caller is there to be heard: on hold or on mute a line says so, or sends no sound at all."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from schemas.call import HoldIn
from services.ports import Clock

SOUNDLESS_S: Final = 2.0
"""A line that has sent no sound for so long holds its caller; silence comes as sound, but where it is suppressed."""


class Hold:
    """One call's. `put` is told of every change."""

    def __init__(self, clock: Clock, put: Callable[[HoldIn], Awaitable[None]]) -> None:
        self._clock = clock
        self._put = put
        self._heard_at = clock.monotonic()
        self._told = self._soundless = self._on = False

    async def told(self, on: bool) -> None:
        """The line says that its caller is on hold, or back."""
        self._told = on
        await self._change()

    async def sound(self) -> None:
        """There was sound."""
        self._heard_at, self._soundless = self._clock.monotonic(), False
        await self._change()

    async def watch(self) -> None:
        """Notice where sound fails to come, until cancelled."""
        while True:
            missing_s = self._clock.monotonic() - self._heard_at
            self._soundless = missing_s >= SOUNDLESS_S
            await self._change()
            await asyncio.sleep(SOUNDLESS_S if self._soundless else SOUNDLESS_S - missing_s + 0.01)

    async def _change(self) -> None:
        on = self._told or self._soundless
        if on is not self._on:
            self._on = on
            await self._put(HoldIn(on))
