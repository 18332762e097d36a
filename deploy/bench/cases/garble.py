"""Strings that nobody would say, from a seed.

Digits, marks, units, words, controls and odd letters in any order; and what people say, cut anywhere and joined.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, TypeVar

import numpy as np
import yaml
from pydantic import BaseModel, ConfigDict

T = TypeVar("T")
SEED: Final = 20_261_118
_MOST: Final = 5
"""Pieces that one gap of a frame gets at most."""
_MOST_SENTENCES: Final = 4
_BATCH: Final = 4096


class GarbleFile(BaseModel):
    """The pieces by class, frames with gaps `{}` that they are put into, and rows of classes that belong together.

    `joints` stand between pieces of sentences.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    version: int
    pieces: dict[str, tuple[str, ...]]
    frames: tuple[str, ...]
    shapes: tuple[tuple[str, ...], ...]
    joints: tuple[str, ...]


def garble_file(path: Path) -> GarbleFile:
    """The file, validated. Raises OSError, pydantic's ValidationError."""
    return GarbleFile.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))


class _Chance:
    """Small numbers from a seed, drawn many at a time."""

    def __init__(self, seed: int) -> None:
        self._chance = np.random.default_rng(seed)
        self._drawn: Iterator[int] = iter(())

    def below(self, bound: int) -> int:
        number = next(self._drawn, None)
        if number is None:
            self._drawn = iter(self._chance.integers(0, 2**31, _BATCH).tolist())
            number = next(self._drawn)
        return number % bound

    def of(self, choices: Sequence[T]) -> T:
        return choices[self.below(len(choices))]


def garbled(file: GarbleFile, count: int, seed: int = SEED) -> Iterator[str]:
    """`count` strings, the same for the same seed: a class is drawn, then a piece of it, so that no class is rare."""
    chance, classes = _Chance(seed), tuple(file.pieces.values())
    shapes = tuple(tuple(file.pieces[name] for name in shape) for shape in file.shapes)

    def fill() -> str:
        parts: list[str] = []
        for _ in range(1 + chance.below(_MOST)):
            row = chance.of(shapes) if chance.below(2) else (chance.of(classes),)
            blank = " " if chance.below(2) else ""
            parts.append(blank.join(chance.of(pieces) for pieces in row) + " " * chance.below(2))
        return "".join(parts)

    for _ in range(count):
        head, *gaps = chance.of(file.frames).split("{}")
        yield head + "".join(fill() + rest for rest in gaps)


def spliced(file: GarbleFile, sentences: Sequence[str], seed: int = SEED) -> Iterator[str]:
    """Without end, some of the sentences one behind the other, each cut at any place; the same for the same seed."""
    chance = _Chance(seed)

    def cut() -> str:
        said = chance.of(sentences)
        words = said.split() if " " in said else list(said)
        start = chance.below(len(words)) if chance.below(2) else 0
        end = start + 1 + chance.below(len(words) - start) if chance.below(2) else len(words)
        return (" " if " " in said else "").join(words[start:end])

    while True:
        parts = [cut()]
        for _ in range(chance.below(_MOST_SENTENCES)):
            parts += [chance.of(file.joints), cut()]
        yield "".join(parts)
