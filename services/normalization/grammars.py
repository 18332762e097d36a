"""Which grammars there are, and which words can open each: most words open none, and cost nothing."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from services.normalization import dates
from services.normalization.dates_checked import find_checked
from services.normalization.dates_named import find_named
from services.normalization.dates_suffixed import find_suffixed
from services.normalization.digits import find_digits
from services.normalization.money import find_money
from services.normalization.numbers import find_number
from services.normalization.ordinals import find_ordinal
from services.normalization.scan import Match, Scan
from services.normalization.style import LanguageStyle
from services.normalization.times import find_time
from services.normalization.times_counted import find_counted_time
from services.normalization.tokens import TextToken
from services.normalization.words import Word

Grammar = Callable[[Scan, int], Match | None]


@dataclass(frozen=True, slots=True)
class GrammarEntry:
    """A grammar, the words that open it, and whether a written numeral does."""

    grammar: Grammar
    opens: Callable[[Word], bool]
    numeral: bool = True
    form: str = ""  # the form of dates it reads, where not every language has it


def _counts(word: Word) -> bool:
    return word.value is not None or (word.scale is not None and word.scale.bare)


def _amounts(word: Word) -> bool:
    return (
        _counts(word) or word.article or word.fraction is not None or word.sign is not None or word.point or word.pair
    )


def _pays(word: Word) -> bool:
    return (
        _amounts(word)
        or word.digit is not None
        or (word.currency is not None and (word.currency.symbol or word.currency.alone))
    )


def _names_day(word: Word) -> bool:
    if word.boundary is not None or word.relative is not None:
        return True
    return (
        _counts(word) or word.definite or word.ordinal is not None or word.month is not None or word.weekday is not None
    )


def _marks_day(word: Word) -> bool:
    period = word.period is not None and word.suffix is None  # 月 alone follows a number or a year
    named = period or word.era is not None or word.day_of_month is not None
    return named or _counts(word) or word.digit is not None


def _measures(word: Word) -> bool:
    near = word.article or word.inside or word.rolling
    return _counts(word) or near or word.relative is not None or word.day is not None


def _bounds(word: Word) -> bool:
    return word.boundary is not None or word.period is not None or word.relative is not None or word.definite


def _weekdays(word: Word) -> bool:
    week = word.period is not None and word.period.unit == "week"
    return week or word.weekday is not None or word.relative is not None or word.definite


def _clocks(word: Word) -> bool:
    shown = word.half is not None or word.day_part is not None or word.clock is not None
    return shown or word.fraction is not None or word.article or _counts(word)


def _spells(word: Word) -> bool:
    return word.digit is not None or word.repeat is not None or _counts(word) or word.sign is not None


def _ranks(word: Word) -> bool:
    return word.ordinal is not None or word.ordinal_prefix or _counts(word)


GRAMMARS: Final[Sequence[GrammarEntry]] = (
    GrammarEntry(find_money, _pays),
    GrammarEntry(find_named, _names_day, form="named"),
    GrammarEntry(find_checked, lambda word: word.weekday is not None, numeral=False, form="named"),
    GrammarEntry(find_suffixed, _marks_day, form="suffixed"),
    GrammarEntry(dates.find_written, lambda _: False),
    GrammarEntry(dates.find_weekday, _weekdays, numeral=False),
    GrammarEntry(dates.find_counted, _measures),
    GrammarEntry(find_counted_time, lambda word: _measures(word) or word.fraction is not None),
    GrammarEntry(dates.find_day_word, lambda word: word.day is not None, numeral=False),
    GrammarEntry(dates.find_period, _bounds, numeral=False),
    GrammarEntry(find_time, _clocks),
    GrammarEntry(find_digits, _spells),
    GrammarEntry(find_ordinal, _ranks),
    GrammarEntry(find_number, _amounts),
)
"""Of readings of equal length the earlier grammar's wins."""


class Dispatch:
    """For each word the grammars it can open, worked out once."""

    def __init__(self, style: LanguageStyle) -> None:
        self._entries = [entry for entry in GRAMMARS if entry.form in {"", style.dates}]
        self._numeral = tuple(entry.grammar for entry in self._entries if entry.numeral)
        self._bracket = (find_digits,)
        self._known: dict[int, tuple[Grammar, ...]] = {}

    def __call__(self, token: TextToken) -> tuple[Grammar, ...]:
        """The grammars that may start at a token, in order."""
        if token.numeral is not None:
            return self._numeral
        if token.text == "(":
            return self._bracket
        key = id(token.word)  # words live as long as their lexicon, and hashing their fields is slow
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = tuple(e.grammar for e in self._entries if e.opens(token.word))
        return known
