"""How much sound is heard before its time, by a clock of its own: what ships is written out here."""

from types import SimpleNamespace

import pytest

from services.audio import surplus
from services.audio.surplus import SoundHeard, Surplus

PIECE_S = 0.5


class Loop:
    """Its time goes on only where somebody sleeps."""

    def __init__(self) -> None:
        self.now = 100.0

    def time(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def loop(monkeypatch: pytest.MonkeyPatch) -> Loop:
    made = Loop()
    monkeypatch.setattr(surplus, "asyncio", SimpleNamespace(get_running_loop=lambda: made, sleep=made.sleep))
    return made


async def heard_by(loop: Loop, shared: Surplus, until: float, calls: int = 1) -> float:
    """Seconds of sound that calls, each of which sends all at once, have had heard at a moment."""
    every, seconds = [SoundHeard() for _ in range(calls)], 0.0
    while loop.now < until:
        for call in every:
            await shared.wait(call, PIECE_S)
            seconds += PIECE_S
    return seconds


async def test_a_call_is_heard_so_far_before_its_time_and_then_by_what_all_share(loop: Loop) -> None:
    heard = await heard_by(loop, Surplus(), until=102.0)
    assert heard == pytest.approx(4 + 15 + 2 * 2 + 2, abs=2 * PIECE_S), "lead, burst, share, and the time itself"


async def test_two_calls_share_one_allowance(loop: Loop) -> None:
    heard = await heard_by(loop, Surplus(), until=102.0, calls=2)
    assert heard == pytest.approx(2 * 4 + 15 + 2 * 2 + 2 * 2, abs=4 * PIECE_S)


async def test_what_a_line_held_back_comes_at_once_at_nobodys_cost(loop: Loop) -> None:
    shared, call = Surplus(), SoundHeard()
    await shared.wait(call, PIECE_S)
    loop.now += 60
    for _ in range(28):
        await shared.wait(call, PIECE_S)
    assert loop.now == 160, "ten seconds that hung and four before their time"
    assert await heard_by(loop, shared, until=160.01) == pytest.approx(4 + 15, abs=2 * PIECE_S)
