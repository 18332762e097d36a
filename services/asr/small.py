"""Our own checkpoints: a small vocabulary, windows only as long as the speech, candidates judged by both heads."""

import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

import ctranslate2
import numpy as np
from faster_whisper.feature_extractor import FeatureExtractor
from numpy.typing import NDArray
from tokenizers import Tokenizer

from rules.locales import joiner
from schemas.audio import SAMPLE_RATE, Samples
from schemas.errors import RecognizerUnavailable
from schemas.transcript import Hypothesis
from services.asr.ctc import CtcHead, Floats
from services.asr.decoder import (
    ALTERNATIVES,
    CONFIG,
    TRAINED_S,
    TRAINED_TOKENS,
    Decoded,
    in_pieces,
    max_length,
    token_limit,
    witness,
)
from services.asr.forced import Forced
from services.asr.ngrams import Ngrams
from services.asr.packed import unpacked
from services.asr.search import PrefixSearch

TAIL_S: Final = 0.16
"""Silence put after the last sample, as training had it."""
RESCORED: Final = 24
"""Hypotheses of the decoder that are judged; the best `ALTERNATIVES` of all candidates are told."""
ADDED: Final = 3
"""Transcripts by ear that are judged too: the best that the decoder did not propose."""
CTC_WEIGHT: Final = 0.4
LANGUAGE_WEIGHT: Final = 0.4
TOKEN_BONUS: Final = 1.5
"""Put on every token of a candidate, for a sum of log-probabilities favours short ones."""
_CONTROL: Final = ("<|startoftranscript|>", "<|en|>", "<|ja|>", "<|transcribe|>", "<|nospeech|>", "<|notimestamps|>")


class SmallDecoder:
    """One language of one of our model folders."""

    def __init__(self, folder: Path, language: str, *, workers: int, device: str) -> None:
        config = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
        self._stack = int(config["frame_stack"])
        self._joiner = joiner(language)
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._prompt = [
            self._id(t) for t in ("<|startoftranscript|>", f"<|{language}|>", "<|transcribe|>", "<|notimestamps|>")
        ]
        self._never = [self._id(t) for t in _CONTROL]
        self._features = FeatureExtractor(feature_size=int(config["feature_size"]))
        self._ctc = CtcHead(folder / "ctc.npz")
        language_model = folder / "language.npz.xz"
        vocabulary = self._tokenizer.get_vocab_size()
        self._ngrams = Ngrams(language_model, vocabulary) if language_model.exists() else None
        self._search = PrefixSearch(self._ngrams, self._ctc.blank, self._never) if self._ngrams else None
        compute = "int8" if device == "cpu" else "int8_float16"
        self._model = ctranslate2.models.Whisper(
            str(folder),
            device=device,
            compute_type=compute,
            inter_threads=workers,
            intra_threads=1,
            files=unpacked(folder),
        )
        self._forced = Forced(self._model, self._prompt, self._id("<|endoftext|>"), self._never)

    def decode(self, samples: Samples, *, final: bool) -> Decoded:
        """Decode an utterance; see `Decoder`."""
        return in_pieces(samples, TRAINED_S, partial(self._piece, final=final), self._joiner)

    def odds(self, samples: Samples, texts: Sequence[str]) -> tuple[float, ...]:
        """Nothing: only the bundled checkpoint's two heads tell names apart."""
        del samples, texts
        return ()

    def onward(self, samples: Samples, text: str) -> None:
        """Not told: only the bundled checkpoint writes with marks and without."""

    def _id(self, token: str) -> int:
        found = self._tokenizer.token_to_id(token)
        if found is None:
            raise RecognizerUnavailable(f"the checkpoint has no token {token}")
        return int(found)

    def _mel(self, samples: Samples) -> NDArray[np.float32]:
        """(1, mels x stack, frames / stack): neighbouring frames side by side, as the encoder takes them."""
        mel = self._features(np.pad(samples, (0, int(TAIL_S * SAMPLE_RATE))), padding=0)
        mel = mel - mel.max() + 1.0  # whatever the loudness
        block = 2 * self._stack
        short = -mel.shape[1] % block
        if mel.shape[1] + short == block * mel.shape[0] * self._stack:
            short += block  # as many positions as features: CTranslate2 would take what is encoded for features
        padded = np.pad(mel, ((0, 0), (0, short)), mode="edge")
        folded = padded.T.reshape(1, padded.shape[1] // self._stack, -1).transpose(0, 2, 1)
        return np.ascontiguousarray(folded, dtype=np.float32)

    def _piece(self, samples: Samples, *, final: bool) -> Decoded:
        encoded = self._model.encode(ctranslate2.StorageView.from_array(self._mel(samples)), to_cpu=True)
        limit = token_limit(samples.size / SAMPLE_RATE, TRAINED_TOKENS)
        tried = RESCORED if final else 1
        result = self._model.generate(
            encoded,
            [self._prompt],
            beam_size=tried,
            num_hypotheses=tried,
            max_length=max_length(limit, len(self._prompt)),
            return_scores=True,
            return_no_speech_prob=True,
            suppress_blank=False,
            suppress_tokens=self._never,
        )[0]
        return self._judged(result, encoded, limit, final=final)

    def _text(self, ids: list[int]) -> str:
        return str(self._tokenizer.decode(ids)).strip()

    def _judged(self, result: Any, encoded: ctranslate2.StorageView, limit: int, *, final: bool) -> Decoded:
        """The best candidates by the joint opinion of decoder, CTC head and language model; equal texts once.

        What the CTC head hears by itself is among them: it can't guess a phrase that it doesn't hear. Partials are
        judged so too: of a cut word the decoder alone is unsure, and the guards would empty most of a caller's first
        ones. The witness speaks of the candidate that both heads like best: whether somebody spoke is no question of
        language.
        """
        log_probs = self._ctc.log_probs(np.array(encoded)[0])
        ids = [list(sequence) for sequence in result.sequences_ids]
        guessed = [score * max(1, len(i)) for i, score in zip(ids, result.scores, strict=True)]
        added = [i for i in self._by_ear(log_probs, limit, final=final) if i and i not in ids][:ADDED]
        ids += added
        guessed += self._forced.told(added, encoded)
        lengths = np.array([len(i) for i in ids])
        *heard, silence = self._ctc.score(log_probs, [*ids, []])
        joint = CTC_WEIGHT * np.array(heard) + (1 - CTC_WEIGHT) * np.array(guessed)
        by_heads = joint + TOKEN_BONUS * lengths
        order = np.argsort(-(by_heads + self._likely(ids)), kind="stable")
        best: dict[str, float] = {}
        for k in order:
            mean = max(guessed[k] / max(1, lengths[k]), joint[k] / (1 + lengths[k]))
            best.setdefault(self._text(ids[k]), min(0.0, float(mean)))
        told = list(best.items())[: ALTERNATIVES if final else 1]
        liked = int(by_heads.argmax())
        return Decoded(
            tuple(Hypothesis(text, score) for text, score in told),
            float(result.no_speech_prob),
            witness(len(ids[liked]), float(joint[liked]), float(heard[liked] - silence), self._ctc.new(log_probs)),
        )

    def _likely(self, ids: list[list[int]]) -> NDArray[np.float64]:
        """What the language model, where there is one, adds to each candidate."""
        return np.zeros(len(ids)) if self._ngrams is None else LANGUAGE_WEIGHT * self._ngrams.score(ids)

    def _by_ear(self, log_probs: Floats, limit: int, *, final: bool) -> list[list[int]]:
        """What the CTC head hears: in a final with the language model, else greedily."""
        if self._search is not None and final:
            return [i[:limit] for i in self._search.best(log_probs)]
        return [[i for i in self._ctc.greedy(log_probs) if i not in self._never][:limit]]
