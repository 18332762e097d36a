"""Whether an utterance goes on behind its last word, as the decoder would write it: a mark that ends it, or more."""

from collections.abc import Sequence
from typing import Final

import ctranslate2
import numpy as np
from tokenizers import Tokenizer

from schemas.transcript import Onward
from services.asr.card import on_host
from services.asr.decoder import max_length

_COMMA: Final = ","
_STOPS: Final = (".", "?", "!")


class OnwardReader:
    """Reads what is expected next where a decoder writes with marks, as it was taught first."""

    def __init__(self, model: ctranslate2.models.Whisper, tokenizer: Tokenizer, prompt: list[int], end: int) -> None:
        """`prompt` asks for a transcript with marks, which ends with the token `end`."""
        self._model, self._prompt = model, prompt
        self._comma = tokenizer.token_to_id(_COMMA)
        self._ends = [end, *map(tokenizer.token_to_id, _STOPS)]

    def behind(self, words: Sequence[int], encoded: ctranslate2.StorageView) -> Onward:
        """After these tokens, by the states (1, positions, width) of what was heard."""
        result = self._model.generate(
            encoded,
            [[*self._prompt, *words]],
            beam_size=1,
            max_length=max_length(len(words) + 1, len(self._prompt)),
            return_logits_vocab=True,
            suppress_blank=False,
            suppress_tokens=[],
        )[0]
        logits = on_host(result.logits[0][len(words)]).astype(np.float64)
        odds = np.exp(logits - logits.max())
        odds /= odds.sum()
        comma = float(odds[self._comma])
        word = 1.0 - comma - float(odds[self._ends].sum())
        return Onward(*(float(np.log(max(each, np.finfo(float).tiny))) for each in (comma, word)))
