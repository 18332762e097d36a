"""Checkpoints trained for windows as long as the speech: one model for both languages, plain words as they are said."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import ctranslate2
import numpy as np
from faster_whisper.feature_extractor import FeatureExtractor
from numpy.typing import NDArray
from tokenizers import Tokenizer

from rules.locales import joiner
from schemas.audio import SAMPLE_RATE, Samples
from schemas.errors import RecognizerUnavailable
from schemas.transcript import Hypothesis, Onward
from services.asr.card import on_host
from services.asr.ctc import Floats
from services.asr.decoder import (
    ALTERNATIVES,
    CONFIG,
    TRAINED_S,
    TRAINED_TOKENS,
    Decoded,
    Witness,
    in_pieces,
    token_limit,
    witness,
)
from services.asr.ear import Ear, Judged, Scores
from services.asr.encodings import Encodings
from services.asr.narrowed import OwnTokens
from services.asr.onward import OnwardReader
from services.asr.packed import decoded, tokenizer_of
from services.asr.writer import Writer

ROOM_S: Final = 0.5
"""Silence put behind the speech."""
LEAST_S: Final = 2.0
"""Shorter windows lose single words."""
ADDED: Final = 5
"""Transcripts by ear that are judged with the decoder's."""
UNLIKELY: Final = -2.7
"""Nats a piece by the language model: what the decoder likes best and has less is not what callers say to a bank."""
FRAMES_PER_SECOND: Final = 100
NAMED: Final = 0.35
"""The head's share of what is said about names: the decoder expects common ones, the head only hears."""
FAR: Final = 25.0
"""Nats by the head behind the nearest name: the decoder is not asked about what sounds so different."""

_TORN: Final = "\ufffd"
"""A part of a character: text that has one was never said by anybody."""
_ANY: Final = "(?s).*"
_END: Final = "<|endoftext|>"


@dataclass(frozen=True, slots=True)
class Weights:
    """How a candidate's opinions are weighed: the head's against the decoder's, the language model's beside both."""

    head: float
    language: float
    bonus: float
    """Put on every piece of a candidate, for a sum of log-probabilities favours short ones."""


COMMAND: Final = Weights(head=0.2, language=0.4, bonus=1.5)
FREE: Final = Weights(head=0.1, language=0.2, bonus=1.2)
"""Where the language model knows nothing like it: it and the head's few pieces would rather harm."""


@dataclass(frozen=True, slots=True)
class HypothesisScores:
    """Of some transcripts, natural-log probabilities in their order."""

    judged: Judged
    joint: Scores
    """By decoder and head together."""
    by_heads: Scores
    """The same, with the bonus."""
    total: Scores
    """With the language model."""


@dataclass(frozen=True)
class Natural:
    """What the languages of a checkpoint share."""

    model: ctranslate2.models.Whisper
    tokenizer: Tokenizer
    features: FeatureExtractor
    task: str
    """The token that asks for plain words."""
    marks: dict[str, int]
    """Tokens that are no part of a word."""
    own: dict[str, tuple[ctranslate2.models.Whisper, OwnTokens]]
    """Decoders that a language has for itself, with what they write."""

    @classmethod
    def open(cls, folder: Path, *, workers: int, device: str) -> "Natural":
        """Load a folder of ours. Raises what `packed` does, and RuntimeError where CTranslate2 can't read it."""
        config = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
        tokenizer = tokenizer_of(folder)
        files = decoded(folder, tokenizer)
        opened = partial(_opened, workers=workers, device=device)
        written = {lang: OwnTokens.of(tokenizer, pattern) for lang, pattern in config.get("written", {}).items()}
        own = {lang: (opened(each.narrowed(files)), each) for lang, each in written.items()}
        marks = {name: i for name, i in tokenizer.get_vocab().items() if name.startswith("<|")}
        features = FeatureExtractor(feature_size=int(config["feature_size"]))
        return cls(opened(files), tokenizer, features, str(config["task"]), marks, own)

    def writer(self, language: str) -> Writer:
        """A language's decoder. Raises RecognizerUnavailable where a token is missing."""
        model, written = self.own.get(language) or (self.model, OwnTokens.of(self.tokenizer, _ANY))
        prompt, end = self.prompt(language, self.task), self.id(_END)
        return Writer(model, self.tokenizer, written, prompt, end, self.marks)

    def prompt(self, language: str, task: str) -> list[int]:
        """What begins a transcript of a task. Raises RecognizerUnavailable where a token is missing."""
        return [self.id(name) for name in ("<|startoftranscript|>", f"<|{language}|>", task, "<|notimestamps|>")]

    def id(self, token: str) -> int:
        """Of a token. Raises RecognizerUnavailable where there is none."""
        found = self.tokenizer.token_to_id(token)
        if found is None:
            raise RecognizerUnavailable(f"the checkpoint has no token {token}")
        return int(found)


def _opened(files: Mapping[str, bytes], *, workers: int, device: str) -> ctranslate2.models.Whisper:
    """A model of these files, by way of a folder: what CTranslate2 takes from memory it keeps a second time.

    Raises OSError where there is no such folder, and RuntimeError where CTranslate2 can't read the files.
    """
    compute_type = "int8" if device == "cpu" else "float16"
    with TemporaryDirectory(prefix="tellerline-") as folder:
        for name, body in files.items():
            Path(folder, name).write_bytes(body)
        return ctranslate2.models.Whisper(
            folder, device=device, compute_type=compute_type, inter_threads=workers, intra_threads=1
        )


class NaturalDecoder:
    """One language of a checkpoint trained for natural length."""

    def __init__(self, natural: Natural, folder: Path, language: str) -> None:
        self._natural, self._joiner = natural, joiner(language)
        self._ear = Ear(folder / language)
        self._finals = Encodings(self._encoded)
        self._writer = natural.writer(language)
        marked = natural.prompt(language, "<|transcribe|>")
        self._onward = OnwardReader(natural.model, natural.tokenizer, marked, natural.id(_END))

    def decode(self, samples: Samples, *, final: bool) -> Decoded:
        """Decode an utterance; see `Decoder`."""
        return in_pieces(samples, TRAINED_S, partial(self._piece, final=final), self._joiner)

    def odds(self, samples: Samples, texts: Sequence[str]) -> tuple[float, ...]:
        """See `Decoder`. The language model has no say: it knows few names, and likes those that it knows."""
        if samples.size > TRAINED_S * SAMPLE_RATE:
            return ()
        encoded, log_probs = self._finals.of(samples)
        heard = self._ear.judge(log_probs, list(texts)).heard
        near = [0, *(k for k in range(1, len(texts)) if heard[k] > heard[1:].max() - FAR)]
        spelt = {k: ids for k in near if (ids := self._ids(texts[k])) is not None}
        if 0 not in spelt:
            return ()
        told = np.full(len(texts), -np.inf)
        told[[*spelt]] = self._writer.told([*spelt.values()], encoded)
        sound = NAMED * heard + (1 - NAMED) * told
        return tuple(float(each) for each in sound - sound[0])

    def onward(self, samples: Samples, text: str) -> Onward | None:
        """See `Decoder`."""
        if samples.size > TRAINED_S * SAMPLE_RATE:
            return None
        encoded, _ = self._finals.of(samples)
        words = f"{self._joiner}{text[:1].upper()}{text[1:]}"
        return self._onward.behind(self._natural.tokenizer.encode(words, add_special_tokens=False).ids, encoded)

    def _encoded(self, samples: Samples) -> tuple[ctranslate2.StorageView, Floats]:
        """What both heads go by, (1, positions, width), and what the CTC head hears in it."""
        encoded = self._natural.model.encode(ctranslate2.StorageView.from_array(self._mel(samples)), to_cpu=True)
        return encoded, self._ear.head.log_probs(on_host(encoded)[0])

    def _mel(self, samples: Samples) -> NDArray[np.float32]:
        """(1, 80, frames) of the speech and a little silence."""
        seconds = max(LEAST_S, samples.size / SAMPLE_RATE + ROOM_S)
        frames = 2 * math.ceil(seconds * FRAMES_PER_SECOND / 2)
        room = frames * SAMPLE_RATE // FRAMES_PER_SECOND - samples.size
        mel = self._natural.features(np.pad(samples, (0, room)), padding=0)[None, :, :frames]
        return np.ascontiguousarray(mel, dtype=np.float32)

    def _piece(self, samples: Samples, *, final: bool) -> Decoded:
        """What was heard; a partial is what the CTC head hears: the decoder would more than double its time."""
        encoded, log_probs = self._finals.of(samples) if final else self._encoded(samples)
        texts = self._ear.transcripts(log_probs, ADDED if final else 1)
        if not final:
            return self._by_ear(texts, log_probs)
        limit = token_limit(samples.size / SAMPLE_RATE, TRAINED_TOKENS)
        guesses, none = self._proposed(encoded, limit)
        guesses |= self._second_look(self._promising(texts, guesses, log_probs), encoded, limit)
        return self._judged(guesses, log_probs, none)

    def _promising(self, texts: list[str], guesses: dict[str, float], log_probs: Floats) -> list[str]:
        """Transcripts by ear that might win: to the decoder they are no likelier than the last that it proposed."""
        added = [text for text in texts if text not in guesses]
        if not added:
            return []
        guessed = np.array([*guesses.values(), *[min(guesses.values())] * len(added)])
        total = self._scored([*guesses, *added], guessed, log_probs).total
        best = total[: len(guesses)].max()
        return [text for text, bound in zip(added, total[len(guesses) :], strict=True) if bound > best]

    def _second_look(self, texts: list[str], encoded: ctranslate2.StorageView, limit: int) -> dict[str, float]:
        """What the decoder says of transcripts that it did not propose; too long ones are left out."""
        ids = {text: found for text in texts if (found := self._ids(text)) is not None and len(found) <= limit}
        return dict(zip(ids, self._writer.told(list(ids.values()), encoded), strict=True))

    def _by_ear(self, texts: list[str], log_probs: Floats) -> Decoded:
        """What the head hears best, of transcripts that it heard."""
        if not texts:
            return Decoded((Hypothesis("", 0.0),), 0.0)
        judged = self._ear.judge(log_probs, texts)
        mean = np.minimum(0.0, judged.heard / (1 + judged.lengths))
        told = tuple(Hypothesis(text, float(m)) for text, m in zip(texts, mean, strict=True))
        return Decoded(told, 0.0, self._witness(judged, 0, float(judged.heard[0]), log_probs))

    def _ids(self, text: str) -> list[int] | None:
        """A transcript in the decoder's tokens; None where they can't spell it."""
        return self._writer.ids(f"{self._joiner}{text}")

    def _proposed(self, encoded: ctranslate2.StorageView, limit: int) -> tuple[dict[str, float], float]:
        """The decoder's transcripts, each with its natural-log probability, and how likely it finds no speech."""
        proposed, none = self._writer.proposed(encoded, limit)
        found: dict[str, float] = {}
        for told, score in proposed:
            text = told.strip().lower()
            found.setdefault(text if self._joiner else text.replace(" ", ""), score)
        whole = {text: score for text, score in found.items() if _TORN not in text}
        return whole or found, none

    def _judged(self, guesses: dict[str, float], log_probs: Floats, none: float) -> Decoded:
        """The best candidates by the joint opinion of decoder, CTC head and language model.

        Whether somebody spoke is no matter of language: where both heads like silence best it is silence, and the
        witness speaks of the candidate that they like best.
        """
        texts, guessed = list(guesses), np.array(list(guesses.values()))
        scored = self._scored(texts, guessed, log_probs)
        order = np.argsort(-scored.total, kind="stable")
        mean = np.minimum(0.0, np.maximum(guessed, scored.joint) / (1 + scored.judged.lengths))
        liked = int(scored.by_heads.argmax())
        told = tuple(Hypothesis(texts[k], float(mean[k])) for k in (order[:ALTERNATIVES] if texts[liked] else [liked]))
        return Decoded(told, none, self._witness(scored.judged, liked, float(scored.joint[liked]), log_probs))

    def _scored(self, texts: list[str], guessed: Scores, log_probs: Floats) -> HypothesisScores:
        """Transcripts by all opinions; what the pieces can't spell is left to the decoder."""
        judged = self._ear.judge(log_probs, texts)
        own = int(guessed.argmax())
        weights = COMMAND if judged.likely[own] / (1 + judged.lengths[own]) > UNLIKELY else FREE
        spelt = np.array([self._ear.spells(text) for text in texts])
        joint = np.where(spelt, weights.head * judged.heard + (1 - weights.head) * guessed, guessed)
        by_heads = joint + weights.bonus * judged.lengths
        return HypothesisScores(judged, joint, by_heads, by_heads + weights.language * judged.likely)

    def _witness(self, judged: Judged, k: int, joint: float, log_probs: Floats) -> Witness:
        heard = float(judged.heard[k]) - judged.silence
        return witness(int(judged.lengths[k]), joint, heard, self._ear.head.new(log_probs))
