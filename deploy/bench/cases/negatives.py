"""Sentences that must never move money, made of patterns and word lists with a fixed seed, and what became of them."""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np
import yaml
from pydantic import BaseModel, ConfigDict

from deploy.bench.cases.labelled import Judge
from schemas.decision import Clarify, DecisionKind
from schemas.intent import MONEY_MOVING, Route

QUESTIONS: Final = ("about_transfers", "transfer_questions")
"""The kinds of sentences that ask about or speak of transfers."""
SEED: Final = 20_260_304
_GAP: Final = re.compile(r"\{(\w+)\}")


class NegativesFile(BaseModel):
    """One language's word lists, and its patterns by kind."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    version: int
    customer: str
    words: dict[str, tuple[str, ...]]
    patterns: dict[str, tuple[str, ...]]


def negatives(path: Path) -> NegativesFile:
    """The file, validated. Raises OSError, pydantic's ValidationError."""
    return NegativesFile.model_validate(yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader))


def sentences(file: NegativesFile, each: int) -> Iterator[tuple[str, str]]:
    """Kind and sentence: of every pattern all there are, or `each` of them at random; no sentence comes twice."""
    chance = np.random.default_rng(SEED)
    seen: set[str] = set()
    for kind, patterns in file.patterns.items():
        for pattern in patterns:
            for sentence in _filled(pattern, file.words, each, chance):
                if sentence not in seen:
                    seen.add(sentence)
                    yield kind, sentence


def _filled(pattern: str, words: dict[str, tuple[str, ...]], each: int, chance: np.random.Generator) -> Iterator[str]:
    lists = [words[name] for name in _GAP.findall(pattern)]
    count = math.prod(map(len, lists))
    for number in range(count) if count <= each else chance.choice(count, each, replace=False):
        yield _GAP.sub("{}", pattern).format(*_numbered(lists, int(number)))


def _numbered(lists: list[tuple[str, ...]], number: int) -> Iterator[str]:
    """The choice of one word from each list that has this number."""
    for words in lists:
        number, place = divmod(number, len(words))
        yield words[place]


@dataclass(slots=True)
class SentenceTally:
    """What became of sentences: `money` were read back to be confirmed, `started` asked for what a transfer lacks."""

    count: int = 0
    money: list[str] = field(default_factory=list)
    started: list[str] = field(default_factory=list)

    def take(self, judge: Judge, sentence: str) -> None:
        """Hear a sentence as the first of a call."""
        understood, decision = judge.hear(sentence)
        self.count += 1
        if decision.kind is DecisionKind.CONFIRM:
            self.money.append(sentence)
        elif isinstance(decision, Clarify) and understood.intent in MONEY_MOVING and understood.route is Route.FAST:
            self.started.append(sentence)
