"""How a locale writes and says things, as data: the few switches that its words do not carry."""

from typing import Literal

from pydantic import Field

from rules.load import RuleFile, load
from rules.locales import locale_rules
from schemas.ids import Locale


class LanguageStyle(RuleFile):
    """rules/normalize/<language>/style.yaml."""

    spaced: bool  # words are separated by spaces
    pairs: bool  # "one fifty", "nineteen ninety nine"
    joins_from: int = 20  # the least word that takes a unit directly behind it (twenty one, not ten one)
    positional: bool  # digits written side by side make a number: 二三〇〇
    weekday_marks: str = ""  # a character for each day from Monday on, as in 20日(金)
    denials: tuple[str, ...] = ()  # before a date that is refused: "not today"
    joins_digits: bool  # spoken digits with spaces between them are one string
    next_weekday: Literal["following", "coming"]  # whether "next Friday" skips the coming one
    dates: Literal["named", "suffixed"]  # "march fifth", or 三月五日
    title_before: bool  # Mr Smith rather than 佐藤さん


class LocaleStyle(RuleFile):
    """rules/normalize/locales/<locale>.yaml."""

    date_order: Literal["mdy", "dmy", "ymd"]
    exponent: int = Field(ge=0, le=3)  # minor digits of an amount without a currency
    likely_hours: tuple[int, int]  # a clock hour without am or pm is preferred within these, 24-hour
    half_hour: bool = False  # "half nine" is half past nine
    fiscal_month: int = Field(1, ge=1, le=12)  # the month that a fiscal year begins with
    postcode: str = ""  # what a postcode with letters looks like without its space, as a regular expression


class Style:
    """Both together."""

    __slots__ = ("currency", "language", "locale")

    def __init__(self, language: LanguageStyle, locale: LocaleStyle, currency: str) -> None:
        self.language = language
        self.locale = locale
        self.currency = currency

    @classmethod
    def load(cls, locale: Locale) -> "Style":
        """Read a locale's files. Raises RulesInvalid, UnsupportedLocale."""
        rules = locale_rules(locale)
        return cls(
            load(f"normalize/{rules.language}/style.yaml", LanguageStyle),
            load(f"normalize/locales/{locale}.yaml", LocaleStyle),
            rules.currency,
        )
