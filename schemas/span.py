"""Spans: what normalization found in a transcript, where, and by which rule."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from typing import Final, Literal, Protocol, Self

from pydantic import BaseModel, JsonValue

from schemas.ids import RuleId
from schemas.money import MAX_MINOR, exponent


class SpanKind(StrEnum):
    """The type of a normalised expression."""

    MONEY = "money"
    NUMBER = "number"
    ORDINAL = "ordinal"
    DIGITS = "digits"
    DATE = "date"
    TIME = "time"
    PERCENT = "percent"


DATED = frozenset({SpanKind.DATE, SpanKind.TIME})
SUMS = frozenset({SpanKind.MONEY, SpanKind.NUMBER})
"""What may be an amount."""
NUMBERS = SUMS | {SpanKind.DIGITS, SpanKind.PERCENT}

_EITHER: Final = 2
_HUNDREDFOLD: Final = 100
_ALIKE: Final = 5


class Ambiguity(StrEnum):
    """Why a span has more than one reading. The dialogue asks, or reads back the absolute value."""

    HUNDREDS_OR_DECIMAL = "hundreds_or_decimal"  # "one fifty": 150 or 1.50
    YEAR_OR_NUMBER = "year_or_number"  # "twenty twelve"
    DAY_OR_MONTH = "day_or_month"  # 03/04
    WHICH_WEEK = "which_week"  # "next Friday"
    PAST_OR_FUTURE = "past_or_future"  # "the fifteenth": the coming one, or the last one
    HALF_OF_DAY = "half_of_day"  # "at nine"
    RANGE = "range"  # "fifty to sixty dollars"
    APPROXIMATE = "approximate"  # "about fifty"
    RECURRING = "recurring"  # "every Friday": the value is the first time, and more are meant
    CURRENCY = "currency"  # a word that several currencies share
    GROUPING = "grouping"  # digits that group in two ways
    HEARD_TWO_WAYS = "heard_two_ways"  # "two thousand" or "three thousand": the recogniser can't tell


@dataclass(frozen=True, slots=True)
class MoneyValue:
    """An amount as said. `currency` is null when none was named; the minor unit is then the locale's own."""

    amount_minor: int
    currency: str | None

    def within(self, currency: str, digits: int) -> "MoneyValue | None":
        """The amount in `currency` where it names none, said with `digits` minor ones; None where that is not even.

        Whatever compares or adds up amounts takes them by this first: 50 is 5000 cents, and 50 yen.
        """
        if self.currency is not None:
            return self
        more = exponent(currency) - digits
        minor, left = divmod(self.amount_minor * 10 ** max(more, 0), 10 ** max(-more, 0))
        return None if left else MoneyValue(minor, currency)

    def agrees_with(self, other: "MoneyValue", digits: int) -> bool:
        """Whether both may be the same amount: as much, in one currency or in one that only one of them names."""
        named = self.currency or other.currency
        one, two = (self, other) if named is None else (self.within(named, digits), other.within(named, digits))
        return one is not None and one == two


@dataclass(frozen=True, slots=True)
class DateValue:
    """A day, or an inclusive range of days when `end` differs from `start`."""

    start: date
    end: date

    @classmethod
    def day(cls, day: date) -> "DateValue":
        """A single day."""
        return cls(day, day)


@dataclass(frozen=True, slots=True)
class TimeValue:
    """A time of day `HH:MM`, or a window when `end` differs from `start`."""

    start: str
    end: str

    @classmethod
    def at(cls, time: str) -> "TimeValue":
        """A single time."""
        return cls(time, time)


SpanValue = MoneyValue | DateValue | TimeValue | int | str
"""money → MoneyValue · date → DateValue · time → TimeValue · ordinal → int ·
number, percent → decimal string · digits → digit string, with capitals where a postcode has letters."""


def jsonable(value: SpanValue) -> JsonValue:
    """A value as the text contract writes it.

    Money is {"amount_minor", "currency"}, a date or time a string or {"start", "end"}, the others are as they are.
    """
    match value:
        case MoneyValue():
            return {"amount_minor": value.amount_minor, "currency": value.currency}
        case DateValue():
            start, end = value.start.isoformat(), value.end.isoformat()
            return start if start == end else {"start": start, "end": end}
        case TimeValue():
            return value.start if value.start == value.end else {"start": value.start, "end": value.end}
        case _:
            return value


@dataclass(frozen=True, slots=True)
class SpanReading:
    """One reading of a span that was not, or not alone, chosen."""

    kind: SpanKind
    value: SpanValue
    rule: RuleId


@dataclass(frozen=True, slots=True)
class Span:
    """A normalised expression.

    `start`/`end` are code points of the transcript as given, so `text[start:end] == surface`.
    `readings` holds the further values when `ambiguity` is set; `rejected` what other rules would have made of it.
    """

    kind: SpanKind
    surface: str
    start: int
    end: int
    value: SpanValue
    rule: RuleId
    ambiguity: Ambiguity | None = None
    readings: tuple[SpanReading, ...] = ()
    rejected: tuple[SpanReading, ...] = ()

    @property
    def values(self) -> tuple[SpanValue, ...]:
        """Every value the words may mean, the preferred one first."""
        return (self.value, *(r.value for r in self.readings))


class SpanJson(BaseModel):
    """A span as JSON. The text contract, the wire and the records of replays each write these fields, and some more."""

    kind: Literal["money", "number", "ordinal", "digits", "date", "time", "percent"]
    surface: str
    start: int
    end: int
    value: JsonValue
    rule: str
    ambiguity: str | None = None

    @classmethod
    def of(cls, span: Span, **more: object) -> Self:
        """`span`, with values for the fields that a subclass adds."""
        fields = {
            "kind": span.kind.value,
            "surface": span.surface,
            "start": span.start,
            "end": span.end,
            "value": jsonable(span.value),
            "rule": span.rule,
            "ambiguity": span.ambiguity.value if span.ambiguity else None,
        }
        return cls.model_validate(fields | more)


def amount_spans(spans: tuple[Span, ...]) -> tuple[Span, ...]:
    """The spans that amounts are: money, or bare numbers only where no money was said."""
    money = tuple(span for span in spans if span.kind is SpanKind.MONEY)
    return money or tuple(span for span in spans if span.kind is SpanKind.NUMBER)


class Placed(Protocol):
    """What stands in a text, from one code point to another."""

    @property
    def start(self) -> int:
        """The first."""

    @property
    def end(self) -> int:
        """The one behind the last."""


def overlap(one: Placed, two: Placed) -> bool:
    """Whether two things stand on some of the same words."""
    return one.start < two.end and two.start < one.end


def amount_readings(span: Span, digits: int) -> tuple[MoneyValue, ...]:
    """Every amount above zero that a span may stand for; of a bare number in a currency with `digits` minor digits."""
    readings = (
        _as_amount(span.kind, span.value, digits),
        *(_as_amount(r.kind, r.value, digits) for r in span.readings),
    )
    return tuple(dict.fromkeys(amount for amount in readings if amount is not None and amount.amount_minor > 0))


def of_their_size(readings: Sequence[MoneyValue], known: Iterable[MoneyValue]) -> tuple[MoneyValue, ...]:
    """Of "one eighty", 180 or 1.80, the reading that is of the size of an amount beside it; both, where neither is.

    The size of another is up to a factor of five. Readings that differ otherwise stay: "thirty" for 120 may be 130.
    """
    small, large = min(readings, key=_minor, default=None), max(readings, key=_minor, default=None)
    if small is None or large is None or len(readings) != _EITHER:
        return tuple(readings)
    whole = small.amount_minor % _HUNDREDFOLD == 0  # "two" may be two hundred, of what went before
    if whole or large.amount_minor != small.amount_minor * _HUNDREDFOLD:
        return tuple(readings)
    sizes = [each.amount_minor for each in known]
    near = [one for one in (large, small) if any(_alike(one.amount_minor, size) for size in sizes)]
    return (near[0],) if len(near) == 1 else tuple(readings)


def _alike(one: int, two: int) -> bool:
    return one <= two * _ALIKE and two <= one * _ALIKE


def _minor(value: MoneyValue) -> int:
    return value.amount_minor


def _as_amount(kind: SpanKind, value: SpanValue, digits: int) -> MoneyValue | None:
    if isinstance(value, MoneyValue):
        return value
    if kind is not SpanKind.NUMBER or not isinstance(value, str):
        return None
    try:
        minor = Decimal(value).scaleb(digits)
    except InvalidOperation:
        return None
    if not minor.is_finite() or minor != minor.to_integral_value() or abs(minor) > MAX_MINOR:
        return None
    return MoneyValue(int(minor), None)
