"""Spoken answers of which another hearing is not far: what leaves a yes, and what is asked about."""

from pathlib import Path

import pytest
import yaml

from deploy.bench.cases.waiting import Scenes
from schemas.consent import Awaited
from schemas.ids import JA_JP
from schemas.transcript import Hypothesis, Transcript

HEARD = yaml.load(
    (Path(__file__).parents[2] / "data/consent/ja_heard.yaml").read_text(encoding="utf-8"), yaml.CSafeLoader
)


@pytest.fixture(scope="module")
def scenes() -> Scenes:
    return Scenes("ja")


def heard(said: str, other: str, less: float) -> Transcript:
    return Transcript(said, JA_JP, (Hypothesis(said, -0.05), Hypothesis(other, -0.05 - less)))


@pytest.mark.parametrize(("said", "other", "less"), HEARD["moved"])
def test_a_hearing_that_says_no_more_leaves_a_yes(said: str, other: str, less: float, scenes: Scenes) -> None:
    assert scenes.answer(Awaited.TRANSFER, heard(said, other, less)).done == "moved"


@pytest.mark.parametrize(("said", "other", "less"), HEARD["not"])
def test_a_hearing_that_may_be_no_yes_moves_nothing(said: str, other: str, less: float, scenes: Scenes) -> None:
    assert not scenes.answer(Awaited.TRANSFER, heard(said, other, less)).done


@pytest.mark.parametrize(("said", "other", "less"), HEARD["asked"])
def test_a_sound_that_may_be_a_yes_is_asked_about(said: str, other: str, less: float, scenes: Scenes) -> None:
    assert "say.wait" not in scenes.answer(Awaited.TRANSFER, heard(said, other, less)).said
