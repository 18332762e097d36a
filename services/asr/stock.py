"""Stock Whisper checkpoints, by any faster-whisper name or folder, in the shortest windows that are safe for them."""

from collections.abc import Sequence
from functools import partial
from typing import Any, Final

import numpy as np
from faster_whisper import WhisperModel
from faster_whisper.audio import pad_or_trim
from faster_whisper.tokenizer import Tokenizer

from rules.locales import joiner
from schemas.audio import SAMPLE_RATE, Samples
from schemas.errors import RecognizerUnavailable
from schemas.transcript import Hypothesis
from services.asr.decoder import ALTERNATIVES, BEAM, Decoded, in_pieces, max_length, token_limit

WINDOWS_S: Final = (8.0, 10.0, 15.0, 20.0, 30.0)
"""Below 8 s a checkpoint that was trained on 30 loops, whatever the search; `ROOM_S` of each stays silent."""
ROOM_S: Final = 1.0
LONGEST_S: Final = 28.0
FRAMES_PER_SECOND: Final = 100
MOST_TOKENS: Final = 220
MODEL_LENGTH: Final = 448


def open_stock(name: str, *, workers: int, device: str) -> WhisperModel:
    """Load a checkpoint. Raises RecognizerUnavailable when it is not to be had."""
    compute = "int8" if device == "cpu" else "float16"
    try:
        return WhisperModel(name, device=device, compute_type=compute, cpu_threads=1, num_workers=workers)
    except Exception as error:
        raise RecognizerUnavailable(
            f"the checkpoint does not load ({type(error).__name__}): `bundled` is one, `base` after `make hearing`, or"
            " any faster-whisper checkpoint's name or folder"
        ) from error


class StockDecoder:
    """One language of a stock checkpoint."""

    def __init__(self, model: WhisperModel, language: str) -> None:
        if language != "en" and not model.model.is_multilingual:
            raise RecognizerUnavailable(f"an English checkpoint can't hear {language}")
        self._model = model
        self._joiner = joiner(language)
        self._tokenizer = Tokenizer(
            model.hf_tokenizer, multilingual=model.model.is_multilingual, task="transcribe", language=language
        )
        self._prompt = [*self._tokenizer.sot_sequence, self._tokenizer.no_timestamps]

    def decode(self, samples: Samples, *, final: bool) -> Decoded:
        """Decode an utterance; see `Decoder`."""
        return in_pieces(samples, LONGEST_S, partial(self._piece, final=final), self._joiner)

    def odds(self, samples: Samples, texts: Sequence[str]) -> tuple[float, ...]:
        """Nothing: only the bundled checkpoint's two heads tell names apart."""
        del samples, texts
        return ()

    def onward(self, samples: Samples, text: str) -> None:
        """Not told: only the bundled checkpoint writes with marks and without."""

    def _piece(self, samples: Samples, *, final: bool) -> Decoded:
        features = pad_or_trim(self._model.feature_extractor(samples), window(samples.size / SAMPLE_RATE))
        encoded = self._model.encode(np.ascontiguousarray(features))
        limit = token_limit(samples.size / SAMPLE_RATE, MOST_TOKENS)
        result = self._model.model.generate(
            encoded,
            [self._prompt],
            beam_size=BEAM,  # partials too: greedy ones loop
            num_hypotheses=ALTERNATIVES if final else 1,
            length_penalty=0,  # divided by its length, a loop of sure tokens beats a short, right text
            max_length=min(MODEL_LENGTH, max_length(limit, len(self._prompt))),
            return_scores=True,
            return_no_speech_prob=True,
            suppress_blank=True,
        )[0]
        return Decoded(self._hypotheses(result), float(result.no_speech_prob))

    def _hypotheses(self, result: Any) -> tuple[Hypothesis, ...]:
        best: dict[str, float] = {}
        for ids, score in zip(result.sequences_ids, result.scores, strict=True):
            best.setdefault(self._tokenizer.decode(ids).strip(), float(score) / (len(ids) + 1))
        return tuple(Hypothesis(text, score) for text, score in best.items())


def window(seconds: float) -> int:
    """Frames of the shortest safe window for so much speech."""
    fit = next((w for w in WINDOWS_S if seconds + ROOM_S <= w), WINDOWS_S[-1])
    return int(fit * FRAMES_PER_SECOND)
