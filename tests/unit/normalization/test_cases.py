"""The labelled cases, scored as `tellerline bench normalize` scores them."""

from pathlib import Path

import pytest

from deploy.bench.normalize import Score, evaluate

CASES = Path(__file__).parents[2] / "data" / "normalize"
MISLABELLED = {"nz-8ce13f6363"}
"""一百二十三万四千五百六十七 is 1,234,567; its label keeps only the ends."""

SCORES = evaluate([CASES], without=MISLABELLED)


@pytest.mark.parametrize("category", sorted(SCORES))
def test_category(category: str) -> None:
    score: Score = SCORES[category]
    report = "\n".join(score.failures)
    assert score.wrong == 0, report
    assert score.right >= 0.98 * score.total, report
