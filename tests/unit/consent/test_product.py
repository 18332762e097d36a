"""A sample of every yes with all that may stand beside it: nothing is done against the words, and plain yeses are."""

from pathlib import Path

import pytest

from deploy.bench.cases.consents import consents, mixed, plain
from deploy.bench.cases.waiting import Scenes
from deploy.bench.consent import hear

FOLDER = Path(__file__).parents[3] / "tests" / "data" / "consent"
SAMPLE, SLOW = 797, 17


@pytest.mark.parametrize(("language", "gap"), [("en", " "), ("ja", "")])
def test_there_are_enough(language: str, gap: str) -> None:
    file = consents(FOLDER / f"{language}.yaml")
    assert sum(1 for _ in mixed(file, gap)) > 200_000
    assert sum(1 for _ in plain(file, gap)) > 10_000


def heard_sample(language: str, gap: str, every: int) -> tuple[list[str], float]:
    pairs, yeses = hear(consents(FOLDER / f"{language}.yaml"), Scenes(language), every, gap)
    wrong = [f"{said.awaited}: {said.text}" for said in (*pairs.against, *yeses.against)]
    return wrong, yeses.done / yeses.count


@pytest.mark.parametrize(("language", "gap"), [("en", " "), ("ja", "")])
def test_nothing_is_done_against_the_words(language: str, gap: str) -> None:
    wrong, taken = heard_sample(language, gap, SAMPLE)
    assert wrong == []
    assert taken > 0.98


@pytest.mark.slow
@pytest.mark.parametrize(("language", "gap"), [("en", " "), ("ja", "")])
def test_nothing_of_much_more_is(language: str, gap: str) -> None:
    wrong, taken = heard_sample(language, gap, SLOW)
    assert wrong == []
    assert taken > 0.98
