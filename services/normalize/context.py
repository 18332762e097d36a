"""What stands around a number: names that must stay names, and phrases that announce a digit string."""

from typing import Final

from schemas.span import SpanKind
from services.normalize.scan import Match, Scan
from services.normalize.words import UNKNOWN

_MAX_FILLERS: Final = 6


def context_after(scan: Scan, at: int) -> int:
    """Where the digit string announced at a place would start: behind "is", "ends in", commas."""
    at += 1
    for _ in range(_MAX_FILLERS):
        if not (scan.word(at).filler or scan.text(at) in {":", ",", "#"}):
            break
        at += 1
    return at


def is_name(scan: Scan, found: Match) -> bool:
    """Whether what was found is part of a name or an idiom: "Mr Twenty", 鈴木一郎."""
    if scan.style.language.title_before:
        return scan.word(found.start - 1).honorific
    if found.kind is SpanKind.MONEY or scan.tokens[found.end - 1].numeral is not None:
        return False
    return scan.word(found.end).honorific or _inside_a_word(scan, found)


def _inside_a_word(scan: Scan, found: Match) -> bool:
    """Kanji that means nothing to us directly behind, or directly before a lone numeral: 千田, 健三."""
    if found.kind not in {SpanKind.NUMBER, SpanKind.ORDINAL, SpanKind.DIGITS}:
        return False
    if scan.glued(found.end) and _unknown_ideograph(scan, found.end):
        return True
    lone = found.end - found.start == 1 and not scan.word(found.end).counter
    return lone and scan.glued(found.start) and _unknown_ideograph(scan, found.start - 1)


def _unknown_ideograph(scan: Scan, at: int) -> bool:
    return scan.word(at) is UNKNOWN and "\u3400" <= scan.text(at)[:1] <= "\u9fff"
