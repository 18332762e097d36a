"""Sentences as callers say them: how many the fast path takes, and how few of those wrongly."""

from pathlib import Path

import pytest

from deploy.bench.cases.labelled import Judge, SentenceOutcome, labelled
from deploy.bench.cases.player import ConversationPlayer

FOLDER = Path(__file__).parents[2] / "data" / "understanding"
COVERED = {"balance_inquiry", "transfer_money", "bill_payment"}


@pytest.mark.parametrize("language", ["en", "ja"])
def test_precision_and_coverage(language: str) -> None:
    customer, sentences = labelled(FOLDER / f"{language}.yaml")
    assert len(sentences) >= 600
    assert len({sentence.text for sentence in sentences}) == len(sentences)
    judge = Judge(ConversationPlayer.of(customer), customer)
    judged = [judge.judge(sentence) for sentence in sentences]
    wrong = [(one.sentence.text, one.why) for one in judged if one.outcome is SentenceOutcome.WRONG]
    taken = sum(one.outcome in {SentenceOutcome.RIGHT, SentenceOutcome.WRONG} for one in judged)
    assert len(wrong) <= 0.005 * taken, wrong
    for intent in COVERED:
        asked = [one for one in judged if intent in one.sentence.labels]
        assert sum(one.outcome is SentenceOutcome.RIGHT for one in asked) >= 0.6 * len(asked), intent
