"""Search over the passages: BM25, with language, product and day as filters before the ranking."""

import logging
import math
from collections import Counter
from collections.abc import Collection, Container, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final

import bm25s
import numpy as np
from numpy.typing import NDArray

from schemas.answer import Question
from schemas.ids import Locale, language
from services.answering.knowledge import Passage
from services.answering.words import Words, words_of

logging.getLogger("bm25s").setLevel(logging.NOTSET)  # it asks for DEBUG, whatever the service was told to log

K1: Final = 1.2
B: Final = 0.5
MAX_QUESTION_TERMS: Final = 64
ABOUT: Final = 2
"""How often each word of a clause's subject counts: it names what the clause answers, the text only says it."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage with its BM25 score, > 0."""

    passage: Passage
    score: float


@dataclass(frozen=True, slots=True)
class RetrievalResult:
    """A search's result, best first. `coverage` is the share, weighted by rarity, of the question's terms in the best.

    `margin` is how far the best is ahead of the second; both 0 … 1.
    """

    hits: tuple[Hit, ...] = ()
    coverage: float = 0.0
    margin: float = 0.0
    personal: bool = False

    @property
    def score(self) -> float:
        """The best hit's score; 0 of nothing."""
        return self.hits[0].score if self.hits else 0.0


class _Index:
    """The passages of one language. Immutable once built; safe to share."""

    def __init__(self, passages: Sequence[Passage], words: Words) -> None:
        self.passages = tuple(passages)
        self.words = words
        cut = [words.terms(p.text) + words.terms(p.title) + words.terms(p.about) * ABOUT for p in passages]
        self.term_sets = [frozenset(terms) for terms in cut]
        self._bm25 = bm25s.BM25(k1=K1, b=B, method="lucene", backend="numpy")
        self._bm25.index(cut, show_progress=False, create_empty_token=False)
        self._vocabulary: dict[str, int] = self._bm25.vocab_dict
        counts = Counter(term for terms in self.term_sets for term in terms)
        self._idf = {t: math.log(1 + (len(cut) - n + 0.5) / (n + 0.5)) for t, n in counts.items()}
        self._unknown_idf = math.log(1 + (len(cut) + 0.5) / 0.5)
        self._from = np.array([p.effective_from.toordinal() for p in passages])
        self._to = np.array([p.effective_to.toordinal() for p in passages])
        self._products = np.array([p.product for p in passages])

    def asked(self, text: str) -> list[str]:
        """The terms of a question, each once."""
        return list(dict.fromkeys(self.words.terms(text)[:MAX_QUESTION_TERMS]))

    def search(
        self, terms: Sequence[str], on: date, product: str, k: int, needed: Collection[str] = ()
    ) -> list[tuple[int, float]]:
        """Places and scores of the `k` best that hold all the terms that are `needed`, best first."""
        ids = [self._vocabulary[term] for term in terms if term in self._vocabulary]
        if not ids:
            return []
        scores: NDArray[np.float32] = self._bm25.get_scores_from_ids(ids) * self._allowed(on, product)
        if needed:
            scores *= np.fromiter((held.issuperset(needed) for held in self.term_sets), np.bool_, len(scores))
        count = min(k, len(scores))
        best = np.argpartition(-scores, count - 1)[:count]
        ordered = sorted(best.tolist(), key=lambda i: (-float(scores[i]), i))
        return [(i, float(scores[i])) for i in ordered if scores[i] > 0]

    def coverage(self, terms: Sequence[str], place: int) -> float:
        """The share of `terms`, weighted by rarity, that the passage at `place` holds."""
        weights = {term: self._idf.get(term, self._unknown_idf) for term in terms}
        total = sum(weights.values())
        held = self.term_sets[place]
        return sum(weight for term, weight in weights.items() if term in held) / total if total else 0.0

    def _allowed(self, on: date, product: str) -> NDArray[np.bool_]:
        day = on.toordinal()
        allowed: NDArray[np.bool_] = (self._from <= day) & (day <= self._to)
        return allowed & (self._products == product) if product else allowed


class Retriever:
    """Every language's index. Built once at start; `search` takes tens of microseconds and never blocks."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        languages = sorted({p.language for p in passages})
        self._indexes = {
            name: _Index([p for p in passages if p.language == name], words_of(name)) for name in languages
        }

    def reads(self, locale: Locale) -> bool:
        """Whether there is any document in the locale's language."""
        return language(locale) in self._indexes

    def search(self, question: Question, on: date, k: int = 4, without: Container[str] = ()) -> RetrievalResult:
        """The `k` best passages in force on a day, in the question's language (and product, if it names one).

        Passages with an id in `without` are looked past, and those that lack a subject of the question. Of those that
        hold all that is asked the best are what the question before was about, where it tells one.
        """
        index = self._indexes.get(language(question.locale))
        if index is None:
            return RetrievalResult()
        asked = index.asked(question.text)
        asked = terms = asked if question.about else index.words.meant(asked)
        if asked and question.about:
            over = index.words.replaced(asked)
            terms = [*asked, *(term for term in index.asked(question.about) if term not in {*asked, *over})]
        needed = asked if question.about else index.words.subjects.intersection(asked)
        best = [
            (place, score)
            for place, score in index.search(terms, on, question.product, k, needed)
            if index.passages[place].id not in without
        ]
        personal = any(map(index.words.personal, (question.text, question.about)))
        if not best:
            return RetrievalResult(personal=personal)
        first, second, *_ = (*(score for _, score in best), 0.0)
        return RetrievalResult(
            hits=tuple(Hit(index.passages[place], score) for place, score in best),
            coverage=index.coverage(terms, best[0][0]),
            margin=(first - second) / first,
            personal=personal,
        )
