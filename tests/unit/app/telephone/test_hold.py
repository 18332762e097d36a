"""On hold, on mute, back: what a line says, and what it fails to send."""

import asyncio
from datetime import UTC, datetime

from app.transports.telephone import hold
from app.transports.telephone.hold import SOUNDLESS_S, Hold
from schemas.call import HoldIn
from services.timing.clock import ManualClock


class Told:
    """Keeps what the call was told."""

    def __init__(self) -> None:
        self.clock = ManualClock(datetime(2026, 3, 4, tzinfo=UTC))
        self.states: list[bool] = []
        self.hold = Hold(self.clock, self.put)

    async def put(self, given: HoldIn) -> None:
        self.states.append(given.on)

    async def look(self, seconds: float) -> None:
        """So much time passes, and it is looked whether sound came."""
        self.clock.advance(seconds)
        watching = asyncio.create_task(self.hold.watch())
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)


async def test_a_line_without_sound_holds_its_caller_until_there_is_some() -> None:
    told = Told()
    await told.look(SOUNDLESS_S / 2)
    assert told.states == []
    await told.look(SOUNDLESS_S)
    await told.look(SOUNDLESS_S)
    assert told.states == [True]
    await told.hold.sound()
    assert told.states == [True, False]


async def test_what_the_line_says_holds_also_while_there_is_sound() -> None:
    told = Told()
    await told.hold.told(True)
    await told.hold.sound()
    assert told.states == [True]
    await told.look(SOUNDLESS_S)
    await told.hold.told(False)
    assert told.states == [True], "there is no sound either"
    await told.hold.sound()
    assert told.states == [True, False]


async def test_sound_that_comes_again_is_waited_for_anew() -> None:
    told = Told()
    watching = asyncio.create_task(told.hold.watch())
    told.clock.advance(SOUNDLESS_S - hold.SOUNDLESS_S / 4)
    await told.hold.sound()
    await asyncio.sleep(0)
    assert told.states == []
    watching.cancel()
    await asyncio.gather(watching, return_exceptions=True)
