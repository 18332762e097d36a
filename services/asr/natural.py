"""Checkpoints trained for windows as long as the speech: one model for both languages, plain words as they are said."""

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import ctranslate2
import numpy as np
from faster_whisper.feature_extractor import FeatureExtractor
from numpy.typing import NDArray
from tokenizers import Tokenizer

from schemas.audio import SAMPLE_RATE, Samples
from schemas.errors import RecognizerUnavailable
from schemas.transcript import Hypothesis
from services.asr.decoder import ALTERNATIVES, BEAM, Decoded, joined, max_length, split, token_limit
from services.asr.packed import decoded, tokenizer_of

CONFIG: Final = "preprocessor_config.json"
LONGEST_S: Final = 11.0
"""Speech longer than training ever was is decoded in pieces."""
ROOM_S: Final = 0.5
"""Silence put behind the speech."""
LEAST_S: Final = 2.0
"""Shorter windows lose single words."""
MOST_TOKENS: Final = 120
SURELY_EMPTY: Final = 0.6
"""Probability of the end as first token from which nobody spoke; below, words that were found stand."""
FRAMES_PER_SECOND: Final = 100


@dataclass(frozen=True)
class Natural:
    """What the languages of a checkpoint share."""

    model: ctranslate2.models.Whisper
    tokenizer: Tokenizer
    features: FeatureExtractor
    task: str
    """The token that asks for plain words."""

    @classmethod
    def open(cls, folder: Path, *, workers: int, device: str) -> "Natural":
        """Load a folder of ours. Raises what `packed` does, and RuntimeError where CTranslate2 can't read it."""
        config = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
        tokenizer = tokenizer_of(folder)
        model = ctranslate2.models.Whisper(
            str(folder),
            device=device,
            compute_type="int8" if device == "cpu" else "int8_float16",
            inter_threads=workers,
            intra_threads=1,
            files=decoded(folder, tokenizer),
        )
        return cls(model, tokenizer, FeatureExtractor(feature_size=int(config["feature_size"])), str(config["task"]))

    def id(self, token: str) -> int:
        """Of a token. Raises RecognizerUnavailable where there is none."""
        found = self.tokenizer.token_to_id(token)
        if found is None:
            raise RecognizerUnavailable(f"the checkpoint has no token {token}")
        return int(found)


class NaturalDecoder:
    """One language of a checkpoint trained for natural length."""

    def __init__(self, natural: Natural, language: str) -> None:
        self._natural, self._joiner = natural, "" if language == "ja" else " "
        names = ("<|startoftranscript|>", f"<|{language}|>", natural.task, "<|notimestamps|>")
        self._prompt = [natural.id(name) for name in names]
        vocabulary = natural.tokenizer.get_vocab()
        end = natural.id("<|endoftext|>")
        self._never = sorted(i for name, i in vocabulary.items() if name.startswith("<|") and i != end)

    def decode(self, samples: Samples, *, final: bool) -> Decoded:
        """Decode an utterance; see `Decoder`."""
        return joined([self._piece(p, final=final) for p in split(samples, LONGEST_S)], self._joiner)

    def _mel(self, samples: Samples) -> NDArray[np.float32]:
        """(1, 80, frames) of the speech and a little silence."""
        seconds = max(LEAST_S, samples.size / SAMPLE_RATE + ROOM_S)
        frames = 2 * math.ceil(seconds * FRAMES_PER_SECOND / 2)
        room = frames * SAMPLE_RATE // FRAMES_PER_SECOND - samples.size
        mel = self._natural.features(np.pad(samples, (0, room)), padding=0)[None, :, :frames]
        return np.ascontiguousarray(mel, dtype=np.float32)

    def _piece(self, samples: Samples, *, final: bool) -> Decoded:
        limit = token_limit(samples.size / SAMPLE_RATE, MOST_TOKENS)
        tried = BEAM if final else 1
        result = self._natural.model.generate(
            ctranslate2.StorageView.from_array(self._mel(samples)),
            [self._prompt],
            beam_size=tried,
            num_hypotheses=min(ALTERNATIVES, tried),
            length_penalty=0,
            max_length=max_length(limit, len(self._prompt)),
            return_scores=True,
            return_no_speech_prob=True,
            suppress_blank=False,
            suppress_tokens=self._never,
        )[0]
        return Decoded(self._hypotheses(result), float(result.no_speech_prob))

    def _hypotheses(self, result: Any) -> tuple[Hypothesis, ...]:
        """Each text once, best first, with its mean log-probability a token."""
        best: dict[str, float] = {}
        for ids, score in zip(result.sequences_ids, result.scores, strict=True):
            text = str(self._natural.tokenizer.decode(ids)).strip()
            best.setdefault(text if self._joiner else text.replace(" ", ""), min(0.0, float(score) / (len(ids) + 1)))
        said = {text: score for text, score in best.items() if text}
        if said and best.get("", -math.inf) < math.log(SURELY_EMPTY):
            best = said
        return tuple(Hypothesis(text, score) for text, score in best.items())
