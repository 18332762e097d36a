"""What Japanese replies write that is read by rule, in order of precedence."""

import re
import unicodedata
from collections.abc import Callable, Collection, Sequence
from datetime import date
from decimal import Decimal
from typing import Final

from schemas.money import EXPONENTS
from services.speech import numbers_ja as n
from services.speech.reading import FIGURES, LONG, NOON, Reader, grouped
from services.speech.rules import japanese

_NUMBER: Final = rf"(?:{FIGURES}[兆億万])*(?:{FIGURES}[兆億万]?)"
_KANA: Final = "[ァ-ヴーｦ-ﾟ]"
_SIGN: Final = r"(?P<sign>(?<![\w.])[-−–]|マイナス)?"
_CUE_REACH: Final = 12


def japanese_readers() -> Sequence[Reader]:
    """The forms of Japanese."""
    rules = japanese()
    codes, symbols = "|".join(EXPONENTS), _any(rules.symbols)
    units = {word for pair in rules.currencies.values() for word in pair if word and word not in rules.counters}
    weekday = rf"(?P<weekday>{_any(rules.weekdays)})?"
    halves, legal = _any(rules.halves), _any(rules.legal_forms)
    forms: list[tuple[str, Callable[[re.Match[str]], str | None]]] = [
        (rf"(?<!{_KANA})(?P<form>{legal})[)）](?={_KANA})", lambda m: f"{rules.legal_forms[m['form']]}、"),
        (
            rf"(?<={_KANA})[(（](?P<form>{legal})(?:[)）]|(?!{_KANA}))(?={_KANA})",
            lambda m: f"、{rules.legal_forms[m['form']]}、",
        ),
        (rf"(?<={_KANA})[(（](?P<form>{legal})(?:[)）]|(?!{_KANA}))", lambda m: f"、{rules.legal_forms[m['form']]}"),
        (rf"(?<![ァ-ヴー] )(?<!{_KANA})[ァ-ヴー]+ [ァ-ヴー]+(?=様)", lambda m: m[0].replace(" ", rules.name_pause)),
        ("[ｦ-ﾟ]+", lambda m: unicodedata.normalize("NFKC", m[0])),
        (_any(rules.words), lambda m: rules.words[m[0]]),
        (r"(?<![\d-])(?P<year>\d{4})-(?P<month>\d{2})-(?P<day>\d{2})(?![\d-])", _date),
        (r"(?<![\d/])(?:(?P<year>\d{4})/)?(?P<month>\d{1,2})/(?P<day>\d{1,2})(?![\d/])", _date),
        (rf"(?<!\d)(?:(?P<year>\d{{4}})年)?(?P<month>\d{{1,2}})月(?P<day>\d{{1,2}})日{weekday}", _date),
        (r"(?<!\d)(?:(?P<year>\d{4})年)?(?P<month>\d{1,2})月(?!\d)", _month),
        (r"(?<!\d)(?P<day>\d{1,2})日(?!間)", lambda m: _nth(rules.days, int(m["day"]) - 1)),
        (
            rf"(?P<half>{halves})?(?<!\d)(?P<hour>\d{{1,2}})(?::(?P<minute>\d{{2}})(?!\d)|時(?!間)(?:(?P<past>\d{{1,2}})分)?)",
            _time,
        ),
        (rf"{_SIGN}(?P<symbol>{symbols})\s?(?P<number>{_NUMBER})", _money),
        (rf"{_SIGN}(?P<number>{_NUMBER})\s?(?P<symbol>{codes})(?![A-Za-z])", _money),
        (rf"{_SIGN}(?P<number>{_NUMBER})(?P<unit>{_any(units)})", _amount),
        (rf"{_SIGN}(?P<number>{_NUMBER})\s?(?P<unit>{_any(rules.counters)})", _counted),
        (r"[*•xX＊]{2,}[\s-]?(?P<digits>\d{2,6})(?!\d)", lambda m: f"{rules.ending}{n.digits(m['digits'])}"),
        (r"\+?\d{1,5}(?:[-‐]\d{1,5})+(?!\d)", lambda m: grouped(m, n.digits, rules.words["+"], f"{rules.group}、")),
        (r"(?<![\d.,])\d(?:\s\d)+(?![\d.,]\d)(?!\d)", _one_by_one),
        (rf"{_SIGN}(?P<number>{_NUMBER})", _plain),
        (r"(?<![A-Za-z])[A-Z]{1,5}(?![A-Za-z])", lambda m: "".join(rules.letters[letter] for letter in m[0])),
        (_any(rules.weekdays), lambda m: rules.weekdays[m[0]]),
    ]
    return [(re.compile(pattern), read) for pattern, read in forms]


def said_again(sentence: str) -> str:
    """What is said behind a sentence that reads an order, a balance or a bill: its long amounts, in digits."""
    rules = japanese().again
    if re.search(rules.sentences, sentence) is None:
        return ""
    units = _any({pair[0] for pair in japanese().currencies.values()})
    amounts = re.finditer(rf"(?P<number>{_NUMBER})(?P<unit>{units})", sentence)
    long = [(_value(found["number"]), found["unit"]) for found in amounts if _is_long(_value(found["number"]))]
    return "".join(
        rules.said.format(digits=n.digits(f"{amount:f}", rules.pause, rules.thousands), unit=_unit(unit))
        for amount, unit in long
    )


def _is_long(amount: Decimal) -> bool:
    """Whether figures of it are easily lost: many, and few of them zeros at its end."""
    rules, figures = japanese().again, f"{amount:f}"
    return figures.isdigit() and len(figures) >= rules.figures and len(figures.rstrip("0")) >= rules.significant


def _any(words: Collection[str]) -> str:
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))


def _nth(names: Sequence[str], index: int) -> str | None:
    return names[index] if 0 <= index < len(names) else None


def _value(number: str) -> Decimal:
    """What figures with scales come to: "12万3,450" is 123450."""
    scales = {written: size for size, _, written in japanese().scales}
    total = Decimal(0)
    for figures, scale in re.findall(rf"({FIGURES})([兆億万]?)", number):
        total += Decimal(figures.replace(",", "")) * scales.get(scale, 1)
    return total


def _signed(found: re.Match[str], said: str) -> str:
    return japanese().minus + said if found.groupdict().get("sign") else said


def _date(found: re.Match[str]) -> str | None:
    """A day that the calendar has."""
    rules, given = japanese(), found.groupdict()
    year, month, day = given.get("year"), int(given["month"]), int(given["day"])
    try:
        date(int(year or 2000), month, day)
    except ValueError:
        return None
    said = [rules.months[month - 1], rules.days[day - 1]]
    if year:
        said.insert(0, n.counted(Decimal(year), rules.year))
    weekday = f"、{rules.weekdays[given['weekday']]}" if given.get("weekday") else ""
    return " ".join(said) + weekday


def _month(found: re.Match[str]) -> str | None:
    rules = japanese()
    said = _nth(rules.months, int(found["month"]) - 1)
    return f"{n.counted(Decimal(found['year']), rules.year)} {said}" if said and found["year"] else said


def _time(found: re.Match[str]) -> str | None:
    rules = japanese()
    hour, minute = int(found["hour"]), int(found["minute"] or found["past"] or 0)
    if hour > (NOON if found["half"] else 24) or minute > 59:  # noqa: PLR2004 - a clock
        return None
    said = rules.halves.get(found["half"] or "", "") + rules.hours[hour]
    return f"{said} {n.counted(Decimal(minute), rules.minute)}" if minute else said


def _money(found: re.Match[str]) -> str | None:
    rules = japanese()
    code = rules.symbols.get(found["symbol"], found["symbol"])
    unit, subunit = rules.currencies[code]
    amount, digits = _value(found["number"]), EXPONENTS[code]
    minor = amount.scaleb(digits)
    major, part = divmod(int(minor), 10**digits)
    if minor != int(minor) or amount >= n.MAX or (part and not subunit):
        return _signed(found, _counts(amount, unit))
    said = [_counts(Decimal(major), unit)]
    return _signed(found, " ".join([*said, _counts(Decimal(part), subunit)] if part else said))


def _counts(number: Decimal, unit: str) -> str:
    return n.counted(number, unit) if unit in japanese().counters else f"{n.decimal(number)} {_unit(unit)}"


def _unit(unit: str) -> str:
    """How the name of a currency reads."""
    rules = japanese()
    if unit in rules.counters:
        return rules.counters[unit].reading
    spelt = rules.words.get(unit, unit)
    return re.sub("[A-Z]", lambda letter: rules.letters[letter[0]], spelt)


def _amount(found: re.Match[str]) -> str:
    return _signed(found, f"{n.decimal(_value(found['number']))} {_unit(found['unit'])}")


def _counted(found: re.Match[str]) -> str:
    return _signed(found, n.counted(_value(found["number"]), found["unit"]))


def _one_by_one(found: re.Match[str]) -> str:
    """Digits that are written apart, behind a pause where a word runs into them."""
    return (japanese().digit_pause if found.string[: found.start()][-1:].isalpha() else "") + n.digits(
        re.sub(r"\D", "", found[0])
    )


def _plain(found: re.Match[str]) -> str:
    """A number, or figures that are a string: long, with a zero in front, or after a word that announces digits."""
    number = found["number"]
    before = found.string[max(0, found.start() - _CUE_REACH) : found.start()]
    cued = any(re.search(rf"{cue}[^。、\d]{{0,4}}$", before) for cue in japanese().digit_cues)
    if number.isdigit() and (len(number) >= LONG or (len(number) > 1 and number[0] == "0") or cued):
        return _signed(found, (japanese().digit_pause if cued else "") + n.digits(number))
    return _signed(found, n.decimal(_value(number)))
