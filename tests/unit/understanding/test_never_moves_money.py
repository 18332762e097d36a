"""Everyday talk and questions about transfers, tens of thousands of them: none becomes a transfer."""

from pathlib import Path

import pytest

from deploy.bench.cases.labelled import Judge
from deploy.bench.cases.negatives import QUESTIONS, NegativesFile, SentenceTally, negatives, sentences
from deploy.bench.cases.player import ConversationPlayer

FOLDER = Path(__file__).parents[2] / "data" / "never"
LANGUAGES = ("en", "ja")


def heard(file: NegativesFile, each: int) -> SentenceTally:
    judge, made = Judge(ConversationPlayer.of(file.customer), file.customer), SentenceTally()
    for _, sentence in sentences(file, each):
        made.take(judge, sentence)
    return made


def test_there_are_enough_of_them() -> None:
    kinds = [kind for language in LANGUAGES for kind, _ in sentences(negatives(FOLDER / f"{language}.yaml"), 800)]
    assert len(kinds) >= 55_000
    assert sum(kind in QUESTIONS for kind in kinds) >= 7_000


def test_the_same_sentences_are_made_again() -> None:
    file = negatives(FOLDER / "en.yaml")
    assert list(sentences(file, 3)) == list(sentences(file, 3))


@pytest.mark.parametrize("language", LANGUAGES)
def test_some(language: str) -> None:
    assert heard(negatives(FOLDER / f"{language}.yaml"), 6).money == []


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("language", LANGUAGES)
def test_all(language: str) -> None:
    assert heard(negatives(FOLDER / f"{language}.yaml"), 800).money == []
