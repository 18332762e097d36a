"""Ordinals: "twenty second", "22nd", 第三, 三番目."""

from schemas.span import SpanKind
from services.normalization.cardinals import cardinal, place_of
from services.normalization.numbers import number
from services.normalization.scan import Match, Scan


def find_ordinal(scan: Scan, at: int) -> Match | None:
    """As in "twenty second", "22nd", 第三."""
    found = ordinal(scan, at)
    if found is None:
        return None
    value, end = found
    return Match(SpanKind.ORDINAL, value, at, end, "numbers.ordinal")


def ordinal(scan: Scan, at: int) -> tuple[int, int] | None:
    """An ordinal's value and the token behind it."""
    word = scan.words[at]
    if word.ordinal is not None:
        return word.ordinal, at + 1
    if word.ordinal_prefix:
        found = number(scan, at + 1)
        whole = found.whole if found is not None else None
        return (whole, found.end) if found is not None and whole is not None and whole > 0 else None
    if not scan.quantity(at):
        return None
    if not scan.style.language.spaced:
        return _marked_ordinal(scan, at)
    numeral = scan.tokens[at].numeral
    if numeral is not None:
        fits = scan.words[at + 1].ordinal_suffix and scan.glued(at + 1) and numeral.whole is not None
        return (numeral.whole or 0, at + 2) if fits else None
    return _spoken_ordinal(scan, at)


def _marked_ordinal(scan: Scan, at: int) -> tuple[int, int] | None:
    """As in 三番目."""
    found = number(scan, at)
    fits = found is not None and found.whole is not None and scan.words[found.end].ordinal_suffix
    return (found.whole or 0, found.end + 1) if found is not None and fits else None


def _spoken_ordinal(scan: Scan, at: int) -> tuple[int, int] | None:
    before = cardinal(scan, at)
    if before is None:
        return None
    end = before.end
    if scan.words[end].joiner and before.scaled:
        end += 1
    last = scan.words[end].ordinal
    if last is None:
        return None
    joins = before.value >= scan.style.language.joins_from and last < place_of(before.value)
    return (before.value + last, end + 1) if joins else None
