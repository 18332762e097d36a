"""Two numbers said side by side: "one fifty", "twenty or thirty" without its word, 二三千円."""

from decimal import Decimal
from typing import Final

from schemas.span import Ambiguity
from services.normalization.cardinals import HUNDRED, TEN, cardinal, spoken_pair
from services.normalization.scan import Number, Scan

LIST_MARKS: Final = frozenset({",", "、"})
_YEARS: Final = range(1100, 2100)
"""A pair in here sounds like a year."""


def pair(scan: Scan, base: Number) -> Number | None:
    """As in "one fifty", "twenty twelve": two numbers below a hundred, said side by side."""
    first, second = base.whole, cardinal(scan, base.end)
    if first is None or not 1 <= first < HUNDRED or second is None or scan.tokens[base.end].numeral is not None:
        return None
    tail, rest = (second.value, 1) if not second.scaled else _tail(scan, base.end)
    if not TEN <= tail < HUNDRED:
        return None
    if scan.quantity(second.end) and scan.words[second.end].scale is None:
        return None  # three in a row are digits, not a pair
    if tail == first + TEN and first % TEN == 0 and first >= 3 * TEN:
        others = (Decimal(tail * rest), Decimal(first * HUNDRED + tail) * rest)
        return Number(Decimal(first * rest), base.start, second.end, "neighbours", others, Ambiguity.RANGE)
    value = Decimal(first * HUNDRED + tail) * rest
    year = first * HUNDRED + tail in _YEARS and rest == 1
    return Number(
        value, base.start, second.end, "pair",
        others=((Decimal(first) + Decimal(tail) / HUNDRED) * rest,),
        ambiguity=Ambiguity.YEAR_OR_NUMBER if year else Ambiguity.HUNDREDS_OR_DECIMAL,
    )  # fmt: skip


def _tail(scan: Scan, at: int) -> tuple[int, int]:
    """The second half of a pair that a scale follows: "two fifty thousand" is fifty, times a thousand."""
    pair = spoken_pair(scan, at)
    if pair is None:
        return 0, 1
    value, end = pair
    scale = scan.words[end].scale
    single = cardinal(scan, at)
    if scale is None or not scale.big or scale.money or single is None or single.end != end + 1:
        return 0, 1
    return value, scale.value


def neighbours(scan: Scan, at: int) -> Number | None:
    """二三千円, 五六人: two digits in a row mean "two or three" of what follows."""
    if not scan.style.language.positional or not scan.glued(at + 1):
        return None
    first, second = scan.words[at].digit, scan.words[at + 1].digit
    if first is None or second is None or int(second) != int(first) + 1 or int(first) == 0:
        return None
    after = scan.words[at + 2]
    if after.scale is None and not (after.counter or after.unit):
        return None
    high = cardinal(scan, at + 1)
    if high is None:
        return None
    factor = high.value // int(second)
    low, others = Decimal(int(first) * factor), [Decimal(high.value)]
    if after.scale is None or after.scale.big:  # 四五千 is never 45 thousand
        others.append(Decimal(int(first + second) * factor))
    return Number(low, at, high.end, "neighbours", tuple(others), Ambiguity.RANGE)


def listed(scan: Scan, at: int) -> Number | None:
    """二、三万, 一万二、三千, 十二、三万: the first of two digits in a row shares the scale of the second."""
    first = cardinal(scan, at) if scan.style.language.positional else None
    if first is None or scan.text(first.end) not in LIST_MARKS:
        return None
    high, scale, digit = cardinal(scan, first.end + 1), scan.words[first.end + 2].scale, first.value % TEN
    if high is None or scale is None or not 0 < digit < TEN - 1 or high.value % (digit + 1):
        return None
    factor, base = high.value // (digit + 1), first.value - digit
    if factor % scale.value or factor % TEN:
        return None
    low = base + digit * factor if base > factor else first.value * factor
    return Number(Decimal(low), at, high.end, "neighbours", (Decimal(low + factor),), Ambiguity.RANGE)
