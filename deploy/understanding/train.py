"""`python -m deploy.understanding.train`: learn the reader anew, and say what it is worth on what it never saw.

Some minutes; the people's sentences of ../shared/people-cases are learned from where they are at hand.
"""

import lzma
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import orjson
from numpy.typing import NDArray

from deploy.understanding.arithmetic import Floats, Rows, fitted
from deploy.understanding.hearing import Heard, Hearer
from deploy.understanding.samples import NONE, samples
from services.understanding.learned.features import BUCKETS
from services.understanding.learned.reader import FAMILIES, PATH

ROOT: Final = Path(__file__).parents[2]
VERSION: Final = 1
LANGUAGES: Final = ("en", "ja")
FOLDS: Final = 2
PENALTY: Final = 8e-6
ROUNDS: Final = 200
UNREAD: Final = 3.0
"""What a sentence counts that the rules leave unread, of which the reader will be asked."""
TRAPS: Final = 15.0
"""What such a sentence of no family counts that was written down as one."""
WRITTEN: Final = ("understanding", "wanted", "en", "ja")
"""Files of sentences whose families were told one by one."""
RARE: Final = 0.25
"""The share that the sentences of a family are brought to."""
MOST: Final = 5.0
"""What one of them may count for it, at most."""
MONEY: Final = 2
"""The first families move money."""
FALSE_OFFERS: Final = 0.005
"""Of sentences of no family that the rules leave unread, so many may be offered each order."""
OFFERED: Final = 0.8
"""How often what moves no money has to be right to be offered."""
TOLD: Final = 0.98
"""How often it has to be right to be told without a question."""
FEW: Final = 20
"""Fewer proposals than that show nothing: the threshold is put higher."""
STEPS: Final = [round(float(step), 1) for step in np.arange(-1.5, 4.01, 0.1)]
NEVER: Final = 99.0
SMALLEST: Final = 1e-9


@dataclass(frozen=True, slots=True)
class Learned:
    """One language's reader before it is made small: float32 [BUCKETS, FAMILIES], and the thresholds."""

    weights: Floats
    biases: Floats
    offered: list[float]
    told: list[float]


BLANK: Final = Learned(
    np.zeros((BUCKETS, len(FAMILIES)), np.float32),
    np.zeros(len(FAMILIES), np.float32),
    [NEVER] * len(FAMILIES),
    [NEVER] * len(FAMILIES),
)
"""A reader that proposes nothing."""


def main() -> None:
    """Learn, write the file, and list what the sentences kept apart come to."""
    file = ROOT / "rules" / PATH
    file.write_bytes(pack(dict.fromkeys(LANGUAGES, BLANK)))  # what is heard to learn from is heard without a reader
    made: dict[str, Learned] = {}
    for language in LANGUAGES:
        hearer = Hearer(language)
        heard = [hearer.hear(sample) for sample in samples(language)]
        made[language] = learned([each for each in heard if not each.sample.apart])
        _told(language, made[language], [each for each in heard if each.sample.apart])
    packed = pack(made)
    file.write_bytes(packed)
    print(f"{len(packed)} bytes")


def learned(heard: list[Heard]) -> Learned:
    """The reader of these sentences, its thresholds set by readers that had not seen them."""
    right = np.array([[family in each.sample.families for family in FAMILIES] for each in heard], np.float32)
    counts = _counts(heard, right)
    fold = np.array([zlib.crc32(each.sample.text.encode()) % FOLDS for each in heard])
    unseen = np.zeros_like(right)
    for number in range(FOLDS):
        inside, outside = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
        weights, biases = fitted(_rows(heard, inside), right[inside], counts[inside], PENALTY, ROUNDS)
        unseen[outside] = _rows(heard, outside).times(weights) + biases
    weights, biases = fitted(_rows(heard, np.arange(len(heard))), right, counts, PENALTY, ROUNDS)
    known = _rows(heard, np.arange(len(heard))).times(weights) + biases
    offered = [max(_offered(f, heard, unseen), _above_traps(f, heard, known)) for f in range(len(FAMILIES))]
    told = [max(_precise(family, heard, unseen, TOLD), offered[family]) for family in range(len(FAMILIES))]
    return Learned(weights, biases, offered, told)


def _rows(heard: list[Heard], places: NDArray[np.int64]) -> Rows:
    return Rows.of([heard[int(at)].features for at in places])


def _counts(heard: list[Heard], right: Floats) -> Floats:
    """What each sentence counts for each family: nothing where that is in doubt, more where it is rare."""
    known = np.array([[family not in each.sample.doubted for family in FAMILIES] for each in heard], np.float32)
    ours = np.array([[_count(each)] for each in heard], np.float32)
    shares = right.sum(axis=0)
    more = np.clip(RARE * (len(heard) - shares) / shares, 1.0, MOST)
    return np.asarray(known * ours * np.where(right > 0, more, 1.0), np.float32)


def _count(heard: Heard) -> float:
    if not heard.unread:
        return 1.0
    return TRAPS if heard.sample.source.startswith(WRITTEN) and NONE in heard.sample.families else UNREAD


def _proposed(family: int, heard: list[Heard], logits: Floats, step: float) -> list[Heard]:
    """The sentences for which this family is proposed from `step` on; made ones are none of people's."""
    best = logits.argmax(axis=1)
    chosen = np.flatnonzero((best == family) & (logits[:, family] >= step))
    ours = (heard[int(at)] for at in chosen)
    return [h for h in ours if h.unread and h.sample.source != "made" and FAMILIES[family] not in h.hindered]


def _offered(family: int, heard: list[Heard], logits: Floats) -> float:
    if family >= MONEY:
        return _precise(family, heard, logits, OFFERED)
    none = sum(h.unread and NONE in h.sample.families and h.sample.source != "made" for h in heard)
    for step in STEPS:
        wrong = sum(NONE in h.sample.families for h in _proposed(family, heard, logits, step))
        if wrong <= FALSE_OFFERS * none:
            return step
    return NEVER


def _above_traps(family: int, heard: list[Heard], logits: Floats) -> float:
    """The first step at which it is proposed for no sentence written down as something else; an order, as none."""
    others = frozenset({NONE}) if family < MONEY else frozenset({NONE, *FAMILIES}) - {FAMILIES[family]}

    def trapped(step: float) -> bool:
        found = (h.sample for h in _proposed(family, heard, logits, step))
        return any(s.families <= others and s.source.startswith(WRITTEN) for s in found)

    return next((step for step in STEPS if not trapped(step)), NEVER)


def _precise(family: int, heard: list[Heard], logits: Floats, share: float) -> float:
    """The first step from which on what is proposed is right so often; a higher one where few show it."""
    name = FAMILIES[family]
    for step in STEPS:
        sure = [h for h in _proposed(family, heard, logits, step) if name not in h.sample.doubted]
        right = sum(name in h.sample.families for h in sure)
        if right >= share * len(sure):
            return step if len(sure) >= FEW else max(step, 2.0 if share >= TOLD else 0.0)
    return NEVER


def pack(made: dict[str, Learned]) -> bytes:
    """The file: a line of JSON, then int8 [languages, BUCKETS, FAMILIES], compressed."""
    scales = {name: np.abs(each.weights).max(axis=0) / 127 for name, each in made.items()}
    head = {
        "id": "intents.learned",
        "version": VERSION,
        "scales": {name: [round(float(s), 6) for s in scale] for name, scale in scales.items()},
        "biases": {name: [round(float(b), 4) for b in each.biases] for name, each in made.items()},
        "offered": {name: each.offered for name, each in made.items()},
        "told": {name: each.told for name, each in made.items()},
    }
    body = b"".join(
        np.round(each.weights / np.maximum(scales[name], SMALLEST)).astype(np.int8).tobytes()
        for name, each in made.items()
    )
    return lzma.compress(orjson.dumps(head) + b"\n" + body, preset=9 | lzma.PRESET_EXTREME)


def _told(language: str, made: Learned, heard: list[Heard]) -> None:
    """What the sentences kept apart come to, those that the rules leave unread."""
    logits = _rows(heard, np.arange(len(heard))).times(made.weights) + made.biases
    for at, family in enumerate(FAMILIES):
        wanted = [h for h in heard if h.unread and family in h.sample.families]
        found = _proposed(at, heard, logits, made.offered[at])
        right = sum(family in h.sample.families for h in found)
        print(
            f"{language} {family}: offered from {made.offered[at]}, told from {made.told[at]}; "
            f"{right} of {len(wanted)} proposed, {len(found) - right} wrongly"
        )


if __name__ == "__main__":
    main()
