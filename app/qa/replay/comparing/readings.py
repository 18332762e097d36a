"""What every word that has a value is taken for, what replies say, and what policies bound: what two runs are held to.

A word that no recording says is watched by this alone.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from math import inf
from typing import Final

import orjson

from rules.act import money_policy
from rules.load import RuleFile, load
from schemas.ids import Locale, language
from schemas.span import Span, jsonable
from services.normalization import Normalizer
from services.payees import relationship_words
from services.response import templates
from services.understanding.fast.ruleset.rules import NounsFile

_NOW: Final = datetime(2026, 1, 15, 12, tzinfo=UTC)
"""A Thursday in the middle of a month."""
_SAID: Final = "said"
_REPLY: Final = " reply "
_FIELD: Final = re.compile(r"(\w*)\W*\{(\w+)\}([^\s{、。]*)")
"""A value in a reply, with the word before it and what is joined to it."""
_SHOWN: Final = 3


class Carriers(RuleFile):
    """rules/qa/carriers.yaml: by language and meaning, what a word is read within; values that may be confused."""

    carriers: dict[str, dict[str, tuple[str, ...]]]
    alike: tuple[tuple[str, ...], ...]
    bounds: tuple[str, ...]
    outcomes: tuple[str, ...]
    senses: dict[str, dict[str, tuple[str, ...]]]


@lru_cache(maxsize=1)
def _rules() -> Carriers:
    return load("qa/carriers.yaml", Carriers)


@lru_cache(maxsize=8)
def readings(locales: frozenset[Locale]) -> Mapping[str, str]:
    """What words are taken for, by where and what they are; "" for nothing. Raises RulesInvalid, UnsupportedLocale."""
    found: dict[str, str] = {}
    for locale in sorted(locales):
        normalizer = Normalizer.for_locale(locale)
        for text in _said(normalizer, language(locale)):
            found[f"{locale} “{text}”"] = ", ".join(map(_value, normalizer.normalize(text, now=_NOW)))
    for lang in sorted({language(locale) for locale in locales}):
        nouns = load(f"intents/{lang}/nouns.yaml", NounsFile)
        for kind in ("accounts", "cards", "bills"):
            found |= _classes(f"{lang} {kind}", getattr(nouns, kind))
        found |= {f"{lang}{_REPLY}{name}": text for name, text in templates(lang).items()}
    policy = money_policy().model_dump(mode="json", include=set(_rules().bounds))
    found |= {f"the bound {name}": str(value) for name, value in policy.items()}
    return found | {f"relationships “{word}”": name for word, name in relationship_words().items()}


def misread(before: Mapping[str, str], after: Mapping[str, str]) -> str:
    """In words, what was taken for something and is taken for something else, or for nothing; "" if there is none."""
    lost = [
        f"{words} {was} → {after.get(words) or 'nothing'}"
        for words, was in before.items()
        if was and after.get(words) != was and _REPLY not in words
    ]
    return f"{len(lost)} words are taken for something else: {_some(lost)}" if lost else ""


def missaid(before: Mapping[str, str], after: Mapping[str, str]) -> str:
    """In words, which replies with money leave a value out, say it where another one was, or have another sense."""
    wrong = [
        f"{lang} {name} {fault}"
        for (lang, name), was, now in (
            (reply.split(_REPLY), was, after[reply])
            for reply, was in before.items()
            if _REPLY in reply and reply in after
        )
        for fault in (*_confused(_marks(was), _marks(now)), *_turned(lang, name, was, now))
    ]
    return f"{len(wrong)} replies say something else: {_some(wrong)}" if wrong else ""


def _turned(lang: str, name: str, before: str, after: str) -> Iterator[str]:
    if not name.startswith(_rules().outcomes):
        return
    for sense, words in _rules().senses.get(lang, {}).items():
        was, now = (any(word in text for word in words) for text in (before, after))
        if was != now:
            yield f"{'has' if now else 'lacks'} {sense}"


def _confused(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[str]:
    amounts, *_ = _rules().alike
    for group in _rules().alike:
        for name in set(group) & set(before):
            others = {before[other] for other in group if other in before and other != name} - {before[name], ""}
            if name not in after and not before.keys().isdisjoint(amounts):
                yield f"leaves {name} out"
            elif after.get(name) in others:
                yield f"says “{after[name]}” of {name}"


def _marks(template: str) -> Mapping[str, str]:
    """By value what tells its part in a sentence: the word before it, or what is joined to it."""
    return {name: before if " " in template else behind for before, name, behind in _FIELD.findall(template)}


def loosened(before: Mapping[str, float], after: Mapping[str, float]) -> str:
    """In words, what a policy allows that it did not; "" if there is none."""
    wider = [
        f"{name} {abs(was):g} → {'nothing' if name not in after else f'{abs(after[name]):g}'}"
        for name, was in before.items()
        if after.get(name, inf) > was
    ]
    return f"{len(wider)} bounds are looser: {_some(wider)}" if wider else ""


def _some(lines: list[str]) -> str:
    return "; ".join(lines[:_SHOWN]) + (" …" if len(lines) > _SHOWN else "")


def _said(normalizer: Normalizer, lang: str) -> Iterator[str]:
    carriers = _rules().carriers.get(lang, {})
    yield from carriers.get(_SAID, ())
    for meaning, word in normalizer.words:
        yield from (carrier.replace("{}", word) for carrier in carriers.get(meaning, ()))


def _value(span: Span) -> str:
    values = " or ".join(dict.fromkeys(orjson.dumps(jsonable(value)).decode() for value in span.values))
    return f"{span.kind} {values}{f' ({span.ambiguity})' if span.ambiguity else ''}"


def _classes(where: str, names: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    """Each word of some classes, with the classes that it is in."""
    found: dict[str, list[str]] = {}
    for name, words in sorted(names.items()):
        for word in words:
            found.setdefault(f"{where} “{word}”", []).append(name)
    return {word: ", ".join(classes) for word, classes in found.items()}
