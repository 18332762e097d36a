"""Years as languages that name their months say and write them."""

from typing import Final

from services.normalization import calendar
from services.normalization.cardinals import HUNDRED, spoken_pair
from services.normalization.numbers import number
from services.normalization.scan import Scan

_YEARS: Final = range(1800, 2200)
_SPOKEN_YEARS: Final = range(32, 100)
"""Two digits said behind a day that can only be a year."""


def over_comma(scan: Scan, at: int) -> int:
    """Past the comma or the "of" that may stand before a year."""
    return at + 1 if scan.text(at) == "," or scan.words[at].of else at


def measured(scan: Scan, at: int) -> bool:
    """Whether what follows makes a number something else than a day or a year."""
    word = scan.words[at]
    counted = word.currency is not None or word.percent is not None or word.scale is not None or word.unit is not None
    return counted or word.point or (scan.text(at) in {":", "/", "%"} and scan.glued(at))


def year_at(scan: Scan, at: int) -> tuple[int, int] | None:
    """A year: four digits, "two thousand eight", "twenty twelve", "nineteen oh five", or two digits behind a day."""
    if not scan.quantity(at):
        return None
    numeral = scan.tokens[at].numeral
    if numeral is not None:
        return _written_year(scan, at, numeral.text)
    return _year_with_oh(scan, at) or _spoken_year(scan, at)


def _written_year(scan: Scan, at: int, text: str) -> tuple[int, int] | None:
    if not text.isdigit() or measured(scan, at + 1):
        return None
    if len(text) == len("05") and scan.today is not None and scan.ends(at + 1) and scan.words[at - 1].month is not None:
        return calendar.full_year(int(text), scan.today), at + 1
    return (int(text), at + 1) if int(text[:6]) in _YEARS else None


def _year_with_oh(scan: Scan, at: int) -> tuple[int, int] | None:
    """As in "nineteen oh five"."""
    century, unit = spoken_pair(scan, at), scan.words[at + 2].digit
    if century is None or century[1] != at + 1 or scan.words[at + 1].digit != "0" or unit is None:
        return None
    return century[0] * HUNDRED + int(unit), at + 3


def _spoken_year(scan: Scan, at: int) -> tuple[int, int] | None:
    found = number(scan, at)
    if found is None or found.whole is None or measured(scan, found.end):
        return None
    if found.whole in _YEARS:
        return found.whole, found.end
    alone = scan.text(at - 1) != ","  # "the second, fifty to ann"
    if alone and found.whole in _SPOKEN_YEARS and scan.ends(found.end) and scan.today is not None:
        return calendar.full_year(found.whole, scan.today), found.end
    return None
