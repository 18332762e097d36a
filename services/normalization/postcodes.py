"""Postcodes with letters, where one was announced: "sw1a 1aa", "s w one a one a a"."""

import re
from functools import lru_cache
from typing import Final

from schemas.span import SpanKind
from services.normalization.scan import Match, Scan

_MOST: Final = 8
"""Characters of the longest postcode."""


def find_postcode(scan: Scan, at: int) -> Match | None:
    """The longest run of letters and digits from a place that looks like a postcode of the locale."""
    shape = scan.style.locale.postcode
    if not shape:
        return None
    text, end = "", at
    best: Match | None = None
    while end < len(scan.tokens) and (piece := _piece(scan, end)) and len(text + piece) <= _MOST:
        text, end = text + piece, end + 1
        if _compiled(shape).fullmatch(text):
            best = Match(SpanKind.DIGITS, text.upper(), at, end, "digits.postcode")
    return best


def _piece(scan: Scan, at: int) -> str:
    """What a token adds: letters as they are, a digit said or written."""
    token = scan.tokens[at]
    if token.word.digit is not None and len(token.text) > 1:
        return token.word.digit
    return token.text if token.text.isascii() and token.text.isalnum() else ""


@lru_cache(maxsize=8)
def _compiled(shape: str) -> re.Pattern[str]:
    return re.compile(shape)
