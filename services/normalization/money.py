"""Money: an amount and the word or sign that makes it one, in integer minor units."""

from decimal import Decimal
from typing import Final

from schemas.money import EXPONENTS, MAX_MINOR
from schemas.span import Ambiguity, MoneyValue, SpanKind, SpanValue
from services.normalization.amounts import Amount, amount, codes
from services.normalization.cardinals import HUNDRED, TEN
from services.normalization.digits import find_digits
from services.normalization.numbers import number
from services.normalization.pairs import LIST_MARKS
from services.normalization.scan import Match, Number, Scan
from services.normalization.words import Currency

_SHARED_SCALES: Final = (Decimal(10**9), Decimal(10**6), Decimal(10**4), Decimal(1000), Decimal(100))
"""Scales that are said once for both ends of a range, the largest first."""


_MAX_SAID: Final = 9
"""Digits said one by one that may still be an amount."""


def find_money(scan: Scan, at: int) -> Match | None:
    """The amount at a place, with its range if one is said."""
    first = amount(scan, at)
    low = None if first is not None else _bare(scan, at)
    if first is None and low is None:
        return _from_digits(scan, at)
    link = first.end if first is not None else (low.end if low is not None else at)
    if first is not None and first.currency is not None and first.currency.symbol and _tied(scan, link):
        upper = number(scan, link + 1)
        if upper is not None and scan.words[upper.end].currency is None and upper.value > first.values[0]:
            both = Amount(
                (*_lows(first.values[0], upper.value), upper.value), first.currency, upper.end, "range", Ambiguity.RANGE
            )
            return _match(scan, at, both)
    if scan.words[link].to or (scan.words[link].joiner and scan.words[at - 1].between) or scan.text(link) in LIST_MARKS:
        second = amount(scan, link + 1)
        if second is not None:
            ranged = _range(scan, at, first, low, second)
            if ranged is not None:
                return ranged
    return _from_digits(scan, at) if first is None else _match(scan, at, first)


def _from_digits(scan: Scan, at: int) -> Match | None:
    """As in "two five zero dollars": digits said one by one are an amount, but one to ask about."""
    run = find_digits(scan, at) if scan.words[at].digit is not None else _figures(scan, at)
    unit = scan.words[run.end].currency if run is not None else None
    if (
        run is None
        or unit is None
        or unit.glued
        or not isinstance(run.value, str)
        or not 0 < len(run.value) <= _MAX_SAID
    ):
        return None
    value = Decimal(run.value)
    return _match(scan, at, Amount((value, value / HUNDRED), unit, run.end + 1, "digits", Ambiguity.GROUPING))


def _figures(scan: Scan, at: int) -> Match | None:
    """The same as a recogniser may write them: "2 5 0 dollars"."""
    end = at
    while end < len(scan.tokens) and (figure := scan.tokens[end].numeral) is not None and len(figure.digits) == 1:
        end += 1
    digits = "".join(scan.tokens[k].text for k in range(at, end))
    return Match(SpanKind.DIGITS, digits, at, end, "") if len(digits) > 1 and digits.isdecimal() else None


def _tied(scan: Scan, at: int) -> bool:
    """Whether a range mark ties two written numbers: $10-20."""
    return scan.words[at].to and scan.glued(at) and scan.glued(at + 1)


def _bare(scan: Scan, at: int) -> Number | None:
    found = number(scan, at)
    return found if found is not None and not found.money else None


def _range(scan: Scan, at: int, first: Amount | None, low: Number | None, second: Amount) -> Match | None:
    """As in "fifty to sixty dollars": both ends share the currency that is said."""
    if second.currency is None or (second.currency.minor and first is not None):
        return None
    least = first.values[0] if first is not None else low.value if low is not None else None
    lows = _lows(least, second.values[0]) if least is not None else ()
    if first is not None and first.currency is not None and first.currency.codes != second.currency.codes:
        return None
    if not lows or lows[0] >= second.values[0]:
        return None
    listed = low is not None and scan.text(low.end) in LIST_MARKS
    if (first is not None and scan.text(first.end) in LIST_MARKS) or (listed and not _adjacent(lows, second)):
        return None
    both = Amount((*lows, *second.values), second.currency, second.end, "range", Ambiguity.RANGE)
    return _match(scan, at, both)


def _adjacent(lows: tuple[Decimal, ...], second: Amount) -> bool:
    """Whether a list of two is a range: 2、3万円 is, 5、3万円 is not."""
    return lows[-1] < TEN and lows[0] * (lows[-1] + 1) == second.values[0] * lows[-1]


def _lows(low: Decimal, high: Decimal) -> tuple[Decimal, ...]:
    """As in "two to three hundred": the low end may share the scale of the high one."""
    for scale in _SHARED_SCALES:
        if high >= scale and high % scale == 0:
            return (low * scale, low) if low < high / scale else (low,)
    return (low,)


def _match(scan: Scan, at: int, found: Amount) -> Match | None:
    """Minor units of every value in every currency; an amount that does not come out even is no amount."""
    if found.currency is None:
        meant: tuple[str | None, ...] = (None,)
    else:
        meant = codes(scan, found.currency)
    values: list[SpanValue] = []
    for code in meant:
        for value in found.values:
            minor = _minor(scan, value, code, found.currency)
            if minor is not None and MoneyValue(minor, code) not in values:
                values.append(MoneyValue(minor, code))
    first = _minor(scan, found.values[0], meant[0], found.currency)
    if first is None:
        return Match(SpanKind.MONEY, "", at, found.end, f"money.{found.rule}", silent=True)
    ambiguity = found.ambiguity or (Ambiguity.CURRENCY if len(meant) > 1 else None)
    return Match(
        SpanKind.MONEY, values[0], at, found.end, f"money.{found.rule}", ambiguity,
        tuple((SpanKind.MONEY, v) for v in values[1:]),
    )  # fmt: skip


def _minor(scan: Scan, value: Decimal, code: str | None, unit: Currency | None) -> int | None:
    digits = scan.style.locale.exponent if code is None else EXPONENTS[code]
    exact = value if unit is not None and unit.minor else value.scaleb(digits)
    if exact != exact.to_integral_value() or abs(exact) > MAX_MINOR:
        return None
    return int(exact)
