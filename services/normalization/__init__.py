"""Normalization: typed amounts, numbers, digits, dates and times out of a transcript, with the rule that found each.

Pure and deterministic: the same text, moment and currencies give the same spans.
"""

from datetime import datetime
from functools import lru_cache

from schemas.ids import Locale
from schemas.span import Span
from services.normalization.engine import NormalizationEngine
from services.normalization.trace import Note

__all__ = ["Normalizer", "Note"]


class Normalizer:
    """Finds typed expressions in the words of one locale."""

    __slots__ = ("_engine",)

    def __init__(self, locale: Locale) -> None:
        self._engine = NormalizationEngine(locale)

    @classmethod
    def for_locale(cls, locale: str) -> "Normalizer":
        """The locale's normalizer, made once a process. Raises UnsupportedLocale, RulesInvalid."""
        return _cached(Locale(locale))

    def normalize(
        self, text: str, *, now: datetime | None = None, currencies: tuple[str, ...] = (), digits: bool = False
    ) -> tuple[Span, ...]:
        """Spans of `text`, left to right, without overlap; offsets are code points of `text` itself.

        `now` is the caller's local moment: without it nothing relative is resolved. `currencies` (ISO 4217) are
        those of the caller's accounts; they decide what "dollars" or ¥ mean. `digits` says that a code was asked for,
        so that the first figures are a string however they are grouped. Never raises on any text.
        """
        return self._engine.normalize(text, now, currencies, digits=digits)

    @property
    def words(self) -> tuple[tuple[str, str], ...]:
        """Every word that has a value, as `(meaning, word)`: value, scale, currency, day …"""
        return self._engine.words

    def notes(self, text: str) -> tuple[Note, ...]:
        """How `text` is cut into tokens, and what each can mean: for people who ask why."""
        return self._engine.notes(text)


@lru_cache(maxsize=16)
def _cached(locale: Locale) -> Normalizer:
    return Normalizer(locale)
