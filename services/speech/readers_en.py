"""What English replies write that is read by rule, in order of precedence."""

import re
from collections.abc import Callable, Sequence
from datetime import date
from decimal import Decimal
from typing import Final

from schemas.ids import Locale
from schemas.money import EXPONENTS
from services.speech import numbers_en as n
from services.speech.reading import FIGURES, LONG, NOON, Reader, grouped
from services.speech.rules import english

_SIGN: Final = r"(?P<sign>(?<![\w.])[-−–])?"
_CUE_REACH: Final = 24
_CENTS: Final = 2
_CARD: Final = 4
_YEARS: Final = range(1900, 2100)


def english_readers(locale: Locale) -> Sequence[Reader]:
    """The forms of an English locale."""
    rules = english()
    months = "|".join([*rules.months, *(rf"{short}\b\.?" for short in rules.month_short)])
    codes = "|".join(EXPONENTS)
    symbols = "|".join(re.escape(symbol) for symbol in sorted(rules.symbols, key=len, reverse=True))
    scales = "|".join(name for _, name in rules.scales)
    names = [names for code, names in rules.currencies.items() if EXPONENTS[code] == _CENTS]
    units, subunits = ("|".join(word for pair in names for word in pair[at : at + 2]) for at in (0, 2))
    day, year = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?", r"(?:,?\s(?P<year>\d{4}))?"
    forms: list[tuple[str, Callable[[re.Match[str]], str | None]]] = [
        (r"(?<![\d-])(?P<year>\d{4})-(?P<month>\d{2})-(?P<day>\d{2})(?![\d-])", lambda m: _date(m, locale)),
        (rf"\b(?P<month>{months})\s{day}\b(?!:){year}\b", lambda m: _date(m, locale)),
        (rf"(?<![\d,.:])(?:the\s)?\b{day}\s(?:of\s)?(?P<month>{months}){year}\b", lambda m: _date(m, locale)),
        (r"(?<![\d/])(\d{1,2})/(\d{1,2})/(\d{4})(?![\d/])", lambda m: _figures(m, locale)),
        (r"(?<![\d/])\d+(?:/\d+)+(?![\d/])", _slashed),
        (r"(?<![\d:])(?P<hour>\d{1,2}):(?P<minute>\d{2})(?:\s?(?P<half>[aApP])\.?[mM]\b\.?)?(?![\d:])", _time),
        (r"(?<![\d:.,])(?P<hour>\d{1,2})\s?(?P<half>[aApP])\.?[mM]\b\.?", _time),
        (rf"{_SIGN}(?P<symbol>{symbols})\s?(?P<number>{FIGURES})(?:\s(?P<scale>{scales})\b)?", _money),
        (rf"{_SIGN}(?P<number>{FIGURES})\s?(?P<symbol>{codes})\b", _money),
        (rf"\b(?P<symbol>{codes})\s?(?P<number>{FIGURES})", _money),
        (rf"{_SIGN}(?P<number>{FIGURES})\s?%", _percent),
        (r"(?<![\d,.])(?P<number>\d{1,3}(?:,\d{3})*)(?:st|nd|rd|th)\b", lambda m: n.ordinal(_int(m["number"]))),
        (r"[*•xX]{2,}[\s-]?(?P<digits>\d{2,6})\b", lambda m: f"{rules.ending} {n.digits(m['digits'])}"),
        (r"\+?\(?\d{1,4}\)?(?:[\s.-]\(?\d{2,4}\)?){2,}(?!\d)", _groups),
        (r"(?<![\d.,-])\d+(?:-\d+)+(?![\d-])", _groups),
        (r"(?<![\d.,])\d(?:\s\d)+(?![\d.,]\d)(?!\d)", _one_by_one),
        (rf"{_SIGN}(?P<number>{FIGURES}) (?P<unit>{units}) and (?P<minor>\d{{1,2}}) (?P<subunit>{subunits})\b", _spelt),
        (rf"{_SIGN}(?P<number>{FIGURES})", _plain),
        (r"\b(?:" + "|".join(rf"{re.escape(k)}" for k in rules.weekday_short) + r")\b\.?(?=,?\s)", _weekday),
        (_abbreviations(), lambda m: rules.abbreviations[m[0]]),
    ]
    return [(re.compile(pattern), read) for pattern, read in forms]


def _abbreviations() -> str:
    """Any of the table's, longest first, as a word of its own where it is made of letters."""
    edges = []
    for written in sorted(english().abbreviations, key=len, reverse=True):
        left = r"(?<![\w&])" if written[0].isalpha() or written == "&" else ""
        right = r"(?![\w&])" if written[-1].isalpha() or written == "&" else ""
        edges.append(left + re.escape(written) + right)
    return "|".join(edges)


def _int(number: str) -> int:
    return int(number.replace(",", ""))


def _date(found: re.Match[str], locale: Locale) -> str | None:
    rules = english()
    named = found["month"].rstrip(".")
    month = int(named) if named.isdigit() else rules.month_short.get(named) or rules.months.index(named) + 1
    return _day(int(found["day"]), month, int(found["year"]) if found["year"] else None, locale)


def _figures(found: re.Match[str], locale: Locale) -> str | None:
    first, second, year = (int(part) for part in found.groups())
    if english().figures_first.get(locale) == "day":
        first, second = second, first
    return _day(second, first, year, locale)


def _day(day: int, month: int, year: int | None, locale: Locale) -> str | None:
    """A day that the calendar has, in the locale's words."""
    rules = english()
    try:
        date(year or 2000, month, day)
    except ValueError:
        return None
    form = rules.dates.get(locale, rules.dates["en-US"])
    said = form.format(month=rules.months[month - 1], day=n.ordinal(day))
    return f"{said}, {n.year(year)}" if year is not None else said


def _slashed(found: re.Match[str]) -> str:
    """What is no day after all."""
    return f" {english().slash} ".join(n.decimal(Decimal(part)) for part in found[0].split("/"))


def _weekday(found: re.Match[str]) -> str:
    return english().weekday_short[found[0].rstrip(".")]


def _time(found: re.Match[str]) -> str | None:
    rules = english()
    hour, half = int(found["hour"]), found["half"]
    minute = int(found["minute"]) if "minute" in found.groupdict() else 0
    if hour > (NOON if half else 23) or minute > 59 or (half and not hour):  # noqa: PLR2004 - a clock
        return None
    if not half:
        half, hour = ("p" if hour >= NOON else "a"), (hour - 1) % NOON + 1
    low = "" if not minute else f" {rules.oh} {rules.ones[minute]}" if minute < n.TEN else f" {n.cardinal(minute)}"
    said = rules.halves[half.lower() + "m"]
    if found.string[found.end() : found.end() + 1] == ".":  # the sentence's own ends both
        said = said.removesuffix(".")
    return f"{n.cardinal(hour)}{low} {said}"


def _money(found: re.Match[str]) -> str | None:
    rules = english()
    code = rules.symbols.get(found["symbol"], found["symbol"])
    amount = Decimal(found["number"].replace(",", ""))
    sign = f"{rules.minus} " if found.groupdict().get("sign") else ""
    one, many, minor_one, minor_many = rules.currencies[code]
    if found.groupdict().get("scale"):
        return f"{sign}{n.decimal(amount)} {found['scale']} {many}"
    digits = EXPONENTS[code]
    minor = amount.scaleb(digits)
    if minor != int(minor) or amount >= n.MAX:  # finer than the currency is: no amount of money, but a rate
        return f"{sign}{n.decimal(amount)} {many}"
    major, part = divmod(int(minor), 10**digits)
    form = "whole" if not part else "parts" if major or code not in rules.small_change else "minor"
    return sign + rules.money[form].format(
        major=n.cardinal(major),
        unit=one if major == 1 else many,
        minor=_minor(part) if digits == _CENTS and form == "parts" else n.cardinal(part),
        subunit=minor_one if part == 1 else minor_many,
    )


def _spelt(found: re.Match[str]) -> str:
    """The figures of an amount whose units are words, in one: it is cut where amounts are."""
    return f"{_signed(found)} {found['unit']} and {_minor(int(found['minor']))} {found['subunit']}"


def _minor(cents: int) -> str:
    """As in "oh five": of "and five cents" five dollars are heard."""
    return f"{english().oh} {n.cardinal(cents)}" if 1 < cents < n.TEN else n.cardinal(cents)


def _percent(found: re.Match[str]) -> str:
    return f"{_signed(found)} {english().percent}"


def _signed(found: re.Match[str]) -> str:
    sign = f"{english().minus} " if found["sign"] else ""
    return sign + n.decimal(Decimal(found["number"].replace(",", "")))


def _groups(found: re.Match[str]) -> str | None:
    return grouped(found, n.digits, f"{english().abbreviations['+']} ", "; ")


def _one_by_one(found: re.Match[str]) -> str:
    """Digits that are written apart; four of them in twos, else one may be heard twice."""
    figures = re.sub(r"\D", "", found[0])
    return ", ".join(map(n.digits, re.findall("..", figures) if len(figures) == _CARD else [figures]))


def _plain(found: re.Match[str]) -> str:
    """A number, or figures that are a string: long, with a zero in front, or after a word that announces digits."""
    number = found["number"]
    whole = number.partition(".")[0]
    bare = whole == number and "," not in number
    before = found.string[max(0, found.start() - _CUE_REACH) : found.start()].lower()
    cued = any(re.search(rf"\b{cue}\b[^.!?\d]*$", before) for cue in english().digit_cues)
    if bare and (len(whole) >= LONG or (len(whole) > 1 and whole[0] == "0") or (cued and len(whole) > 2)):  # noqa: PLR2004
        return ("" if not found["sign"] else f"{english().minus} ") + n.digits(whole)
    if bare and len(whole) == len("2026") and int(whole) in _YEARS and not found["sign"]:
        return n.year(int(whole))
    return _signed(found)
