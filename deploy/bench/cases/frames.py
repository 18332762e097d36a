"""Orders with words around them: frames that change nothing, and frames that take an order back or only speak of it."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

import yaml
from pydantic import BaseModel, ConfigDict

from deploy.bench.cases.exchanges import Exchange, ExchangeOutcome, JudgedExchange, judge
from deploy.bench.cases.player import ConversationPlayer

_LOWERED: Final = "en"
"""Where a sentence that no longer begins an utterance has no capital, but for "I"."""


class FrameFile(BaseModel):
    """One language's frames, each with a place `{}` for an order."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    version: int
    keeping: tuple[str, ...]
    undoing: tuple[str, ...]


def frames(path: Path) -> FrameFile:
    """A file's frames. Raises OSError, pydantic's ValidationError."""
    return FrameFile.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))


def orders(lines: Iterable[Exchange]) -> Iterator[Exchange]:
    """The exchanges of one utterance with an order of money in it."""
    return (line for line in lines if len(line.turns) == 1 and "amount" in line.order and not line.earlier)


def framed(exchange: Exchange, frame: str, language: str) -> Exchange:
    """The exchange with its one turn put into a frame."""
    said = exchange.turns[0]
    inside = language == _LOWERED and not frame.startswith("{}") and not said.startswith(("I ", "I'"))
    return replace(exchange, turns=(frame.format(said[0].lower() + said[1:] if inside else said),))


def tried(
    player: ConversationPlayer, exchange: Exchange, file: FrameFile, language: str
) -> Iterator[tuple[bool, JudgedExchange]]:
    """What an order that is right by itself comes to in every frame, and whether the frame keeps it."""
    if judge(player, exchange).outcome is not ExchangeOutcome.RIGHT:
        return
    for frame in file.keeping:
        yield True, judge(player, framed(exchange, frame, language))
    for frame in file.undoing:
        yield False, judge(player, replace(framed(exchange, frame, language), order={}))


def shares(outcomes: Counter[ExchangeOutcome]) -> dict[str, float]:
    """Percent of each outcome."""
    total = max(1, outcomes.total())
    return {str(each): round(100 * count / total, 1) for each, count in sorted(outcomes.items())}
