"""What the answers benchmark says to a read-back: a yes, and a yes that goes on after a pause, or ends otherwise."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import yaml
from pydantic import BaseModel, ConfigDict

from deploy.bench._calls.corpus import FOLDER, PlayedUtterance, audio_name, recording, together
from schemas.audio import SAMPLE_RATE, Samples

_A_UNIT_S: Final = {"en": 0.065, "ja": 0.13}
"""About how long a voice takes for a character."""
_VOICE: Final = "answer_voice.opus"


class _AnswersPart(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Parts(_AnswersPart):
    """First parts, and what may follow them, by kind."""

    first: tuple[str, ...]
    moves: dict[str, tuple[str, ...]]
    stays: dict[str, tuple[str, ...]]

    def after(self) -> Iterator[tuple[str, str, bool]]:
        """Everything that may follow: its kind, its words, and whether the whole is still a yes."""
        for moves, kinds in ((True, self.moves), (False, self.stays)):
            for kind, said in kinds.items():
                yield from ((kind, words, moves) for words in said)


class Answers(_AnswersPart):
    """One language's answers to the read-back of `order`."""

    locale: str
    customer: str
    order: str
    voices: tuple[str, ...]
    voices_each: int
    seen: Parts
    unseen: Parts


class AnswerCorpus(_AnswersPart):
    """The whole corpus; every continuation is said with `pauses_each` of `pauses_s` by `voices_each` voices."""

    id: str
    version: int
    pauses_s: tuple[float, ...]
    pauses_each: int
    languages: tuple[Answers, ...]


@dataclass(frozen=True, slots=True)
class AnswerCase:
    """One answer: what is said by whom, with which pause, and whether money may move by it."""

    order: str
    locale: str
    customer: str
    voice: str
    kind: str
    words: str
    pause_s: float
    moves: bool
    unseen: bool

    @property
    def parts(self) -> tuple[str, ...]:
        """What is said between pauses."""
        return tuple(part.strip() for part in self.words.split("|"))


def load(file: Path | None = None) -> AnswerCorpus:
    """Read a corpus; the one that comes with the project unless another is named."""
    return AnswerCorpus.model_validate(
        yaml.load((file or FOLDER / "answers.yaml").read_text(encoding="utf-8"), yaml.CSafeLoader)
    )


def cases(corpus: AnswerCorpus) -> list[AnswerCase]:
    """Every case, always the same and in the same order."""
    return [case for one in corpus.languages for unseen in (False, True) for case in _cases(corpus, one, unseen=unseen)]


def _cases(corpus: AnswerCorpus, one: Answers, *, unseen: bool) -> Iterator[AnswerCase]:
    parts = one.unseen if unseen else one.seen
    head = (one.order, one.locale, one.customer)
    for words in parts.first:
        for voice in one.voices:
            yield AnswerCase(*head, voice, "plain", words, 0.0, moves=True, unseen=unseen)
    for number, (kind, then, moves) in enumerate(parts.after()):
        for turn in range(one.voices_each):
            voice = one.voices[(number + turn) % len(one.voices)]
            for again in range(corpus.pauses_each):
                at = (number * one.voices_each + turn) * corpus.pauses_each + again
                words = f"{parts.first[at % len(parts.first)]} | {then}"
                pause = corpus.pauses_s[at % len(corpus.pauses_s)]
                yield AnswerCase(*head, voice, kind, words, pause, moves=moves, unseen=unseen)


def spoken_parts(raw: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The recordings that a corpus needs: voice and words."""
    for case in cases(AnswerCorpus.model_validate(raw)):
        yield from ((case.voice, part) for part in case.parts)


def spoken(case: AnswerCase, folder: Path | None = None) -> PlayedUtterance:
    """The case as it was recorded. Raises FileNotFoundError where a recording is missing."""
    recordings = folder or FOLDER / "answers"
    return _utterance(case, [recording(recordings / audio_name(case.voice, part)) for part in case.parts])


def babbled(case: AnswerCase) -> PlayedUtterance:
    """The case as sound of the right length by some voice: for a recogniser that is told what was said."""
    voice = recording(FOLDER / _VOICE)
    return _utterance(case, [_stretch(voice, len(part) * _A_UNIT_S[case.locale[:2]]) for part in case.parts])


def _stretch(voice: Samples, seconds: float) -> Samples:
    """So much of a voice that speaks without a pause."""
    return np.resize(voice, max(round(seconds * SAMPLE_RATE), SAMPLE_RATE // 4))


def _utterance(case: AnswerCase, recorded: list[Samples]) -> PlayedUtterance:
    return together(case.words, (case.locale, case.customer, case.voice), recorded, case.pause_s)
