"""The soak's figures: levels at each quarter, and the trend of the last half with its noise."""

import pytest

from app.qa.bench.soak import ROUND, figures_of


def looks(*rss_mb: float) -> list[dict[str, float]]:
    return [{"rss_mb": mb, "tasks": 5.0, "python_blocks": 1000.0 + n} for n, mb in enumerate(rss_mb)]


def test_what_filled_up_in_the_first_half_is_no_growth_of_the_last() -> None:
    found = figures_of(looks(100, 110, 120, 130, 140, 140, 140, 140, 140))
    assert [found[f"rss_mb_at_{percent}_percent"] for percent in (0, 50, 100)] == [100, 140, 140]
    assert found["rss_growth_last_half_kb_per_call"] == pytest.approx(0, abs=1e-6)
    assert found["tasks_at_100_percent"] == 5


def test_growth_is_told_a_call_beside_its_noise() -> None:
    steady = figures_of(looks(*(100.0 + n for n in range(21))))
    assert steady["rss_growth_last_half_kb_per_call"] == pytest.approx(1024 / ROUND)
    assert steady["rss_growth_noise_kb_per_call"] == pytest.approx(0, abs=1e-6)
    assert steady["python_blocks_growth_last_half_blocks_per_call"] == pytest.approx(1 / ROUND)
    restless = figures_of(looks(*(100.0 + n % 2 for n in range(21))))
    assert abs(restless["rss_growth_last_half_kb_per_call"]) < 2 * restless["rss_growth_noise_kb_per_call"]
