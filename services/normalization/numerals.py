"""Written digits: what their form says, and their value."""

import re
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Final

_NUMERAL: Final = re.compile(r"\d{1,2}:\d{2}(?::\d{2})?(?![\d:])|\d{1,3}(?: , \d{3}| 000)+(?!\d)|\d+(?:[.,]\d+)*|\.\d+")
_GROUPED: Final = re.compile(r"(?:\d{1,3}|\d{1,2}(?:,\d{2})+)(?:,\d{3})+(?:\.\d+)?")
_EUROPEAN: Final = re.compile(r"\d{1,3}(?:\.\d{3})+,\d{2}")
_POINTED: Final = re.compile(r"[1-9]\d{0,2}\.\d\d0")
_MAX_DIGITS: Final = 24


@dataclass(frozen=True, slots=True)
class Numeral:
    """Written digits. `shape` is clock, dotted, grouped, plain or odd; `value` is None of what is no single number.

    `whole` is the value of one that is written without a fraction.
    """

    shape: str
    text: str
    value: Decimal | None
    whole: int | None
    digits: str
    other: Decimal | None = None  # a second value that the same sounds may have
    thousands: Decimal | None = None  # its value where a point groups: 1.000


@lru_cache(maxsize=4096)
def _numeral(surface: str) -> Numeral:
    text = surface.replace(" , ", ",").replace(" ", ",")
    digits = "".join(c for c in text if c.isdigit())
    shape = _shape(text)
    if shape in {"clock", "dotted", "odd"} or len(digits) > _MAX_DIGITS:
        return Numeral(shape, text, None, None, digits)
    plain = text.replace(".", "").replace(",", ".") if _EUROPEAN.fullmatch(text) else text.replace(",", "")
    value = Decimal(plain)
    thousands = Decimal(digits) if _POINTED.fullmatch(text) else None
    return Numeral(shape, text, value, int(value) if "." not in plain else None, digits, thousands=thousands)


def _shape(text: str) -> str:
    if ":" in text:
        return "clock"
    if "," in text:
        return "grouped" if _GROUPED.fullmatch(text) or _EUROPEAN.fullmatch(text) else "odd"
    return "dotted" if text.count(".") > 1 else "plain"


def _starts_decimal(text: str, at: int) -> bool:
    return text[at + 1 : at + 2].isdigit() and not (at and (text[at - 1].isalnum() or text[at - 1] == "."))


def numeral_at(text: str, at: int) -> tuple[Numeral, int] | None:
    """The numeral that starts at a place, if one does, and where it ends."""
    char = text[at]
    if not ((char.isdigit() and char.isascii()) or (char == "." and _starts_decimal(text, at))):
        return None
    found = _NUMERAL.match(text, at)
    return (_numeral(found.group()), found.end()) if found is not None else None
