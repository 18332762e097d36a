"""Decode times of the recogniser beside a Whisper tiny of random weights, one thread each, in one run."""

import statistics
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final

import ctranslate2
import numpy as np
from ctranslate2.specs import WhisperSpec
from faster_whisper.audio import pad_or_trim
from faster_whisper.feature_extractor import FeatureExtractor
from numpy.typing import NDArray

from app.qa.figures import Figure
from schemas.audio import SAMPLE_RATE, Samples
from services.asr.decoder import BEAM, Decoder, max_length

SECONDS: Final = 3.0
ROUNDS: Final = 11
TOKENS: Final = 12
"""Pieces of a command of three seconds; a model of random weights never ends by itself."""
WIDTH: Final = 384
LAYERS: Final = 4
HEADS: Final = 6
VOCABULARY: Final = 51_865
_SPECIAL: Final = (
    "<|endoftext|>",
    "<|startoftranscript|>",
    "<|en|>",
    "<|transcribe|>",
    "<|nospeech|>",
    "<|notimestamps|>",
)


def fitted(samples: Samples) -> Samples:
    """The samples cut or padded to SECONDS."""
    size = int(SECONDS * SAMPLE_RATE)
    return np.pad(samples[:size], (0, max(0, size - samples.size)))


def median_ms(work: Callable[[], object]) -> float:
    """Median milliseconds of ROUNDS calls after one that is not counted."""
    work()
    timed = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        work()
        timed.append((time.perf_counter() - start) * 1000)
    return statistics.median(timed)


def speed(decoder: Decoder, samples: Samples, folder: Path) -> dict[str, Figure]:
    """Milliseconds and ratios of a final decode of three seconds."""
    sound = fitted(samples)
    ours = median_ms(lambda: decoder.decode(sound, final=True))
    figures: dict[str, Figure] = {
        "final_3s_ms": ours,
        "partial_3s_ms": median_ms(lambda: decoder.decode(sound, final=False)),
    }
    tiny = Tiny(folder)
    for window in (30, 5):
        theirs = median_ms(partial(tiny.decode, sound, window))
        figures[f"tiny_{window}s_window_ms"] = theirs
        figures[f"times_faster_than_tiny_{window}s_window"] = theirs / ours
    return figures


class Tiny:
    """Whisper tiny's shape with random weights in int8, driven as faster-whisper drives it."""

    def __init__(self, folder: Path) -> None:
        spec = _random_spec()
        spec.register_vocabulary([*(f"piece{i}" for i in range(VOCABULARY - len(_SPECIAL))), *_SPECIAL])
        spec.validate()
        spec.optimize(quantization="int8")
        spec.save(str(folder))
        self._model = ctranslate2.models.Whisper(str(folder), compute_type="int8", intra_threads=1)
        self._features = FeatureExtractor()
        first = VOCABULARY - len(_SPECIAL)
        self._prompt = [first + _SPECIAL.index(t) for t in _SPECIAL[1:4]] + [VOCABULARY - 1]

    def decode(self, samples: Samples, window_s: float) -> object:
        """Features padded to the window, encoder, and TOKENS tokens by beam search."""
        mel = pad_or_trim(self._features(samples), int(window_s * 100))[None]
        encoded = self._model.encode(ctranslate2.StorageView.from_array(np.ascontiguousarray(mel, dtype=np.float32)))
        limit = max_length(TOKENS, len(self._prompt))
        return self._model.generate(encoded, [self._prompt], beam_size=BEAM, max_length=limit, suppress_blank=False)


def _random_spec() -> Any:
    """A specification whose every weight is drawn at random."""
    spec = WhisperSpec(LAYERS, HEADS, LAYERS, HEADS)
    rng = np.random.default_rng(1)

    def draw(*size: int) -> NDArray[np.float32]:
        return rng.normal(0, 0.02, size).astype(np.float32)

    for conv, mels in ((spec.encoder.conv1, 80), (spec.encoder.conv2, WIDTH)):
        conv.weight, conv.bias = draw(WIDTH, mels, 3), draw(WIDTH)
    spec.encoder.position_encodings.encodings = draw(1500, WIDTH)
    spec.decoder.position_encodings.encodings = draw(448, WIDTH)
    spec.decoder.embeddings.weight = draw(VOCABULARY, WIDTH)
    spec.decoder.projection.weight = spec.decoder.embeddings.weight
    for side in (spec.encoder, spec.decoder):
        _norm(side.layer_norm)
        for layer in side.layer:
            _layer(layer, draw)
    return spec


def _layer(layer: Any, draw: Callable[..., NDArray[np.float32]]) -> None:
    attentions: list[tuple[Any, tuple[int, ...]]] = [(layer.self_attention, (3, 1))]
    if hasattr(layer, "attention"):
        attentions.append((layer.attention, (1, 2, 1)))
    for attention, parts in attentions:
        _norm(attention.layer_norm)
        for linear, rows in zip(attention.linear, parts, strict=True):
            linear.weight, linear.bias = draw(rows * WIDTH, WIDTH), draw(rows * WIDTH)
    _norm(layer.ffn.layer_norm)
    layer.ffn.linear_0.weight, layer.ffn.linear_0.bias = draw(4 * WIDTH, WIDTH), draw(4 * WIDTH)
    layer.ffn.linear_1.weight, layer.ffn.linear_1.bias = draw(WIDTH, 4 * WIDTH), draw(WIDTH)


def _norm(spec: Any) -> None:
    spec.gamma, spec.beta = np.ones(WIDTH, dtype=np.float32), np.zeros(WIDTH, dtype=np.float32)
