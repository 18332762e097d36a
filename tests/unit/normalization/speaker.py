"""Speaks integers the way people do, so that tests can listen to every one of them. Written apart from the grammars."""

from collections.abc import Callable
from typing import Final

_UNITS: Final = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
_TENS: Final = ["-", "-", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_KANJI: Final = "〇一二三四五六七八九"
_KANA_UNITS: Final = ("", *["いち", "に", "さん", "よん", "ご", "ろく", "なな", "はち", "きゅう"])
_KANA_HUNDREDS: Final = (
    "",
    *[
        "ひゃく",
        "にひゃく",
        "さんびゃく",
        "よんひゃく",
        "ごひゃく",
        "ろっぴゃく",
        "ななひゃく",
        "はっぴゃく",
        "きゅうひゃく",
    ],
)
_KANA_THOUSANDS: Final = (
    "",
    *["せん", "にせん", "さんぜん", "よんせん", "ごせん", "ろくせん", "ななせん", "はっせん", "きゅうせん"],
)


def english(n: int, *, joined: bool = False, hyphens: bool = False) -> str:
    """ "one hundred twenty three"; `joined` puts the British "and" in, `hyphens` ties tens to units."""
    if n < 0:
        return "minus " + english(-n, joined=joined, hyphens=hyphens)
    parts = []
    for size, name in ((10**9, "billion"), (10**6, "million"), (1000, "thousand")):
        if n >= size:
            parts.append(f"{_below_thousand(n // size, joined, hyphens)} {name}")
            n %= size
    if n or not parts:
        rest = _below_thousand(n, joined, hyphens)
        parts.append(f"and {rest}" if joined and parts and n < 100 else rest)
    return " ".join(parts)


def _below_thousand(n: int, joined: bool, hyphens: bool) -> str:
    if n >= 100:
        hundreds, rest = divmod(n, 100)
        head = f"{_UNITS[hundreds]} hundred"
        if not rest:
            return head
        return f"{head} {'and ' if joined else ''}{_below_thousand(rest, joined, hyphens)}"
    if n < 20:
        return _UNITS[n]
    tens, unit = divmod(n, 10)
    return _TENS[tens] if not unit else f"{_TENS[tens]}{'-' if hyphens else ' '}{_UNITS[unit]}"


def english_hundreds(n: int) -> str | None:
    """ "twenty five hundred and six", where people say so."""
    hundreds, rest = divmod(n, 100)
    if not 11 <= hundreds <= 99 or hundreds % 10 == 0:
        return None
    head = f"{_below_thousand(hundreds, False, False)} hundred"
    return head if not rest else f"{head} {_below_thousand(rest, False, False)}"


def kanji(n: int, *, one: bool = False, written: bool = False) -> str:
    """三万五千; `one` says 一千 in groups above the first, `written` keeps digits before big scales (3万5000)."""
    if n == 0:
        return "0" if written else "零"
    text = ""
    for size, name in ((10**8, "億"), (10**4, "万"), (1, "")):
        group, n = divmod(n, size)
        if group:
            text += (str(group) if written else _kanji_group(group, one)) + name
    return text


def _kanji_group(n: int, one: bool) -> str:
    text = ""
    for size, name in ((1000, "千"), (100, "百"), (10, "十"), (1, "")):
        digit, n = divmod(n, size)
        if digit:
            text += ("" if digit == 1 and size > 1 and not (one and size == 1000) else _KANJI[digit]) + name
    return text


def positional(n: int) -> str:
    """二三〇〇."""
    return "".join(_KANJI[int(d)] for d in str(n))


def kana(n: int) -> str:
    """さんまんごせん."""
    text = ""
    for size, name in ((10**8, "おく"), (10**4, "まん"), (1, "")):
        group, n = divmod(n, size)
        if group:
            text += _kana_group(group) + name
    return text


def figures_in_kana(n: int) -> str:
    """9まん5せん."""
    scales = {"千": "せん", "百": "ひゃく", "十": "じゅう", "万": "まん"}
    text = ""
    for size, name in ((10**8, "億"), (10**4, "万"), (1, "")):
        group, n = divmod(n, size)
        digits = [(d, s) for d, s in zip(f"{group:04}", (*"千百十", ""), strict=True) if d != "0"]
        text += "".join(d + scales.get(s, s) for d, s in digits) + (scales.get(name, name) if group else "")
    return text


def _kana_group(n: int) -> str:
    thousands, rest = divmod(n, 1000)
    hundreds, rest = divmod(rest, 100)
    tens, unit = divmod(rest, 10)
    ten = ("" if tens == 1 else _KANA_UNITS[tens]) + "じゅう" if tens else ""
    return _KANA_THOUSANDS[thousands] + _KANA_HUNDREDS[hundreds] + ten + _KANA_UNITS[unit]


ENGLISH: Final[dict[str, Callable[[int], str | None]]] = {
    "american": english,
    "british": lambda n: english(n, joined=True),
    "hyphenated": lambda n: english(n, joined=True, hyphens=True),
    "hundreds": english_hundreds,
    "written": str,
    "grouped": lambda n: f"{n:,}",
    "capitals": lambda n: english(n).upper(),
    "article": lambda n: (
        english(n).replace("one ", "a ", 1) if english(n).startswith(("one hundred", "one thousand")) else None
    ),
}
JAPANESE: Final[dict[str, Callable[[int], str | None]]] = {
    "kanji": kanji,
    "one thousand": lambda n: kanji(n, one=True),
    "mixed": lambda n: kanji(n, written=True),
    "positional": positional,
    "written": str,
    "grouped": lambda n: f"{n:,}",
    "full width": lambda n: str(n).translate({48 + d: 0xFF10 + d for d in range(10)}),
    "kana": lambda n: kana(n) if n else None,
    "figures in kana": lambda n: figures_in_kana(n) if n else None,
}
