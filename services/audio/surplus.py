"""Sound that comes faster than time: how much of it is heard, of one call and of all together."""

import asyncio
from dataclasses import dataclass
from typing import Final

LEAD_S: Final = 4.0
"""So far a call's sound may be before its time, at nobody's cost."""
LAG_S: Final = 10.0
"""And so much that did not come may come later all at once: a line that hung."""
SHARE: Final = 2.0
"""Seconds of sound a second that all calls together may have beyond that; a second takes some 12 ms of a processor."""
BURST_S: Final = 15.0
PAUSE_S: Final = 0.05


@dataclass(slots=True)
class SoundHeard:
    """Until when one call's sound would have lasted, by the loop's clock."""

    until: float | None = None


class Surplus:
    """The allowance of all calls of a process. One event loop uses it."""

    def __init__(self) -> None:
        self._left, self._at = BURST_S, 0.0

    async def wait(self, call: SoundHeard, seconds: float) -> None:
        """Return when so many seconds more of a call may be heard: at real time at the latest."""
        time = asyncio.get_running_loop().time
        if call.until is None:
            call.until = time()
        while True:
            now = time()
            call.until = max(call.until, now - LAG_S)
            early = call.until + seconds - now - LEAD_S
            if early <= 0:
                call.until += seconds
                return
            self._left, self._at = min(BURST_S, self._left + (now - self._at) * SHARE), now
            if self._left > 0:
                self._left -= seconds
                return
            await asyncio.sleep(min(early, PAUSE_S))
