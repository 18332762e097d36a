"""What is made of silences: cut-offs and dead air, as they ship and over a curve."""

import pytest

from deploy.bench._calls.silences import HeardSilence
from deploy.bench.ends import figures_of


def test_holds_that_last_as_long_as_the_wait_are_cut() -> None:
    held = [
        HeardSilence(0, 400.0, 300.0),
        HeardSilence(0, 400.0, 450.0),
        HeardSilence(1, 900.0, 800),
    ]
    ended = [HeardSilence(0, 400.0), HeardSilence(1, 600.0)]
    figures = figures_of([*held, *ended])
    assert (figures["sentences"], figures["holds"]) == (2, 3)
    assert figures["sentences_cut"] == 0.5
    assert figures["holds_cut"] == pytest.approx(1 / 3)
    assert (figures["dead_air_ms"], figures["dead_air_p50_ms"]) == (500.0, 500.0)
    assert figures["dead_air_ms_at_10%_silence"] == 810.0
    found = figures["dead_air_ms_at_10%_words"]
    assert isinstance(found, float)
    assert 562 < found < 585, "stretched until the longest hold is waited out"


def test_without_holds_nobody_is_cut() -> None:
    figures = figures_of([HeardSilence(0, 400.0)])
    assert (figures["sentences_cut"], figures["holds_cut"]) == (0.0, 0.0)
