"""Says amounts in every currency that the rules know, in every form. Written apart from the grammars."""

import random  # noqa: TID251 - seeded where it is used
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Final

from schemas.money import EXPONENTS
from services.normalization.vocabulary import Language
from services.normalization.words import Currency
from tests.unit.normalization.speaker import english, english_hundreds, kana, kanji, positional

_MINOR_EN: Final = {
    "USD": ("cents",), "CAD": ("cents",), "AUD": ("cents",), "NZD": ("cents",), "SGD": ("cents",), "HKD": ("cents",),
    "TWD": ("cents",), "EUR": ("cents", "euro cents"), "GBP": ("pence", "p", "pennies"),
    "CHF": ("centimes", "rappen", "cents"), "INR": ("paise",), "CNY": ("fen",), "MXN": ("centavos",),
    "BRL": ("centavos",),
}  # fmt: skip
_MINOR_JA: Final = {
    **dict.fromkeys(("USD", "CAD", "AUD", "NZD", "SGD", "HKD", "TWD", "EUR"), "セント"), "GBP": "ペンス",
    "CHF": "サンチーム",
}  # fmt: skip
_AROUND_EN: Final = (
    "{}", "send {} to emily", "send emily {}", "{} please", "dinner - {}", "dinner — {}", "total: {}", "({})", "{}.",
    "the rent, {}", "pay... {} now", "lunch–{}", "it was {}, thanks", "make it {} on friday",
)  # fmt: skip
_AROUND_JA: Final = (
    "{}", "佐藤さんに{}送って", "{}を振り込んで", "金額は{}です", "家賃－{}", "合計：{}", "（{}）", "{}、お願いします",
    "えっと…{}ください",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Amount:
    """A text, and the amount in it: minor units and the code that is meant."""

    text: str
    minor: int
    code: str


@lru_cache(maxsize=2)
def words(language: str) -> tuple[tuple[str, Currency], ...]:
    """The surfaces of whole units, with what they are."""
    lexicon = Language(language, spaced=language == "en").lexicon.words
    found = [(surface, word.currency) for surface, word in lexicon.items() if word.currency is not None]
    return tuple((s, c) for s, c in found if not c.minor and not c.glued and c.size == 1)


def said(language: str, chance: random.Random) -> Amount:
    """One amount in one form, chosen by `chance`."""
    surface, unit = chance.choice(words(language))
    code = unit.codes[0]
    whole = chance.choice((chance.randrange(1, 100), chance.randrange(1, 10_000), chance.randrange(1, 2_000_000)))
    digits = EXPONENTS[code]
    part = chance.randrange(1, 100) if digits == 2 and chance.random() < 0.6 else 0
    form = _english if language == "en" else _japanese
    text = form(chance, surface, unit, code, whole, part)
    around = chance.choice(_AROUND_EN if language == "en" else _AROUND_JA)
    return Amount(around.format(text), whole * 10**digits + part, code)


def _digits(chance: random.Random, whole: int) -> str:
    return f"{whole:,}" if chance.random() < 0.5 else str(whole)


def _english(chance: random.Random, surface: str, unit: Currency, code: str, whole: int, part: int) -> str:
    number = chance.choice(
        (_digits(chance, whole), english(whole), english(whole, joined=True), english(whole, hyphens=True))
    )
    if unit.symbol and chance.random() < 0.7:
        sign = surface.upper() if surface.isalpha() else surface
        gap = " " if surface.isalpha() or surface.endswith(".") or chance.random() < 0.2 else ""
        written = _digits(chance, whole)
        minors = _MINOR_EN.get(code, ())
        if part and minors and chance.random() < 0.3:
            return f"{sign}{gap}{written} {chance.choice(('and ', ''))}{part} {chance.choice(minors)}"
        return f"{sign}{gap}{written}" + (f".{part:02d}" if part else "")
    if not part:
        return f"{english_hundreds(whole) or number} {surface}" if chance.random() < 0.2 else f"{number} {surface}"
    return chance.choice(_parts_english(chance, number, surface, code, whole, part))


def _parts_english(chance: random.Random, number: str, surface: str, code: str, whole: int, part: int) -> list[str]:
    minors = _MINOR_EN.get(code, ())
    small = chance.choice((str(part), english(part)))
    forms = [f"{_digits(chance, whole)}.{part:02d} {surface}"]
    forms.append(f"{english(whole)} point {english(part // 10)} {english(part % 10)} {surface}")
    forms += [f"{number} {surface} {link}{small} {minor}" for link in ("and ", "", "& ", ", ") for minor in minors]
    if minors and part >= 10:
        forms += [f"{number} {surface} {english(part)}", f"{number} {surface} and {english(part)}"]
    return forms


def _japanese(chance: random.Random, surface: str, unit: Currency, code: str, whole: int, part: int) -> str:
    forms = [_digits(chance, whole), kanji(whole), kanji(whole, written=True), str(whole).translate(_WIDE)]
    forms += [kanji(whole, one=True)] + ([positional(whole)] if whole >= 10 else [])
    number = chance.choice(forms)
    if unit.symbol:
        sign = surface.upper() if surface.isalpha() else surface
        return f"{sign}{_digits(chance, whole)}" + (f".{part:02d}" if part else "")
    if surface == "円" and chance.random() < 0.2:
        return f"{kana(whole)}えん"
    if not part:
        return f"{number}{surface}"
    minor = _MINOR_JA.get(code)
    small = chance.choice((str(part), kanji(part)))
    forms = [f"{_digits(chance, whole)}.{part:02d}{surface}"]
    if minor is not None:
        forms += [f"{number}{surface}{link}{small}{minor}" for link in ("", "と", "、")]
    return chance.choice(forms)


_WIDE: Final = {ord(str(n)): "０１２３４５６７８９"[n] for n in range(10)}


def shown(amount: Amount) -> str:
    """An amount for a person who reads a failure."""
    return f"{Decimal(amount.minor).scaleb(-EXPONENTS[amount.code])} {amount.code}"
