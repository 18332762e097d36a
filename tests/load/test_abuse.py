"""A sample of `bench abuse` against a service of its own: honest ones are answered, and the service stays as it was."""

import asyncio

import pytest

from app.demo.run import service
from deploy.bench import abuse

POOLED = 3
"""Connections to the database, and threads' own, that a service opens when it is busy for the first time, and keeps."""


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    "attack",
    [
        "pings between messages",
        pytest.param("bombs: ogg cut to nothing", marks=pytest.mark.slow),
        pytest.param("connects and drops", marks=pytest.mark.slow),
    ],
)
def test_the_honest_ones_are_answered_and_nothing_is_left_behind(attack: str) -> None:
    with service(TELLERLINE_CALLS_PER_MINUTE="30", TELLERLINE_CALLS_PER_CUSTOMER="4") as base:
        figures = asyncio.run(abuse._all(base, 2.0, attack, once=True))
    key = attack.replace(" ", "_").replace(":", "")
    assert figures[f"{key}_failed"] == 0
    for held in ("fds", "tasks"):  # memory is the benchmark's to judge: a process that has just begun still grows
        assert float(figures[f"{held}_after"] or 0) <= float(figures[f"{held}_before"] or 0) + POOLED
    assert float(figures[f"{key}_text_with_ms"] or 0) < 2_000  # what a busy machine adds is judged by the benchmark
    assert float(figures[f"{key}_call_with_ms"] or 0) < 2_000
