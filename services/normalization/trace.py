"""How a text was read: each token's place and what its language says it can mean."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Final

from services.normalization.fold import Folded
from services.normalization.tokens import TextToken
from services.normalization.words import UNKNOWN, Word

_FIELDS: Final = tuple((f.name, f.default) for f in fields(Word))


@dataclass(frozen=True, slots=True)
class Note:
    """One token: its surface at `start:end` of the text as given, and its meanings in words."""

    surface: str
    start: int
    end: int
    meanings: tuple[str, ...]


def notes(folded: Folded, tokens: Sequence[TextToken]) -> tuple[Note, ...]:
    """A note for each token."""
    found = []
    for token in tokens:
        start, end = folded.starts[token.start], folded.ends[token.end - 1]
        found.append(Note(folded.source[start:end], start, end, meanings(token)))
    return tuple(found)


def meanings(token: TextToken) -> tuple[str, ...]:
    """What a token can mean: "value 5", "scale 1000", "joiner"."""
    if token.numeral is not None:
        value = token.numeral.value
        return (f"{token.numeral.shape} numeral" + (f" {value}" if value is not None else ""),)
    if token.word is UNKNOWN:
        return ()
    said = ((name, getattr(token.word, name)) for name, default in _FIELDS if getattr(token.word, name) != default)
    return tuple(name if payload is True else f"{name} {_brief(payload)}" for name, payload in said)


def _brief(payload: object) -> str:
    """A payload's telling parts: a scale's value, a currency's codes."""
    if is_dataclass(payload) and not isinstance(payload, type):
        parts = [getattr(payload, f.name) for f in fields(payload) if f.name != "most"]
        return " ".join("/".join(p) if isinstance(p, tuple) else str(p) for p in parts if not isinstance(p, bool))
    return str(payload)
