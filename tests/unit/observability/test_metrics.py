"""Stamps become stages; metrics carry names only."""

import asyncio
from datetime import UTC, datetime

import pytest
from prometheus_client import generate_latest

from services.observability.metrics import Metrics, Stamp, Stamps
from services.timing.clock import ManualClock


def test_stages_are_the_time_between_stamps() -> None:
    clock = ManualClock(datetime(2026, 3, 4, tzinfo=UTC))
    stamps = Stamps(clock.monotonic)
    stamps.mark(Stamp.REQUEST_RECEIVED)
    with stamps.between(Stamp.NORMALIZATION_START, Stamp.NORMALIZATION_END):
        clock.advance(0.25)
    stamps.mark(Stamp.RESPONSE_SENT)
    stamps.mark(Stamp.RESPONSE_SENT)
    assert stamps.stages_ms() == {"normalization": 250.0, "total": 250.0}


def test_a_failing_stage_is_stamped_too() -> None:
    stamps = Stamps(ManualClock(datetime(2026, 3, 4, tzinfo=UTC)).monotonic)
    with pytest.raises(ZeroDivisionError), stamps.between(Stamp.ASR_START, Stamp.ASR_FINAL):
        raise ZeroDivisionError
    assert Stamp.ASR_FINAL in stamps.at


def test_metrics_show_stages_turns_and_errors() -> None:
    clock = ManualClock(datetime(2026, 3, 4, tzinfo=UTC))
    stamps = Stamps(clock.monotonic)
    stamps.mark(Stamp.REQUEST_RECEIVED)
    clock.advance(0.004)
    stamps.mark(Stamp.RESPONSE_SENT)
    metrics = Metrics()
    metrics.turn(stamps, "fast", "balance_inquiry", "execute")
    metrics.error("busy")
    text = generate_latest(metrics.registry).decode()
    assert 'tellerline_stage_seconds_bucket{le="0.005",stage="total"} 1.0' in text
    assert 'tellerline_turns_total{intent="balance_inquiry",outcome="execute",route="fast"} 1.0' in text
    assert 'tellerline_errors_total{code="busy"} 1.0' in text


async def test_what_is_exposed_tells_how_much_is_alive() -> None:
    resting = asyncio.create_task(asyncio.sleep(60))
    told = Metrics().exposition().decode()
    resting.cancel()
    assert f"tellerline_tasks {len(asyncio.all_tasks()):.1f}" in told
    (blocks,) = (line.split()[1] for line in told.splitlines() if line.startswith("tellerline_memory_blocks "))
    assert float(blocks) > 10_000
