"""What the turn-taking benchmarks play: whole commands, and commands with a pause inside."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, Literal
from zlib import crc32

import numpy as np
import yaml
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from schemas.audio import SAMPLE_RATE, Samples
from services.audio.files import read_file

FOLDER: Final = Path(__file__).parents[1] / "corpus"
LEAD_S: Final = 0.6
"""Line noise before an utterance when it is played."""
VOICED_FLOOR_DB: Final = -30.0
"""The last voiced sample ends the last 5 ms whose level is within this of the loudest: an early, hence strict, mark."""
_BLOCK: Final = 80
_CHOICE: Final = 5
"""Seed."""


class CorpusPart(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class CorpusSet(CorpusPart):
    """Sentences of one kind, each spoken by `voices_each` of the voices in turn."""

    kind: Literal["simple", "paused"]
    locale: str
    customer: str
    voices: tuple[str, ...]
    voices_each: int
    words: tuple[str, ...]


class TurnCorpus(CorpusPart):
    """The whole corpus; `|` in a sentence is a pause of each of `pauses_s`."""

    id: str
    version: int
    pauses_s: tuple[float, ...]
    sets: tuple[CorpusSet, ...]


@dataclass(frozen=True, slots=True)
class Part:
    """Words said without a pause, and when: seconds of the utterance from the first voiced sample to the last."""

    text: str
    start_s: float
    end_s: float


@dataclass(frozen=True, slots=True)
class PlayedUtterance:
    """What one call plays."""

    words: str
    locale: str
    customer: str
    voice: str
    samples: Samples
    parts: tuple[Part, ...]
    pause_s: float = 0.0

    @property
    def voiced_s(self) -> float:
        """The last voiced sample."""
        return self.parts[-1].end_s

    @property
    def resumed_s(self) -> float:
        """Where speech goes on after the last pause; 0 without one."""
        return self.parts[-1].start_s if self.pause_s else 0.0

    @property
    def late_ms(self) -> float:
        """A turn whose voice ends before this, in ms of the call, was cut off."""
        return (LEAD_S + max(self.resumed_s, self.voiced_s * 0.8)) * 1000

    @property
    def key(self) -> int:
        """32 bits that tell it from the others."""
        return crc32(f"{self.voice} {self.words} {self.pause_s}".encode())


def audio_name(voice: str, text: str) -> str:
    """A recording's file name."""
    return f"{voice.replace(':', '-')}-{hashlib.sha256(text.encode()).hexdigest()[:10]}.opus"


def spoken_parts(one: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The recordings that a set needs: voice and words."""
    chosen = CorpusSet.model_validate(one)
    for words, voice in _cast(chosen):
        for part in words.split("|"):
            yield voice, part.strip()


def _cast(one: CorpusSet) -> Iterator[tuple[str, str]]:
    for number, words in enumerate(one.words):
        for turn in range(one.voices_each):
            yield words, one.voices[(number + turn) % len(one.voices)]


def load(file: Path | None = None) -> TurnCorpus:
    """Read a corpus; the one that comes with the project unless another is named."""
    return TurnCorpus.model_validate(
        yaml.load((file or FOLDER / "latency.yaml").read_text(encoding="utf-8"), yaml.CSafeLoader)
    )


def utterances(corpus: TurnCorpus, kind: str, folder: Path | None = None) -> list[PlayedUtterance]:
    """Every utterance of a kind, recordings read from `folder`."""
    recordings = folder or FOLDER / "latency"
    found: list[PlayedUtterance] = []
    for one in corpus.sets:
        for words, voice in _cast(one) if one.kind == kind else ():
            parts = [recording(recordings / audio_name(voice, part.strip())) for part in words.split("|")]
            pauses = corpus.pauses_s if len(parts) > 1 else (0.0,)
            found += [together(words, (one.locale, one.customer, voice), parts, pause) for pause in pauses]
    return found


def some(found: list[PlayedUtterance], limit: int) -> list[PlayedUtterance]:
    """A choice of at most `limit`, always the same, in order; all when it is 0."""
    if not limit or limit >= len(found):
        return found
    chosen = np.random.default_rng(_CHOICE).permutation(len(found))[:limit]  # every n-th would have one pause in common
    return [found[i] for i in sorted(chosen)]


def together(words: str, who: tuple[str, str, str], recorded: list[Samples], pause: float) -> PlayedUtterance:
    """Join the recordings so that `pause` seconds lie between voice and voice. `who`: locale, customer and voice."""
    line: Samples = np.zeros(0, dtype=np.float32)
    parts: list[Part] = []
    for text, sound in zip(words.split("|"), recorded, strict=True):
        if parts:
            gap = round((parts[-1].end_s + pause) * SAMPLE_RATE) - line.size - _first_voiced(sound)
            line = np.concatenate((line[: line.size + min(gap, 0)], np.zeros(max(gap, 0), dtype=np.float32)))
        start, end = ((line.size + at) / SAMPLE_RATE for at in (_first_voiced(sound), _last_voiced(sound)))
        parts.append(Part(text.strip(), start, end))
        line = np.concatenate((line, sound))
    return PlayedUtterance(words, *who, line, tuple(parts), pause)


@lru_cache(maxsize=1024)
def recording(path: Path) -> Samples:
    """A recording's samples."""
    return read_file(path.read_bytes())


def _loud(samples: Samples) -> NDArray[np.intp]:
    power = np.square(samples[: samples.size // _BLOCK * _BLOCK]).reshape(-1, _BLOCK).mean(axis=1)
    return np.flatnonzero(10 * np.log10(power + 1e-12) >= 10 * np.log10(power.max()) + VOICED_FLOOR_DB)


def _last_voiced(samples: Samples) -> int:
    return int(_loud(samples)[-1] + 1) * _BLOCK


def _first_voiced(samples: Samples) -> int:
    return int(_loud(samples)[0]) * _BLOCK
