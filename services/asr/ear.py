"""What a CTC head beside the decoder hears of a language, and what it and a language model say of other transcripts."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from services.asr.ctc import CtcHead, Floats
from services.asr.ngrams import Ngrams
from services.asr.search import PrefixSearch

HEAD: Final = "ctc.npz"
PIECES: Final = "tokenizer.json"
LANGUAGE: Final = "language.npz.xz"
"""Files of a language's folder; the language model may be missing."""

Scores = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Judged:
    """Of some transcripts, each an array of natural-log probabilities in their order."""

    heard: Scores
    """By the head."""
    likely: Scores
    """By the language model; zeros without one."""
    lengths: Scores
    """Pieces of each."""
    silence: float
    """Of nothing said, by the head."""


class Ear:
    """One language's head with its pieces. Raises OSError, KeyError, ValueError or LZMAError for a torn folder."""

    def __init__(self, folder: Path) -> None:
        self.head = CtcHead(folder / HEAD)
        self._pieces = Tokenizer.from_file(str(folder / PIECES))
        self._never = [i for name, i in self._pieces.get_vocab().items() if name.startswith("<|")]
        path = folder / LANGUAGE
        self._ngrams = Ngrams(path, self._pieces.get_vocab_size()) if path.exists() else None
        self._search = PrefixSearch(self._ngrams, self.head.blank, self._never) if self._ngrams else None

    def transcripts(self, log_probs: Floats, most: int) -> list[str]:
        """At most so many that are heard, the likeliest first; with a language model it has its say."""
        if self._search is not None:
            found = self._search.best(log_probs)
        else:
            found = [[i for i in self.head.greedy(log_probs) if i not in self._never]]
        return [text for ids in found[:most] if (text := self.text(ids))]

    def text(self, ids: list[int]) -> str:
        """What pieces spell."""
        return str(self._pieces.decode(ids)).strip()

    def ids(self, text: str) -> list[int]:
        """The pieces of a transcript; what they can't spell is left out."""
        return list(self._pieces.encode(text, add_special_tokens=False).ids)

    def spells(self, text: str) -> bool:
        """Whether the pieces have all of a transcript."""
        return self.text(self.ids(text)) == text

    def judge(self, log_probs: Floats, texts: list[str]) -> Judged:
        """What head and language model say of transcripts."""
        ids = [self.ids(text) for text in texts]
        *heard, silence = self.head.score(log_probs, [*ids, []])
        likely = np.zeros(len(ids)) if self._ngrams is None else self._ngrams.score(ids)
        return Judged(np.array(heard, dtype=np.float64), likely, np.array([len(i) for i in ids]), float(silence))
