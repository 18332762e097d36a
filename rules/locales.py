"""What every stage may ask of a locale."""

from functools import lru_cache

from rules.load import RuleFile, exists, load, locales
from schemas.errors import UnsupportedLocale
from schemas.ids import Locale
from schemas.money import exponent


class LocaleRules(RuleFile):
    """A locale's head data."""

    language: str
    name: str
    currency: str
    spaced: bool = True  # words are separated by spaces
    group: int = 3  # figures between two of its great numbers: thousand, million

    @property
    def digits(self) -> int:
        """Of how many a smallest part of its currency is told."""
        return exponent(self.currency)


def known(tag: str | None) -> Locale | None:
    """The locale that a tag names, where it is one of ours."""
    return Locale(tag) if tag in locales() else None


@lru_cache(maxsize=64)
def locale_rules(locale: Locale) -> LocaleRules:
    """The data of a locale, looked for once. Raises UnsupportedLocale where none exist."""
    path = f"locales/{locale}.yaml"
    if not locale.replace("-", "").isalnum() or not exists(path):
        raise unsupported()
    return load(path, LocaleRules)


def unsupported() -> UnsupportedLocale:
    """What to say of a locale that has no rules: which have."""
    return UnsupportedLocale(f"no rules for this locale: write one of {', '.join(locales())}")


def space(locale: Locale) -> str:
    """What stands between two words. Raises UnsupportedLocale."""
    return " " if locale_rules(locale).spaced else ""


def joiner(language: str) -> str:
    """What stands between two words of a language, whichever its locale. Raises UnsupportedLocale."""
    of_it = (locale for locale in locales() if locale_rules(locale).language == language)
    if (locale := next(of_it, None)) is None:
        raise UnsupportedLocale("no rules for this language")
    return space(locale)
