"""One amount: a number and the word or sign that makes it money, with what its minor unit adds."""

from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Final

from schemas.money import EXPONENTS
from schemas.span import Ambiguity
from services.normalization.cardinals import HUNDRED, TEN
from services.normalization.numbers import dash, number
from services.normalization.pairs import LIST_MARKS
from services.normalization.scan import Number, Scan
from services.normalization.words import Currency

_CENTS: Final = 2
"""Minor digits of the currencies whose amounts are said in two parts."""


@dataclass(frozen=True, slots=True)
class Amount:
    """An amount over tokens up to `end`, still with every value it may have."""

    values: tuple[Decimal, ...]
    currency: Currency | None
    end: int
    rule: str
    ambiguity: Ambiguity | None


@dataclass(frozen=True, slots=True)
class _Fraction:
    """A fraction of a unit over tokens up to `end`; `fits` says that its name is that of the unit's own minor one."""

    value: Decimal
    end: int
    fits: bool = True


def amount(scan: Scan, at: int) -> Amount | None:
    """The amount that begins at a place, without any range."""
    if _prefixes(scan, at):
        return _prefixed(scan, at)
    if scan.words[at].sign is not None and _prefixes(scan, at + 1) and not dash(scan, at):
        return _negated(scan, at)
    found = number(scan, at)
    return _suffixed(scan, found) if found is not None else _single(scan, at) or _half_unit(scan, at)


def _negated(scan: Scan, at: int) -> Amount | None:
    """As in "-$5"."""
    signed, sign = _prefixed(scan, at + 1), scan.words[at].sign or 1
    return signed and replace(signed, values=tuple(sign * value for value in signed.values))


def _single(scan: Scan, at: int) -> Amount | None:
    """As in "a dollar"; of a note without an article too."""
    own = scan.words[at].currency
    if own is not None and own.alone:
        return _continued(scan, _sized(Number(Decimal(1), at, at, "article"), own), own, at + 1)
    unit = scan.words[at + 1].currency
    if not scan.words[at].article or unit is None or unit.glued or unit.symbol:
        return None
    return _continued(scan, _sized(Number(Decimal(1), at, at + 1, "article"), unit), unit, at + 2)


def _prefixes(scan: Scan, at: int) -> bool:
    unit = scan.words[at].currency
    return unit is not None and unit.symbol


def _prefixed(scan: Scan, at: int) -> Amount | None:
    """As in "$1,250.50", "EUR 20"."""
    unit = scan.words[at].currency
    found = _abbreviated(scan, at) or number(scan, at + 1)
    if unit is None or found is None or scan.labelled(at) or scan.words[at + 1].scale is not None:
        return None  # "the dollars thousand of times"
    after = scan.words[found.end].currency
    end = found.end
    alone = after is None or after.minor or after.glued or _opens(scan, after, end)  # "US$70 $70" are two
    if after is not None and after.codes != unit.codes and not alone:
        if not set(after.codes) & set(unit.codes):
            return None
        unit, end = after, end + 1
    return _continued(scan, found, unit, end)


def _abbreviated(scan: Scan, at: int) -> Number | None:
    """As in "Rs.500": the point is the abbreviation's."""
    numeral = scan.tokens[at + 1].numeral if at + 1 < len(scan.tokens) and scan.text(at).isalpha() else None
    if numeral is None or not numeral.text.startswith(".") or not scan.glued(at + 1):
        return None
    return Number(Decimal(numeral.digits), at + 1, at + 2, "numeral", written=True)


def _half_unit(scan: Scan, at: int) -> Amount | None:
    """As in "half a dollar"."""
    fraction = scan.words[at].fraction
    if fraction is None or not scan.words[at + 1].article:
        return None
    unit = scan.words[at + 2].currency
    if unit is None or unit.minor or unit.glued:
        return None
    return Amount((fraction,), unit, at + 3, "fraction", None)


def _suffixed(scan: Scan, found: Number) -> Amount | None:
    """As in "fifty dollars", "10k$", 五千円; or a number in a form that only amounts take ("two grand")."""
    unit = scan.words[found.end].currency
    if unit is None or (unit.glued and not _may_glue(scan, found.end)) or _opens(scan, unit, found.end):
        if not found.money:
            return None
        return Amount((found.value, *found.others), None, found.end, "colloquial", found.ambiguity)
    return _continued(scan, _sized(found, unit), unit, found.end + 1)


def _sized(found: Number, unit: Currency) -> Number:
    """As in "two tenners": a note counts for its worth."""
    if unit.size == 1:
        return found
    return replace(found, value=unit.size * found.value, others=tuple(unit.size * other for other in found.others))


def _opens(scan: Scan, unit: Currency, at: int) -> bool:
    """Whether a sign belongs to what follows: the $ of "twenty $50"."""
    return unit.symbol and scan.glued(at + 1) and scan.quantity(at + 1) and not scan.glued(at)


def _may_glue(scan: Scan, at: int) -> bool:
    """Whether a one-letter unit (p, c) is one: right behind its number and at the end of something."""
    return scan.glued(at) or scan.ends(at + 1)


def _continued(scan: Scan, found: Number, unit: Currency, end: int) -> Amount:
    """What the minor unit adds: "and five cents", "forty five"."""
    found = _grouped(scan, found, unit)
    values = (found.value, *found.others)
    whole = found.value == found.value.to_integral_value()
    if unit.minor and (apart := _of_two_units(scan, found)) is not None:
        found, values = replace(found, ambiguity=Ambiguity.GROUPING), (*values, apart)
    if unit.minor or not whole or not _splits(scan, unit):
        return Amount(values, unit, end, "minor" if unit.minor else "major", found.ambiguity)
    tail = _tail(scan, unit, end, named=len(values) > 1)
    if tail is not None:
        whole_and_part = found.value + (-tail.value if found.value < 0 else tail.value)
        if not tail.fits:  # the minor unit of another currency
            return Amount((whole_and_part, found.value), unit, tail.end, "major_minor", Ambiguity.GROUPING)
        return Amount((whole_and_part,), unit, tail.end, "major_minor", None)
    if scan.text(end) == "." and not scan.glued(end) and scan.quantity(end + 1) and found.written:
        return Amount(values, unit, end, "major", Ambiguity.GROUPING)  # "$ 59 . 2": a fraction, or the next sentence
    if found.ambiguity is None and scan.quantity(end) and not _separate(scan, end):
        return Amount((*values, *_dangling(scan, found, end)), unit, end, "major", Ambiguity.GROUPING)
    return Amount(values, unit, end, "major", found.ambiguity)


def _grouped(scan: Scan, found: Number, unit: Currency) -> Number:
    """As in "$1.000": elsewhere a point groups thousands, and no unit but one of three minor digits has such parts."""
    numeral = scan.tokens[found.start].numeral
    if not found.written or numeral is None or EXPONENTS.get(codes(scan, unit)[0], 0) > _CENTS:
        return found
    if numeral.thousands is None:
        return found
    return replace(found, others=(numeral.thousands,), ambiguity=Ambiguity.GROUPING)


def _of_two_units(scan: Scan, found: Number) -> Decimal | None:
    """As in "one thousand and fifty cents": the value in cents if the thousand are dollars."""
    part = found.value % HUNDRED
    parted = any(not scan.glued(at) for at in range(found.start + 1, found.end))
    return (found.value - part) * HUNDRED + part if parted and part and found.value > 10 * HUNDRED else None


def _dangling(scan: Scan, found: Number, at: int) -> tuple[Decimal, ...]:
    """As in "ten dollars five": the value if the loose number is its cents."""
    loose = number(scan, at)
    fits = loose is not None and loose.whole is not None and 0 < loose.whole < HUNDRED
    return (found.value + loose.value / HUNDRED,) if fits and loose is not None else ()


def _separate(scan: Scan, at: int) -> bool:
    """Whether the number at a place is plainly another one: it has a unit of its own."""
    following = number(scan, at)
    if following is None:
        return True
    after = scan.words[following.end]
    return after.currency is not None or after.percent is not None or after.unit is not None or after.counter


def _splits(scan: Scan, unit: Currency) -> bool:
    return EXPONENTS.get(codes(scan, unit)[0], 0) == _CENTS


def _tail(scan: Scan, unit: Currency, at: int, *, named: bool) -> _Fraction | None:
    """The part of a unit said behind it; `named` asks for the minor unit's own name."""
    word, listed = scan.words[at], scan.text(at) in LIST_MARKS
    joined = word.joiner or word.beside
    start = at + 1 if joined or listed else at
    if joined and scan.words[start].article:
        return _one_part(scan, unit, start + 1)
    found = number(scan, start)
    if found is None or found.whole is None or found.value < 0 or found.form == "pair":
        return None if listed else _oh_five(scan, start)
    after = scan.words[found.end].currency
    if after is not None and after.minor:
        fits = 0 < found.whole < HUNDRED
        return (
            _Fraction(found.value / HUNDRED, found.end + 1, set(after.codes) & set(unit.codes) != set())
            if fits
            else None
        )
    if named or after is not None or not TEN <= found.whole < HUNDRED or found.money or _measures(scan, found.end):
        return None
    if listed or word.beside != word.joiner:
        return None
    return _Fraction(found.value / HUNDRED, found.end) if not joined or scan.ends(found.end) else None


def _one_part(scan: Scan, unit: Currency, at: int) -> _Fraction | None:
    """As in "a dollar and a half", "two pounds and a penny"."""
    fraction, minor = scan.words[at].fraction, scan.words[at].currency
    if fraction is not None:
        return _Fraction(fraction, at + 1) if scan.ends(at + 1) else None
    fits = minor is not None and minor.minor and set(minor.codes) & set(unit.codes)
    return _Fraction(Decimal(1) / HUNDRED, at + 1) if fits else None


def _measures(scan: Scan, at: int) -> bool:
    """Whether what follows makes the number before it something else than cents."""
    word = scan.words[at]
    named = word.percent is not None or word.month is not None or word.ordinal is not None or word.unit is not None
    return named or word.half is not None or word.oclock or scan.quantity(at)


def _oh_five(scan: Scan, at: int) -> _Fraction | None:
    """As in "ten dollars oh five"."""
    first, second = scan.words[at], scan.words[at + 1]
    if first.digit != "0" or second.digit is None or scan.words[at + 2].digit is not None:
        return None
    after = scan.words[at + 2].currency
    return _Fraction(Decimal(second.digit) / HUNDRED, at + 3 if after is not None and after.minor else at + 2)


def codes(scan: Scan, unit: Currency) -> tuple[str, ...]:
    """The codes a currency word may mean for this caller, the preferred first."""
    return choose(unit.codes, scan.currencies, scan.style.currency)


def choose(codes: tuple[str, ...], held: tuple[str, ...], usual: str) -> tuple[str, ...]:
    """The codes a word may mean: those of the accounts held, or the locale's own, or else the usual one.

    >>> choose(("USD", "CAD"), ("CAD",), "GBP")
    ('CAD',)
    """
    first = tuple(dict.fromkeys(code for code in (usual, *codes) if code in codes))
    return tuple(code for code in first if code in held) or first[:1]
