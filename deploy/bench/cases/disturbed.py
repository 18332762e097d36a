"""Orders with what a tongue, a line or a recogniser does inside them: words said twice, lost, misheard, and fillers."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from random import Random  # noqa: TID251 - seeded

import yaml
from pydantic import BaseModel, ConfigDict

from deploy.bench.cases.exchanges import Exchange


class NoiseFile(BaseModel):
    """One language's noise: `begins` finds words, `between` parts them; some get `lost`, some become others."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    version: int
    begins: str
    between: str
    fillers: tuple[str, ...]
    lost: frozenset[str]
    slips: dict[str, tuple[str, ...]]


def noise(path: Path) -> NoiseFile:
    """A file's noise. Raises OSError, pydantic's ValidationError."""
    return NoiseFile.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))


def disturbed(exchange: Exchange, file: NoiseFile) -> Iterator[Exchange]:
    """The exchange four times, with one kind of noise each in what is said last, where its words allow that."""
    *before, said = exchange.turns
    chance = Random(said)
    begins = [found.start() for found in re.finditer(file.begins, said)]
    for change in (_filled, _again, _without, _misheard):
        made = change(said, begins, file, chance)
        if made is not None:
            yield replace(exchange, turns=(*before, " ".join(made.split())))


def _filled(said: str, begins: list[int], file: NoiseFile, chance: Random) -> str | None:
    if not begins[1:]:
        return None
    at = chance.choice(begins[1:])
    return f"{said[:at]}{chance.choice(file.fillers)}{file.between}{said[at:]}"


def _again(said: str, begins: list[int], file: NoiseFile, chance: Random) -> str | None:
    """A word twice, or a new start after some."""
    if not begins[1:]:
        return None
    nth = chance.randrange(1, len(begins[:5]))
    again = chance.choice([begins[nth - 1], begins[0]])
    return f"{said[: begins[nth]].rstrip()}{file.between}{said[again:]}"


def _without(said: str, begins: list[int], file: NoiseFile, chance: Random) -> str | None:
    there = _places(said, file.lost, file)
    return _put(said, chance.choice(there), "") if begins and there else None


def _misheard(said: str, begins: list[int], file: NoiseFile, chance: Random) -> str | None:
    there = _places(said, file.slips, file)
    if not (begins and there):
        return None
    word = chance.choice(there)
    return _put(said, word, chance.choice(file.slips[word[0].casefold()]))


def _places(said: str, words: Iterable[str], file: NoiseFile) -> list[re.Match[str]]:
    edge = r"\b" if file.between.isspace() else ""
    return [found for word in sorted(words) for found in re.finditer(f"{edge}{word}{edge}", said, re.IGNORECASE)]


def _put(said: str, word: re.Match[str], other: str) -> str:
    return said[: word.start()] + other + said[word.end() :]
