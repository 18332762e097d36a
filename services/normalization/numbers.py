"""Numbers as people say them: cardinals with signs, decimals, fractions, pairs and digits, and percentages."""

from dataclasses import replace
from decimal import Decimal
from typing import Final

from schemas.span import Ambiguity, SpanKind
from services.normalization.cardinals import HUNDRED, MAX_VALUE, TEN, cardinal, cardinal_after_article, spoken_pair
from services.normalization.pairs import listed, neighbours, pair
from services.normalization.scan import Cardinal, Match, Number, Scan
from services.normalization.words import Word

_MAX_FRACTION: Final = 12
"""Digits considered behind a decimal point."""


_LONG_DASHES: Final = "—–―"


def number(scan: Scan, at: int) -> Number | None:
    """The number at a place, remembered, because several grammars ask."""
    if at not in scan.numbers:
        scan.numbers[at] = _bounded(_signed(scan, at)) if at < len(scan.tokens) else None
    return scan.numbers[at]


def marked(scan: Scan, at: int, suffix: str) -> tuple[int, int] | None:
    """A whole number with its mark, and where that ends: 三時, 五月."""
    found = number(scan, at)
    if found is None or found.whole is None or found.value < 0 or scan.words[found.end].suffix != suffix:
        return None
    return found.whole, found.end + 1


def _bounded(found: Number | None) -> Number | None:
    return None if found is None or abs(found.value) >= MAX_VALUE else found


def _signed(scan: Scan, at: int) -> Number | None:
    sign = scan.words[at].sign
    if sign is None:
        return _unsigned(scan, at)
    if dash(scan, at):
        return None
    found = _unsigned(scan, at + 1)
    if found is None or found.form == "digits":
        return None
    return replace(
        found, value=sign * found.value, start=at, others=tuple(sign * o for o in found.others), written=False
    )


def dash(scan: Scan, at: int) -> bool:
    """Whether a mark at a place is punctuation, no sign: "dinner - 20", 家賃-20, 10-20, --9, a-1, and any long dash."""
    token = scan.tokens[at]
    if token.text[0].isalnum():
        return False
    if scan.folded.source[scan.folded.starts[token.start]] in _LONG_DASHES or (not scan.glued(at + 1) and at > 0):
        return True
    if not scan.glued(at):
        return False
    before = scan.tokens[at - 1]
    counted = before.numeral is not None or before.word.percent is not None
    return counted or before.word.sign is not None or (before.text[-1].isalnum() and not before.word.closer)


def _unsigned(scan: Scan, at: int) -> Number | None:
    word = scan.words[at]
    if word.article or word.fraction is not None or word.pair:
        return _fraction(scan, at) or _after_article(scan, at) or _couple(scan, at)
    if word.point:
        return _decimal(scan, at, at, Decimal(0))
    if not scan.quantity(at) or (word.scale is not None and _multiplied(scan, at - 1)):
        return None
    slash, numeral = _slash(scan, at), scan.tokens[at].numeral
    if slash is not None:
        return _scaled(scan, at, slash[1], slash[0], "fraction") if _measured(scan, slash[1]) else None
    if numeral is None or numeral.whole is not None:
        return _from_cardinal(scan, at)
    plain = numeral.value is not None and not scan.labelled(at)
    return _scaled(scan, at, at + 1, numeral.value or Decimal(0), "numeral") if plain else None


def _multiplied(scan: Scan, at: int) -> bool:
    """Whether a scale is multiplied in a way that is not understood: "several hundred", "1/3 million"."""
    word = scan.words[at]
    part = word.denominator and scan.style.language.spaced  # その分千二百円 is no part of 1,200
    return word.vague or word.fraction is not None or part or word.ordinal is not None or scan.quantity(at)


def _measured(scan: Scan, at: int) -> bool:
    word = scan.words[at]
    return word.scale is not None or word.currency is not None or word.percent is not None


def _slash(scan: Scan, at: int) -> tuple[Decimal, int] | None:
    """A fraction written with a slash that comes out even: 1/2, 3/4."""
    if scan.text(at + 1) != "/" or not scan.glued(at + 1) or not scan.glued(at + 2):
        return None
    upper, lower = scan.tokens[at].numeral, scan.tokens[at + 2].numeral if at + 2 < len(scan.tokens) else None
    if upper is None or lower is None or not upper.whole or not lower.whole or lower.whole > HUNDRED:
        return None
    value = Decimal(upper.whole) / lower.whole
    return (value, at + 3) if value * lower.whole == upper.whole and value < 1 else None


def _from_cardinal(scan: Scan, at: int) -> Number | None:
    near = neighbours(scan, at) or listed(scan, at)
    if near is not None:
        return near
    found = cardinal(scan, at)
    if found is None:
        return None
    value, end = Decimal(found.value), found.end
    numeral = scan.tokens[at].numeral
    written = numeral is not None and end == at + 1
    heard = numeral.other if numeral is not None and written else None
    other = heard if heard is not None else _short(scan, at, found)
    if other is not None:
        return Number(value, at, end, "heard" if heard is not None else "cardinal", (other,), Ambiguity.GROUPING)
    base = Number(
        value, at, end, "numeral" if written else "cardinal", money=found.money, written=written,
        ambiguity=Ambiguity.GROUPING if found.broken else None,
    )  # fmt: skip
    if scan.words[end].point and not found.money:
        decimal = _decimal(scan, at, end, value)
        if decimal is not None:
            return decimal
    mixed = _half_a_scale(scan, base) or _and_a_half(scan, base)
    if mixed is not None:
        return mixed
    upper = scan.words[at - 1].of and scan.words[at - 2].denominator and _numerator(scan, at)
    return None if upper or _divided(scan, base) else _paired(scan, base, found)


def _short(scan: Scan, at: int, found: Cardinal) -> Decimal | None:
    """As in 3万2: two, or two of the next smaller scale; None where a unit behind it says that it is two."""
    last = found.end - 1
    scale = scan.words[last - 1].scale if last - 1 > at else None
    if scale is None or found.broken or scale.value < HUNDRED or not scan.style.language.positional:
        return None
    digit, after = found.value % scale.value, scan.words[found.end]
    named = after.currency is not None or after.counter or after.unit is not None or after.suffix is not None
    if not 0 < digit < TEN or named or after.ordinal_suffix or after.denominator:
        return None
    return Decimal(found.value - digit + digit * scale.value // TEN)


def _paired(scan: Scan, base: Number, found: Cardinal) -> Number:
    if not found.scaled and scan.style.language.pairs and scan.tokens[base.start].numeral is None:
        return pair(scan, base) or base
    return base


def _divided(scan: Scan, base: Number) -> bool:
    """As in "two thirds", "one half", "one third", 三分の一: no number of things."""
    after = scan.words[base.end]
    if not scan.style.language.spaced:
        return after.denominator and scan.words[base.end + 1].of and _numerator(scan, base.end + 2)
    return after.denominator or (base.value == 1 and (after.fraction is not None or (after.ordinal or 0) > 2))  # noqa: PLR2004


def _numerator(scan: Scan, at: int) -> bool:
    """Whether a bare number stands at a place, as the upper part of a fraction does."""
    found = cardinal(scan, at) if scan.quantity(at) else None
    after = scan.words[found.end] if found is not None else None
    return after is not None and after.currency is None and not after.counter and after.suffix is None


def _after_article(scan: Scan, at: int) -> Number | None:
    """As in "a hundred and twenty": the article is one, before a scale only."""
    scale = scan.words[at + 1].scale
    if scale is None or scale.glued or not scan.words[at].article:
        return None
    rest = cardinal_after_article(scan, at + 1)
    if rest is None:
        return None
    whole = Number(Decimal(rest.value), at, rest.end, "cardinal", money=rest.money)
    return _half_a_scale(scan, whole) or whole


def _half_a_scale(scan: Scan, base: Number) -> Number | None:
    """As in "a grand and a half", "a million and a half": half of what the last word counts in."""
    scale, at = scan.words[base.end - 1].scale, base.end + 1
    if scale is None or not scale.big or scale.glued or base.value != scale.value or not scan.words[base.end].joiner:
        return None
    at += scan.words[at].article
    fraction = scan.words[at].fraction
    if fraction is None or scan.words[at + 1].scale is not None:
        return None
    return replace(base, value=base.value + fraction * scale.value, end=at + 1, form="fraction")


def _couple(scan: Scan, at: int) -> Number | None:
    """As in "a couple hundred": two of a scale, or so."""
    pair = at if scan.words[at].pair else at + 1
    scale, behind = scan.words[pair + 1].scale, scan.words[pair + 2]
    if not scan.words[pair].pair or scale is None or scale.glued or scale.value < HUNDRED or _measures(behind):
        return None
    return Number(
        Decimal(2 * scale.value), at, pair + 2, "cardinal", ambiguity=Ambiguity.APPROXIMATE, money=scale.money
    )


def _measures(word: Word) -> bool:
    """Whether a number goes on: "a couple hundred thousand"."""
    return word.scale is not None or word.value is not None or word.joiner


def _fraction(scan: Scan, at: int) -> Number | None:
    """As in "half a million", "a quarter of a percent": a fraction counts only before a big scale or percent."""
    start = at
    if scan.words[at].article:
        at += 1
    fraction = scan.words[at].fraction
    at += 1
    if scan.words[at].of:
        at += 1
    if scan.words[at].article:
        at += 1
    scale = scan.words[at].scale
    if fraction is not None and scan.words[at].percent is not None:
        return Number(fraction, start, at, "fraction")
    if fraction is None or scale is None or not scale.big or scale.glued:
        return None
    return Number(fraction * scale.value, start, at + 1, "fraction", money=scale.money)


def _and_a_half(scan: Scan, base: Number) -> Number | None:
    """As in "two and a half grand", "one and three quarters", 1½."""
    at = base.end
    slash = _slash(scan, at) if base.written else None
    if slash is not None:
        return _scaled(scan, base.start, slash[1], base.value + slash[0], "fraction")
    if scan.words[at].joiner:
        at += 1
        at += scan.words[at].article or scan.words[at].value == 1
    elif not scan.glued(at):
        return None
    fraction = scan.words[at].fraction
    return None if fraction is None else _scaled(scan, base.start, at + 1, base.value + fraction, "fraction")


def _decimal(scan: Scan, start: int, point: int, whole: Decimal) -> Number | None:
    """Digits behind a spoken point: "four point eight five billion"."""
    digits: list[str] = []
    at = point + 1
    while at < len(scan.tokens) and len(digits) < _MAX_FRACTION:
        token = scan.tokens[at]
        if token.word.digit is not None:
            digits.append(token.word.digit)
        elif token.numeral is not None and token.numeral.text.isdigit():
            digits.append(token.numeral.text)
        elif not digits and (both := spoken_pair(scan, at)) is not None:
            digits.append(str(both[0]))
            at = both[1] - 1
        else:
            break
        at += 1
    if not digits:
        return None
    return _scaled(scan, start, at, whole + Decimal("0." + "".join(digits)[:_MAX_FRACTION]), "decimal")


def _scaled(scan: Scan, start: int, end: int, value: Decimal, form: str) -> Number:
    """The value times the big scale that follows, if one does."""
    money = False
    while True:
        scale = scan.words[end].scale
        if scale is None or not scale.big or (scale.glued and not scan.glued(end)) or value >= scale.most:
            break
        value, end, form, money = value * scale.value, end + 1, "scaled", money or scale.money
    return Number(value, start, end, form, money=money, written=form == "numeral")


def plain(value: Decimal) -> str:
    """A decimal as text without exponent or trailing zeros."""
    text = f"{value:f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text in {"-0", ""} else text


def find_number(scan: Scan, at: int) -> Match | None:
    """A number on its own, or a percentage."""
    found = number(scan, at)
    if found is None:
        return None
    kind, end, rule, factor = SpanKind.NUMBER, found.end, f"numbers.{found.form}", Decimal(1)
    percent = scan.words[end].percent
    if percent is not None:
        kind, end, rule, factor = SpanKind.PERCENT, end + 1, "numbers.percent", percent
    return Match(
        kind, plain(found.value * factor), at, end, rule, found.ambiguity,
        tuple((kind, plain(o * factor)) for o in found.others),
    )  # fmt: skip
