"""What every word that has a value is taken for, and what policies bound: what two runs are held to beside their calls.

A word that no recording says is watched by this alone.
"""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from math import inf
from typing import Final

import orjson

from rules.load import RuleFile, load
from schemas.ids import Locale, language
from schemas.span import Span, jsonable
from services.normalization import Normalizer
from services.payees import relationship_words
from services.understanding.fast.rules import NounsFile

_NOW: Final = datetime(2026, 1, 15, 12, tzinfo=UTC)
"""A Thursday in the middle of a month."""
_SAID: Final = "said"
_SHOWN: Final = 3


class Carriers(RuleFile):
    """rules/qa/carriers.yaml: by language and meaning, what a word is read within."""

    carriers: dict[str, dict[str, tuple[str, ...]]]


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
    return found | {f"relationships “{word}”": name for word, name in relationship_words().items()}


def misread(before: Mapping[str, str], after: Mapping[str, str]) -> str:
    """In words, what was taken for something and is taken for something else, or for nothing; "" if there is none."""
    lost = [
        f"{words} {was} → {after.get(words) or 'nothing'}"
        for words, was in before.items()
        if was and after.get(words) != was
    ]
    return f"{len(lost)} words are taken for something else: {_some(lost)}" if lost else ""


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
    carriers = load("qa/carriers.yaml", Carriers).carriers.get(lang, {})
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
