"""When sound arrived: by chunk, for as long as chunks are remembered."""

from datetime import UTC, datetime

from services.call.arrivals import Arrivals
from services.timing.clock import ManualClock

NOW = datetime(2026, 3, 4, 12, tzinfo=UTC)


def test_a_sample_arrived_with_the_chunk_that_holds_it() -> None:
    arrivals = Arrivals(ManualClock(NOW))
    for chunk in range(1, 4):
        arrivals.note(chunk * 320, float(chunk))
    assert [arrivals.of(ms) for ms in (0, 20, 21, 60)] == [1.0, 1.0, 2.0, 3.0]


def test_what_has_not_arrived_arrives_now() -> None:
    clock = ManualClock(NOW)
    arrivals = Arrivals(clock)
    arrivals.note(320, -1.0)
    clock.advance(5)
    assert arrivals.of(21) == clock.monotonic()


def test_what_is_remembered_is_bounded() -> None:
    arrivals = Arrivals(ManualClock(NOW))
    for chunk in range(1, 10_001):
        arrivals.note(chunk * 320, float(chunk))
    assert arrivals.of(20) > 9_000.0
