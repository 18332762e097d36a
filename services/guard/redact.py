"""Keep personal text out of logs, metrics, error messages and the audit's open facts."""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from rules.guard import RedactionRules, redaction_rules
from schemas.audit import AuditValue

WITHHELD: Final = "[withheld]"
_CODE: Final = re.compile(r"[A-Za-z0-9_@.:/+=,-]{0,128}\Z")
"""What an open fact's text may look like: an identifier, a version, a day; never a sentence or a name in full."""
_KEY: Final = re.compile(r"[a-z][a-z0-9_.]{0,63}\Z")
_MAX_ITEMS: Final = 64
_MAX_DEPTH: Final = 3


class Redactor:
    """Replaces what the rules' patterns find by the pattern's name in brackets."""

    def __init__(self, rules: RedactionRules) -> None:
        self._most = rules.max_characters
        self._patterns = tuple((re.compile(p.pattern), f"[{p.name}]") for p in rules.patterns)

    def __call__(self, text: str) -> str:
        """The text without what is personal or secret, cut at the rules' bound."""
        text = text[: self._most]
        for pattern, replacement in self._patterns:
            text = pattern.sub(replacement, text)
        return text


def redactor() -> Redactor:
    """A redactor by the rules in force. Raises RulesInvalid."""
    return Redactor(redaction_rules())


def open_facts(facts: Mapping[str, AuditValue], personal: Mapping[str, AuditValue]) -> dict[str, AuditValue]:
    """What of `facts` may stand in the open: identifiers and numbers that do not repeat anything personal.

    Whatever else was given is replaced by WITHHELD, so that a careless caller loses a fact rather than a secret.
    """
    secrets = frozenset(word for word in _words(dict(personal)) if len(word) > 1)
    return {key: _open(value, secrets, 0) for key, value in list(facts.items())[:_MAX_ITEMS] if _KEY.match(key)}


def _open(value: AuditValue, secrets: frozenset[str], depth: int) -> AuditValue:
    if isinstance(value, str):
        return value if _CODE.match(value) and value.casefold() not in secrets else WITHHELD
    if isinstance(value, bool | float) or value is None:
        return value
    if isinstance(value, int):
        return WITHHELD if str(value) in secrets else value
    if depth >= _MAX_DEPTH:
        return WITHHELD
    if isinstance(value, list):
        return [_open(item, secrets, depth + 1) for item in value[:_MAX_ITEMS]]
    items = list(value.items())[:_MAX_ITEMS]
    return {key: _open(item, secrets, depth + 1) for key, item in items if _KEY.match(key)}


def _words(value: AuditValue) -> Iterator[str]:
    """Every text and number within, whole and by the word, in lower case."""
    if isinstance(value, dict):
        for item in value.values():
            yield from _words(item)
    elif isinstance(value, list):
        for item in value:
            yield from _words(item)
    elif isinstance(value, str | int) and not isinstance(value, bool):
        text = str(value).casefold()
        yield text
        yield from text.split()
