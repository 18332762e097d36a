"""The reading head that every grammar shares: tokens, the locale's style, and what the caller's situation decides."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import MAXYEAR, MINYEAR, date, datetime
from decimal import Decimal
from typing import Final

from schemas.span import Ambiguity, DateValue, SpanKind, SpanValue
from services.normalization.fold import Folded
from services.normalization.style import Style
from services.normalization.tokens import TextToken
from services.normalization.words import UNKNOWN, Word


@dataclass(frozen=True, slots=True)
class NumberAtom:
    """A value below the scales. `place` is the power of ten that a following atom must stay under."""

    value: int
    place: int
    end: int
    joins: bool  # whether a smaller atom may follow it directly (twenty one)


@dataclass(frozen=True, slots=True)
class Cardinal:
    """An integer over tokens up to `end`. `scaled` says that a scale word took part."""

    value: int
    end: int
    scaled: bool
    money: bool
    broken: bool  # a scale follows that does not fit: the run has no single sense


@dataclass(frozen=True, slots=True)
class Number:
    """A number over tokens `start:end`. `form` names how it was said; `others` are further values it may mean."""

    value: Decimal
    start: int
    end: int
    form: str
    others: tuple[Decimal, ...] = ()
    ambiguity: Ambiguity | None = None
    money: bool = False  # said in a form that only amounts take (grand)
    written: bool = False  # one written numeral and nothing else

    @property
    def whole(self) -> int | None:
        """The value as an integer, if it is one and nothing else is meant."""
        return int(self.value) if self.value == self.value.to_integral_value() else None


@dataclass(frozen=True, slots=True)
class Match:
    """What a grammar made of tokens `start:end`. `rule` is family.production. `value` None: taken, but nothing said."""

    kind: SpanKind
    value: SpanValue
    start: int
    end: int
    rule: str
    ambiguity: Ambiguity | None = None
    readings: tuple[tuple[SpanKind, SpanValue], ...] = ()
    silent: bool = False  # consumes the tokens without a span, because any value would be a guess


_BEYOND: Final = [UNKNOWN] * 32
"""Grammars look a few tokens past the end, and two before the start."""


@dataclass(slots=True)
class Scan:
    """One text being read. Grammars ask it for tokens and for the numbers at a place."""

    folded: Folded
    tokens: Sequence[TextToken]
    style: Style
    now: datetime | None
    currencies: tuple[str, ...]
    in_context: int = -1  # the token behind the last phrase that announces a digit string
    today: date | None = field(init=False)
    words: list[Word] = field(init=False)  # of each token, and a little past both ends the unknown word
    numbers: dict[int, Number | None] = field(default_factory=dict)
    atoms: dict[int, NumberAtom | None] = field(default_factory=dict)
    cardinals: dict[int, Cardinal | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        known = self.now is not None and MINYEAR < self.now.year < MAXYEAR  # at its ends a calendar has no neighbours
        self.today = self.now.date() if known and self.now is not None else None
        self.words = [token.word for token in self.tokens] + _BEYOND

    def text(self, at: int) -> str:
        """The folded text of the token at a place, or nothing."""
        return self.tokens[at].text if 0 <= at < len(self.tokens) else ""

    def glued(self, at: int) -> bool:
        """Whether the token at a place touches the one before it."""
        return 0 < at < len(self.tokens) and self.tokens[at].glued

    def quantity(self, at: int) -> bool:
        """Whether the token at a place can open a number."""
        if not 0 <= at < len(self.tokens):
            return False
        token = self.tokens[at]
        word = token.word
        return token.numeral is not None or word.value is not None or word.digit is not None or word.scale is not None

    def capital(self, at: int) -> bool:
        """Whether the token at a place starts with a capital letter in the text as given."""
        if not 0 <= at < len(self.tokens):
            return False
        return self.folded.source[self.folded.starts[self.tokens[at].start]].isupper()

    def labelled(self, at: int) -> bool:
        """Whether letters that mean nothing touch the numeral at a place: B5, 3d, SW1A."""
        before = self.glued(at) and self._letters(at - 1)
        return before or (self.glued(at + 1) and self._letters(at + 1))

    def _letters(self, at: int) -> bool:
        token = self.tokens[at]
        return token.word is UNKNOWN and token.text[0].isascii() and token.text[0].isalpha()

    def ends(self, at: int) -> bool:
        """Whether an expression may end before this place: the end, a mark, or a word that closes."""
        if at >= len(self.tokens):
            return True
        token = self.tokens[at]
        return token.word.closer or (not token.text[0].isalnum() and token.word.currency is None)


def no_such_day(start: int, end: int, whole: DateValue | None) -> Match | None:
    """The period in which a day was named that it does not have: "november thirty first"."""
    return None if whole is None else Match(SpanKind.DATE, whole, start, end, "dates.no_such_day")


def dated(start: int, end: int, rule: str, *days: date | None, ambiguity: Ambiguity | None = None) -> Match | None:
    """A match of single days, the preferred one first; None without any."""
    values = [DateValue.day(day) for day in dict.fromkeys(days) if day is not None]
    if not values:
        return None
    readings = tuple((SpanKind.DATE, value) for value in values[1:])
    return Match(SpanKind.DATE, values[0], start, end, rule, ambiguity if readings else None, readings)
