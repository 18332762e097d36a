"""What a word can mean: the token classes that every language's data maps its words to."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from decimal import Decimal
from typing import Final


@dataclass(frozen=True, slots=True)
class Scale:
    """A word that multiplies what stands before it: hundred, thousand, 千, 万, k."""

    value: int
    most: int  # the largest multiplier it takes
    big: bool  # closes everything before it (thousand, 万), rather than its own place (hundred, 百)
    bare: bool = False  # may stand without a multiplier (千 is 1000)
    money: bool = False  # is said of amounts alone (grand)
    glued: bool = False  # counts only when written against its numeral (5k)


@dataclass(frozen=True, slots=True)
class Currency:
    """A currency word. `codes` are the ISO 4217 codes that share it, the usual one first."""

    codes: tuple[str, ...]
    size: int = 1  # how many units it names: a fiver is 5
    minor: bool = False  # names the minor unit (cents)
    symbol: bool = False  # may stand before its number ($5)
    glued: bool = False  # counts only right after a number (p, c)
    alone: bool = False  # counts without a number, for one ("tenner to ann")


@dataclass(frozen=True, slots=True)
class Period:
    """A stretch of the calendar `offset` units from the current one: next month is ("month", 1)."""

    unit: str
    offset: int


@dataclass(frozen=True, slots=True)
class DayPart:
    """A part of the day as a window. `half` says what it makes of a clock's hour: am, pm or night."""

    start: str
    end: str
    half: str


@dataclass(frozen=True, slots=True)
class Word:
    """Everything one surface can mean; None and False are what it does not mean."""

    value: int | None = None  # a cardinal: seven, forty
    digit: str | None = None  # a spoken digit: seven, oh
    scale: Scale | None = None
    repeat: int | None = None  # double, triple
    ordinal: int | None = None
    ordinal_suffix: bool = False  # the th of 15th
    ordinal_prefix: bool = False  # 第
    fraction: Decimal | None = None  # half, quarter
    denominator: bool = False  # thirds: what is before it is no number of things
    half_after: bool = False  # 半 behind a unit
    article: bool = False  # a, an
    definite: bool = False  # the
    joiner: bool = False  # and, とんで
    beside: bool = False  # and, と: the minor unit may follow
    point: bool = False
    sign: int | None = None
    approximate: bool = False  # about
    approximate_after: bool = False  # or so, くらい
    vague: bool = False  # several, 数
    pair: bool = False  # couple: two of a scale, and vague before all else
    between: bool = False  # opens a range
    to: bool = False  # joins a range
    currency: Currency | None = None
    percent: Decimal | None = None  # what one unit is in percent: % is 1, 割 is 10
    month: int | None = None
    weekday: int | None = None  # Monday is 0
    day: int | None = None  # days from today: tomorrow is 1
    day_of_month: int | None = None  # a day with a name of its own: ついたち
    period: Period | None = None
    boundary: str | None = None  # start or end of a period
    unit: str | None = None  # a unit of time that is counted: day, week, month, year, hour, minute, second
    suffix: str | None = None  # a mark behind a calendar or clock number: 年, 月, 日, 時, 分
    relative: int | None = None  # this 0, next 1, last -1
    direction: int | None = None  # ago -1, later 1
    origin: bool = False  # from in "two days from tomorrow"
    inside: bool = False  # in of "in a week"
    limits: bool = False  # within: any day until then
    of: bool = False  # of, の: links parts of a date
    recurring: bool = False  # every: more than one day follows
    on: bool = False  # on, by, until: a day follows
    at: bool = False  # at: a time follows
    era: int | None = None  # the year before an era's first: 令和 is 2018
    first_year: bool = False  # 元 of 元年
    half: str | None = None  # am, pm
    day_part: DayPart | None = None
    clock: str | None = None  # noon, midnight
    oclock: bool = False
    past: int | None = None  # past 1, to -1
    counter: bool = False  # counts things: 個, 人
    person: bool = False  # counts people, so that an honorific may follow: 三名様
    context: bool = False  # a digit string follows: account number
    filler: bool = False  # is, をお願い: between context and digits
    closer: bool = False  # ends an amount: please, to, from
    subject: bool = False  # I, you: a verb follows, not a month
    ordering: bool = False  # send, please: "on the third" before it is a day
    doubtful: bool = False  # a month's name that is a verb or a person too: may, april
    during: bool = False  # in, since: a month may follow alone
    rolling: bool = False  # last in "the last month": a stretch until today
    ahead: bool = False  # next, coming in "in the next month": a stretch from today on
    lasting: bool = False  # over: what follows lasts
    tail: bool = False  # last: opens "last four"
    honorific: bool = False  # marks a name: さん, Mr
    name_link: bool = False  # ノ of 一ノ瀬
    protected: bool = False  # a name or an idiom that only looks numeric


UNKNOWN: Final = Word()
_DEFAULTS: Final = {f.name: f.default for f in fields(Word)}


def merge(first: Word, second: Word) -> Word:
    """Both words' meanings in one. Raises ValueError where they disagree."""
    both: dict[str, object] = {}
    for name, default in _DEFAULTS.items():
        a, b = getattr(first, name), getattr(second, name)
        if a != default and b not in (default, a):
            raise ValueError(f"two meanings of {name}: {a!r} and {b!r}")
        both[name] = b if a == default else a
    return make(both)


def make(meanings: Mapping[str, object]) -> Word:
    """A word of the named meanings. Raises ValueError for a name that is none."""
    unknown = meanings.keys() - _DEFAULTS.keys()
    if unknown:
        raise ValueError(f"no such meaning: {sorted(unknown)}")
    return Word(**meanings)  # type: ignore[arg-type]  # the names were checked; pydantic checked the types
