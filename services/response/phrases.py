"""Templates of rules/replies, filled: amounts and days unambiguous, digits apart, lists in words."""

import re
from collections.abc import Iterator
from datetime import date
from functools import lru_cache
from typing import Final

from pydantic import Field

from rules.load import RuleFile, load
from schemas.decision import Reply, ReplyParam
from schemas.errors import RulesInvalid
from schemas.ids import Locale, language
from schemas.money import Money, exponent
from schemas.printable import printable

MAX_CHARS: Final = 600
"""No reply is longer; what a caller can't keep in mind is not said."""
MAX_WORD: Final = 60
"""Names and heard words are cut to this many characters."""
BLANK: Final = "\ufffc"
"""What stands for a value in an outline."""
_FIELD: Final = re.compile(r"\{([a-z0-9_]+)(?:\|(or|and))?\}")
_DIGITS: Final = "last4"
_SHORT_DAY: Final = "day"
_NEAR_DAY: Final = "near"


class RepliesFile(RuleFile):
    """The templates of a language by reply id."""

    templates: dict[str, str]


class FormsFile(RuleFile):
    """How amounts, days and lists are said."""

    spaced: bool
    list: dict[str, str]
    day: str
    near: str
    date: str
    weekdays: tuple[str, ...]
    months: tuple[str, ...]
    minus: str
    currencies: dict[str, tuple[str, str, str, str]]
    money: dict[str, str]
    days: dict[str, dict[str, str]] = Field(default_factory=dict)
    """By locale, the forms of a day that are not the language's own."""

    def of(self, locale: Locale) -> "FormsFile":
        """The forms of a locale."""
        return self.model_copy(update=self.days[locale]) if locale in self.days else self


@lru_cache(maxsize=8)
def _rules(lang: str) -> tuple[RepliesFile, FormsFile]:
    return load(f"replies/{lang}/replies.yaml", RepliesFile), load(f"replies/{lang}/forms.yaml", FormsFile)


def template_params(lang: str) -> dict[str, frozenset[str]]:
    """Every reply id of a language with the parameters that its template needs. Raises RulesInvalid."""
    return {id_: frozenset(m.group(1) for m in _FIELD.finditer(text)) for id_, text in templates(lang).items()}


def templates(lang: str) -> dict[str, str]:
    """Every reply of a language by its id, as it is written. Raises RulesInvalid."""
    return _rules(lang)[0].templates


def outlines(lang: str, **known: str) -> dict[str, str]:
    """Every reply of a language by its id, with BLANK where a value goes that is not `known`. Raises RulesInvalid."""
    return {id_: _FIELD.sub(lambda m: known.get(m[1], BLANK), text) for id_, text in templates(lang).items()}


def speak(reply: Reply, locale: Locale) -> str:
    """The sentence of `reply` in the language of `locale`. Raises RulesInvalid for an id or parameter it has not."""
    return PhraseBook.for_locale(locale).say(reply)


class PhraseBook:
    """The sentences of one locale."""

    def __init__(self, locale: Locale) -> None:
        self._replies, forms = _rules(language(locale))
        self._forms = forms.of(locale)

    @classmethod
    def for_locale(cls, locale: Locale) -> "PhraseBook":
        """The phrases of a locale; its files are read once a process. Raises RulesInvalid."""
        return cls(locale)

    def say(self, reply: Reply) -> str:
        """The sentence of `reply`, at most MAX_CHARS characters. Raises RulesInvalid for an unknown id or parameter."""
        return _fill(reply, self._replies, self._forms)[:MAX_CHARS]

    def values(self, reply: Reply) -> tuple[str, ...]:
        """What the sentence of `reply` puts into its templates, each as it is said. Raises RulesInvalid as `say`."""
        return tuple(_values(reply, self._replies, self._forms))


def _fill(reply: Reply, replies: RepliesFile, forms: FormsFile) -> str:
    template = replies.templates.get(reply.id)
    if template is None:
        raise RulesInvalid(f"no reply {reply.id} in {replies.id}")

    def put(field: re.Match[str]) -> str:
        name, joined = field.group(1), field.group(2) or "and"
        if name not in reply.params:
            raise RulesInvalid(f"reply {reply.id} lacks {name}")
        return _value(name, reply.params[name], joined, replies, forms)

    return _FIELD.sub(put, template)


def _values(reply: Reply, replies: RepliesFile, forms: FormsFile) -> Iterator[str]:
    for field in _FIELD.finditer(replies.templates[reply.id]):
        value = reply.params[field.group(1)]
        for item in value if isinstance(value, tuple) else (value,):
            if isinstance(item, Reply):
                yield from _values(item, replies, forms)
            else:
                yield _value(field.group(1), item, "", replies, forms)


def _value(name: str, value: ReplyParam, joined: str, replies: RepliesFile, forms: FormsFile) -> str:
    match value:
        case Reply():
            return _fill(value, replies, forms)
        case Money():
            return money(value, forms)
        case date():
            return _day(value, {_SHORT_DAY: forms.day, _NEAR_DAY: forms.near}.get(name, forms.date), forms)
        case tuple():
            return _listed([_value(name, item, joined, replies, forms) for item in value], joined, forms)
        case str() if name == _DIGITS:
            return " ".join(value[-4:])
        case _:
            return _cut(printable(str(value)))


def _cut(words: str) -> str:
    """Words that are not too long; of longer ones no half of a word."""
    if len(words) <= MAX_WORD:
        return words
    return words[: words.rfind(" ", 0, MAX_WORD + 1)] if " " in words[:MAX_WORD] else words[:MAX_WORD]


def _listed(items: list[str], joined: str, forms: FormsFile) -> str:
    if len(items) < 2:  # noqa: PLR2004 - a list of one is no list
        return "".join(items)
    return forms.list["separator"].join(items[:-1]) + forms.list[joined] + items[-1]


def _day(day: date, form: str, forms: FormsFile) -> str:
    return form.format(
        weekday=forms.weekdays[day.weekday()], month=forms.months[day.month - 1], day=day.day, year=day.year
    )


def money(value: Money, forms: FormsFile) -> str:
    """An amount in words and digits: "1,250 dollars and 5 cents"."""
    units = forms.currencies.get(value.currency, (value.currency, value.currency, value.currency, value.currency))
    major, minor = divmod(abs(value.minor), 10 ** exponent(value.currency))
    sign = forms.minus if value.minor < 0 else ""
    parts = {
        "major": f"{major:,}",
        "unit": units[0] if major == 1 else units[1],
        "minor": str(minor),
        "subunit": units[2] if minor == 1 else units[3],
    }
    if value.currency not in forms.currencies:
        return sign + str(Money(abs(value.minor), value.currency))
    form = "whole" if minor == 0 else "parts" if major else "minor"
    return sign + forms.money[form].format(**parts)
