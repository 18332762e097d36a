"""English numbers in words."""

from decimal import Decimal

from services.speech.rules import english

TEN, _TWENTY, _HUNDRED, _THOUSAND = 10, 20, 100, 1000
_MILLENNIUM = range(2000, 2010)
MAX = 10**15
"""Numbers from here on are read digit by digit."""


def cardinal(number: int) -> str:
    """A number from 0 to below MAX: "one thousand two hundred thirty-four"."""
    rules = english()
    if number < _THOUSAND:
        return _below_thousand(number)
    parts = []
    for size, name in rules.scales:
        count, number = divmod(number, size)
        if count:
            parts.append(f"{_below_thousand(count)} {name}")
    if number:
        parts.append(_below_thousand(number))
    return " ".join(parts)


def _below_thousand(number: int) -> str:
    rules = english()
    hundreds, rest = divmod(number, _HUNDRED)
    if not hundreds:
        return _below_hundred(rest)
    said = f"{rules.ones[hundreds]} {rules.hundred}"
    return f"{said} {rules.hundred_and}{_below_hundred(rest)}" if rest else said


def _below_hundred(number: int) -> str:
    rules = english()
    if number < _TWENTY:
        return rules.ones[number]
    tens, ones = divmod(number, TEN)
    return rules.tens[tens] + (f"-{rules.ones[ones]}" if ones else "")


def ordinal(number: int) -> str:
    """A place in a row: "twenty-first"."""
    rules = english()
    head, dash, last = cardinal(number).rpartition("-")
    if not dash:
        head, dash, last = last.rpartition(" ")
    regular = last[:-1] + "ieth" if last.endswith("y") else last + "th"
    return head + dash + rules.ordinals.get(last, regular)


def year(number: int) -> str:
    """A year: "twenty twenty-six", "nineteen oh five", "two thousand six"."""
    rules = english()
    century, rest = divmod(number, _HUNDRED)
    if number in _MILLENNIUM or century < TEN or (not century % TEN and not rest):
        return cardinal(number)
    if not rest:
        return f"{_below_hundred(century)} {rules.hundred}"
    low = f"{rules.oh} {rules.ones[rest]}" if rest < TEN else _below_hundred(rest)
    return f"{_below_hundred(century)} {low}"


def decimal(number: Decimal) -> str:
    """A number that is not negative, its decimals one by one: "three point zero five"."""
    rules = english()
    whole, _, fraction = f"{number:f}".partition(".")
    said = cardinal(int(whole)) if int(whole) < MAX else digits(whole)
    return f"{said} {rules.point} {' '.join(rules.ones[int(d)] for d in fraction)}" if fraction else said


def digits(string: str) -> str:
    """Digits one by one: "one two three four". Commas between them make the last one a word of what follows."""
    return " ".join(english().ones[int(digit)] for digit in string)
