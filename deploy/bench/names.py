"""`tellerline bench names`: payees' names spoken aloud, found in what was heard alone and told by their sound."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import Annotated, Final

import numpy as np
import orjson
import typer

from app.qa.figures import Figure
from app.qa.replay.judging.stats import clopper_pearson
from deploy.bench._callers.voice import spoken
from deploy.bench.callers import VOICE
from deploy.reporting import percentile, publish
from schemas.ids import EN_US, PayeeId
from schemas.payee import MatchOutcome, Payee, PayeeMatch
from schemas.transcript import Decode, Transcript
from services.asr import load
from services.payees import PayeeIndex
from services.ports import Recognizer

CARRIERS: Final = (
    "send fifty dollars to {}",
    "pay {} twenty five dollars",
    "could you send a hundred and ten dollars to {}",
    "i want to make a transfer to {}",
    "no, to {}",
    "it's for {}",
    "{} please",
)
BOOK: Final = 30
STRANGERS: Final = 0.4
"""The share of names that are nobody's in the book."""


@dataclass(frozen=True, slots=True)
class SpokenName:
    """A sentence with a name in it, and the book of the one who says it."""

    name: str
    sentence: str
    book: tuple[str, ...]

    @property
    def known(self) -> bool:
        """Whether the name is somebody's."""
        return self.name in self.book


@dataclass(frozen=True, slots=True)
class NameFound:
    """What became of a name: `right`, `wrong`, `asked` or `nobody`, by the words alone and with the sound."""

    by_words: str
    by_sound: str
    cpu_ms: float
    """Of telling names by their sound; 0 where nothing was to be told."""


def bench(
    names: Annotated[Path, typer.Argument(help="JSON lines, a `name` in each")],
    json: Annotated[Path | None, typer.Option(help="write the figures there")] = None,
    voice: Annotated[str, typer.Option(help="program that speaks its standard input into the file {}")] = VOICE,
    limit: Annotated[int, typer.Option(help="sentences", min=1)] = 100,
    seed: Annotated[int, typer.Option(help="of names, books and sentences")] = 1,
) -> None:
    """Speak sentences with names, each to a caller with a book of 30, two in five with a name that is not in it."""
    known = [orjson.loads(line)["name"] for line in names.read_bytes().splitlines()]
    sample = _sample(known, limit, seed)
    found = asyncio.run(_found(sample, voice))
    figures: dict[str, Figure] = {}
    for how in ("by_words", "by_sound"):
        came = Counter((each.known, getattr(one, how)) for each, one in zip(sample, found, strict=True))
        inside, outside = ([n for (k, _), n in came.items() if k is known] for known in (True, False))
        wrong = came[True, "wrong"] + came[False, "wrong"]
        figures |= {
            f"{how}_right_percent": 100 * came[True, "right"] / max(1, sum(inside)),
            f"{how}_asked_percent": 100 * came[True, "asked"] / max(1, sum(inside)),
            f"{how}_wrong": wrong,
            f"{how}_wrong_at_most_percent": 100 * clopper_pearson(wrong, sum(inside) + sum(outside))[1],
        }
    spent = [one.cpu_ms for one in found if one.cpu_ms]
    figures |= {"weighed": len(spent), "weighing_cpu_ms_p50": percentile(spent, 50)}
    publish("names", f"{limit} sentences with names of {names.name}, {voice.split(' -o')[0]}", figures, json)


def _sample(names: Sequence[str], limit: int, seed: int) -> list[SpokenName]:
    dice = np.random.default_rng(seed)
    found = []
    for _ in range(limit):
        book = [names[k] for k in dice.choice(len(names), min(BOOK, len(names)), replace=False)]
        name = book[0]
        carrier = CARRIERS[int(dice.integers(len(CARRIERS)))]
        kept = book[1:] if dice.random() < STRANGERS else book
        found.append(SpokenName(name, carrier.format(name), tuple(kept)))
    return found


async def _found(sample: Sequence[SpokenName], voice: str) -> list[NameFound]:
    recognizer = load(workers=1)
    try:
        return [await _one(recognizer, each, voice) for each in sample]
    finally:
        await recognizer.close()


async def _one(recognizer: Recognizer, said: SpokenName, voice: str) -> NameFound:
    index = PayeeIndex.build([Payee(PayeeId(name), name) for name in said.book])
    samples = spoken(voice, said.sentence, "").samples
    asked: list[str] = []

    def wordings(heard: Transcript) -> tuple[str, ...]:
        asked.extend(found := index.wordings(heard.text, _match(index, heard)))
        return found

    begin = process_time()
    heard = await recognizer.transcribe(samples, EN_US, Decode.FINAL)
    alone = process_time()
    told = await recognizer.transcribe(samples, EN_US, Decode.FINAL, wordings=wordings)
    spent = (process_time() - alone) - (alone - begin) if asked else 0.0
    return NameFound(_outcome(index, heard, said.name), _outcome(index, told, said.name), max(0.0, spent) * 1000)


def _match(index: PayeeIndex, heard: Transcript) -> PayeeMatch | None:
    return index.find((heard.text, *(() if heard.named else heard.alternatives)), EN_US)


def _outcome(index: PayeeIndex, heard: Transcript, name: str) -> str:
    match = _match(index, heard)
    if match is None or match.outcome is MatchOutcome.NOBODY:
        return "nobody"
    if match.choice is None:
        return "asked"
    return "right" if match.choice == name else "wrong"
