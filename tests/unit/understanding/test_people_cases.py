"""Sentences of people who did not know this project, where they are at hand: they are not part of it."""

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, Final

import orjson
import pytest

from deploy.bench.cases.labelled import Judge
from deploy.bench.cases.player import ConversationPlayer
from schemas.decision import DecisionKind
from schemas.intent import Route

CASES: Final = Path(__file__).parents[4] / "shared" / "people-cases"
_TAKEN: Final = frozenset({Route.FAST, Route.CLARIFY, Route.HUMAN})
PRECISION: Final = 0.995
COVERAGE: Final = {"balance_inquiry": 0.85, "transfer_money": 0.85, "bill_payment": 0.85}

pytestmark = pytest.mark.skipif(not CASES.is_dir(), reason="people's own sentences are not at hand (../shared)")


@pytest.fixture(scope="module")
def judge() -> Judge:
    return Judge(ConversationPlayer.of("alex-morgan"), "alex-morgan")


def _rows(name: str) -> Iterator[dict[str, Any]]:
    for line in (CASES / name).read_bytes().splitlines():
        yield orjson.loads(line)


def test_what_is_taken_is_right_and_most_is_taken(judge: Judge) -> None:
    taken, right, said, covered = 0, 0, Counter[str](), Counter[str]()
    for row in islice(_rows("wanted.jsonl"), 0, None, 2):
        understood, _ = judge.hear(row["text"])
        intent = understood.intent.value if understood.intent else None
        mine = understood.route in _TAKEN and intent is not None
        taken += mine
        right += mine and intent in row["accept"]
        if "cov" in row:
            said[row["cov"]] += 1
            covered[row["cov"]] += mine and intent in row["accept"]
    assert right / taken >= PRECISION
    for intent, least in COVERAGE.items():
        assert covered[intent] / said[intent] >= least, intent


@pytest.mark.parametrize(
    ("name", "each"), [("never_moves_about_transfers.jsonl", 12), ("never_moves_elsewhere.jsonl", 48)]
)
def test_what_must_never_move_money_is_never_read_back(judge: Judge, name: str, each: int) -> None:
    sentences = [row["text"] for row in _rows(name)][::each]
    assert [text for text in sentences if judge.hear(text)[1].kind is DecisionKind.CONFIRM] == []
