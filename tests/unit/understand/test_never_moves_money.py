"""Everyday talk and questions about transfers, tens of thousands of them: none becomes a transfer."""

import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from app.qa.conversations import Player
from app.qa.fake_desk import FakeDesk
from schemas.decision import DecisionKind
from schemas.transcript import Transcript
from services.decide import DialogueState, UtteranceUnderstood, decide

HERE = Path(__file__).parent
SETS = [("everyday_en.yaml", "alex-morgan"), ("everyday_ja.yaml", "takahashi-misaki")]


def sentences(data: dict[str, Any], patterns: list[str]) -> Iterator[str]:
    """Every pattern with every word of its lists."""
    for pattern in patterns:
        names = re.findall(r"\{(\w+)\}", pattern)
        for chosen in itertools.product(*(data[name] for name in names)):
            words = iter(chosen)
            yield re.sub(r"\{\w+\}", lambda _, words=words: str(next(words)), pattern)


def check(file: str, customer: str, most: int) -> None:
    data = yaml.safe_load((HERE / file).read_text(encoding="utf-8"))
    player = Player.of(customer)
    facts = player.facts(FakeDesk.of(customer))
    every = [s for key in ("everyday", "about_transfers") for s in sentences(data, data[key])]
    for sentence in every[:: max(1, len(every) // most)]:
        understood = player.understand(Transcript.typed(sentence, player.locale), DialogueState(), facts)
        _, decision = decide(DialogueState(), UtteranceUnderstood(sentence, understood), facts)
        assert decision.kind is not DecisionKind.CONFIRM, sentence


@pytest.mark.parametrize(("file", "customer"), SETS)
def test_some(file: str, customer: str) -> None:
    check(file, customer, 600)


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize(("file", "customer"), SETS)
def test_all(file: str, customer: str) -> None:
    check(file, customer, 10**6)
