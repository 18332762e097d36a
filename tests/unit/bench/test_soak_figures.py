"""The soak's figures: levels at each quarter, and the trend of the last half with its noise."""

import pytest

from deploy.bench.soak import ROUND, figures_of


def looks(*rss_mb: float) -> list[dict[str, float]]:
    still = {"tasks": 5.0, "fds": 20.0, "threads": 9.0}
    return [still | {"rss_mb": mb, "python_blocks": 1000.0 + n} for n, mb in enumerate(rss_mb)]


def test_what_filled_up_in_the_first_half_is_no_growth_of_the_last() -> None:
    found = figures_of(looks(100, 110, 120, 130, 140, 140, 140, 140, 140))
    assert [found[f"rss_mb_at_{percent}_percent"] for percent in (0, 50, 100)] == [100, 140, 140]
    assert found["last_half_rss_kb_per_call"] == pytest.approx(0, abs=1e-6)
    assert (found["tasks_before"], found["tasks_after"]) == (5, 5)


def test_growth_is_told_a_call_beside_its_noise() -> None:
    steady = figures_of(looks(*(100.0 + n for n in range(21))))
    assert steady["last_half_rss_kb_per_call"] == pytest.approx(1024 / ROUND)
    assert steady["last_half_rss_kb_per_call_noise"] == pytest.approx(0, abs=1e-6)
    assert steady["last_half_python_blocks_per_call"] == pytest.approx(1 / ROUND)
    restless = figures_of(looks(*(100.0 + n % 2 for n in range(21))))
    assert abs(restless["last_half_rss_kb_per_call"]) < 2 * restless["last_half_rss_kb_per_call_noise"]
