"""`LearnedReader`: how likely words belong to each family of wishes, by a linear model of small whole numbers."""

import lzma
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
import orjson
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from rules.load import read
from schemas.errors import RulesInvalid
from schemas.ids import RuleId
from services.understanding.learned.features import BUCKETS

PATH: Final = "intents/learned.xz"
FAMILIES: Final = (
    "transfer_money",
    "bill_payment",
    "bill_inquiry",
    "balance_inquiry",
    "recent_transactions",
    "card_lock",
    "card_unlock",
    "human_handoff",
    "farewell",
)
"""The intents that are told from one another, and from everything else."""
_MOST: Final = 4 * 2 * BUCKETS * len(FAMILIES)
"""Bytes that the file may unpack to."""


class LearnedHead(BaseModel):
    """The first line of the file: for each language a scale, a bias and a threshold a family."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    version: int
    scales: dict[str, tuple[float, ...]]
    biases: dict[str, tuple[float, ...]]
    offered: dict[str, tuple[float, ...]]
    told: dict[str, tuple[float, ...]]


@dataclass(frozen=True, slots=True)
class LearnedReader:
    """One language's weights, int8 [BUCKETS, FAMILIES], and from which logit on a family is offered, or told."""

    rule: RuleId
    weights: NDArray[np.int8]
    scales: NDArray[np.float32]
    biases: NDArray[np.float32]
    offered: tuple[float, ...]
    told: tuple[float, ...]

    @classmethod
    def of(cls, language: str) -> "LearnedReader | None":
        """The reader of a language; None where none was learned. Raises RulesInvalid."""
        return _readers().get(language)

    def logits(self, features: list[int]) -> NDArray[np.float32]:
        """Natural-log odds of each family, float32 [FAMILIES]."""
        summed = self.weights[features].sum(axis=0, dtype=np.int32)
        return np.asarray(summed * (self.scales / max(1, len(features)) ** 0.5) + self.biases, np.float32)


@lru_cache(maxsize=1)
def _readers() -> dict[str, LearnedReader]:
    """All of the file, once a process."""
    line, _, body = lzma.LZMADecompressor().decompress(read(PATH), _MOST).partition(b"\n")
    try:
        head = LearnedHead.model_validate(orjson.loads(line))
        shape = len(head.scales), BUCKETS, len(FAMILIES)
        weights = np.frombuffer(body, np.int8).reshape(shape)
    except ValueError as error:
        raise RulesInvalid(f"{PATH}: no weights of {BUCKETS} places and {len(FAMILIES)} families") from error
    return {
        name: LearnedReader(
            RuleId(f"{head.id}@{head.version}"),
            weights[at],
            np.array(head.scales[name], np.float32),
            np.array(head.biases[name], np.float32),
            head.offered[name],
            head.told[name],
        )
        for at, name in enumerate(head.scales)
    }
