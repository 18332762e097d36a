"""What the turn-taking benchmarks play: whole commands, and commands with a pause inside."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
import yaml
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from schemas.audio import SAMPLE_RATE, Samples
from services.audio.files import read_file

FOLDER: Final = Path(__file__).parent / "corpus"
VOICED_FLOOR_DB: Final = -30.0
"""The last voiced sample ends the last 5 ms whose level is within this of the loudest: an early, hence strict, mark."""
_BLOCK: Final = 80


class _Frozen(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class CorpusSet(_Frozen):
    """Sentences of one kind, each spoken by `voices_each` of the voices in turn."""

    kind: Literal["simple", "paused"]
    locale: str
    customer: str
    voices: tuple[str, ...]
    voices_each: int
    words: tuple[str, ...]


class Corpus(_Frozen):
    """The whole corpus; `|` in a sentence is a pause of each of `pauses_s`."""

    id: str
    version: int
    pauses_s: tuple[float, ...]
    sets: tuple[CorpusSet, ...]


@dataclass(frozen=True, slots=True)
class Utterance:
    """What one call plays. `voiced_s` is its last voiced sample, `resumed_s` where speech goes on after the pause."""

    words: str
    locale: str
    customer: str
    voice: str
    samples: Samples
    voiced_s: float
    pause_s: float = 0.0
    resumed_s: float = 0.0


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


def load(file: Path | None = None) -> Corpus:
    """Read a corpus; the one that comes with the project unless another is named."""
    return Corpus.model_validate(yaml.safe_load((file or FOLDER / "latency.yaml").read_text(encoding="utf-8")))


def utterances(corpus: Corpus, kind: str, folder: Path | None = None) -> list[Utterance]:
    """Every utterance of a kind, recordings read from `folder`."""
    recordings = folder or FOLDER / "latency"
    found: list[Utterance] = []
    for one in corpus.sets:
        for words, voice in _cast(one) if one.kind == kind else ():
            parts = [_recording(recordings / audio_name(voice, part.strip())) for part in words.split("|")]
            pauses = corpus.pauses_s if len(parts) > 1 else (0.0,)
            found += [_utterance(one, words, voice, parts, pause) for pause in pauses]
    return found


def _utterance(one: CorpusSet, words: str, voice: str, parts: list[Samples], pause: float) -> Utterance:
    """Join the parts so that `pause` seconds lie between the voice before and the voice after."""
    line, resumed = parts[0], 0.0
    for part in parts[1:]:
        gap = round(pause * SAMPLE_RATE) - (line.size - _last_voiced(line)) - _first_voiced(part)
        line = np.concatenate((line[: line.size + min(gap, 0)], np.zeros(max(gap, 0), dtype=np.float32)))
        resumed = (line.size + _first_voiced(part)) / SAMPLE_RATE
        line = np.concatenate((line, part))
    voiced = _last_voiced(line) / SAMPLE_RATE
    return Utterance(words, one.locale, one.customer, voice, line, voiced, pause, resumed)


@lru_cache(maxsize=512)
def _recording(path: Path) -> Samples:
    return read_file(path.read_bytes())


def _loud(samples: Samples) -> NDArray[np.intp]:
    power = np.square(samples[: samples.size // _BLOCK * _BLOCK]).reshape(-1, _BLOCK).mean(axis=1)
    return np.flatnonzero(10 * np.log10(power + 1e-12) >= 10 * np.log10(power.max()) + VOICED_FLOOR_DB)


def _last_voiced(samples: Samples) -> int:
    return int(_loud(samples)[-1] + 1) * _BLOCK


def _first_voiced(samples: Samples) -> int:
    return int(_loud(samples)[0]) * _BLOCK
