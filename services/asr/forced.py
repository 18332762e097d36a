"""How likely a decoder finds transcripts that it did not propose."""

from collections.abc import Sequence

import ctranslate2
import numpy as np

from services.asr.card import on_host
from services.asr.decoder import max_length

Candidates = Sequence[Sequence[int]]


class Forced:
    """A decoder's natural-log probability of each of some transcripts, its end among it."""

    def __init__(self, model: ctranslate2.models.Whisper, prompt: list[int], end: int, never: list[int]) -> None:
        self._model, self._prompt, self._end, self._never = model, prompt, end, never

    def told(self, candidates: Candidates, encoded: ctranslate2.StorageView) -> list[float]:
        """Of token ids, by the states (1, positions, width) of what was heard."""
        if not candidates:
            return []
        repeated = ctranslate2.StorageView.from_array(np.repeat(np.array(encoded), len(candidates), axis=0))
        followed = self._model.generate(
            repeated,
            [[*self._prompt, *candidate] for candidate in candidates],
            beam_size=1,
            max_length=max_length(max(map(len, candidates)) + 1, len(self._prompt)),
            return_logits_vocab=True,
            suppress_blank=False,
            suppress_tokens=self._never,
        )
        return [self._sum(c, f.logits[0][: len(c) + 1]) for c, f in zip(candidates, followed, strict=True)]

    def _sum(self, candidate: Sequence[int], logits: list[ctranslate2.StorageView]) -> float:
        """Of (vocabulary,) logits of each token."""
        table = np.stack([on_host(row) for row in logits])
        table -= table.max(axis=1, keepdims=True)
        chosen = table[np.arange(len(table)), [*candidate, self._end]]
        return float((chosen - np.log(np.exp(table).sum(axis=1, dtype=np.float64))).sum())
