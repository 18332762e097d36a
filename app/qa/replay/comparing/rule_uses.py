"""What the turns of a run show of the rules: their words, the rules on record, names, replies."""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from pydantic import JsonValue

from app.qa.replay.judging.coverage import unversioned
from app.qa.replay.judging.verdicts import rules_of
from app.qa.replay.judging.words import spaceless
from app.qa.replay.records.journal import Run
from app.qa.replay.records.record import TurnRecord
from rules.load import locales
from schemas.ids import language

_MARKS: Final = re.compile(r"[()\[\]|*+]|<[^<>]*>|\{[^{}]*\}")
"""What parts the words of a template."""
_QUOTES: Final = re.compile("['’]")
_OTHER: Final = re.compile(r"[\W_]+")
_LABELS: Final = (
    (re.compile(r"(intents\.\w+\.\w+):templates\.(\w+)\."), r"\1.\2"),
    (re.compile(r"(consent\.\w+):acts\.(\w+)\."), r"\1.\2"),
    (re.compile(r"intents\.\w+\.vetoes:vetoes\.(\w+)"), r"veto.\1"),
)
"""How the rules of some entries are named on a turn's record."""
_REPLY: Final = re.compile(r"replies\.\w+:templates\.(.+)")
_KEYED: Final = re.compile(r"normalize\.\w+\.\w+:\w+\.(.+)")
"""Entries whose place is the word that is read."""
_GROUPS: Final = frozenset({"payees.nicknames"})
"""Tables whose rows are names of one person."""


def fragments(leaf: JsonValue) -> tuple[str, ...]:
    """The words of a leaf, each alternative by itself, as callers say them; none of what is no text."""
    if not isinstance(leaf, str):
        return ()
    return tuple(dict.fromkeys(part for piece in _MARKS.split(leaf) if (part := plain(piece))))


def plain(text: str) -> str:
    """Words as rules and turns share them: small letters, without marks."""
    return _OTHER.sub(" ", _QUOTES.sub("", text.casefold())).strip()


def label_of(name: str) -> str:
    """How an entry's rule is named on a turn's record, without its version; "" where it is not."""
    return next((match.expand(to) for pattern, to in _LABELS if (match := pattern.match(name))), "")


def whole_of(name: str) -> str:
    """The place of the rule that an entry is a part of; "" where it is of none."""
    return next((match[0].rstrip(".") for pattern, _ in _LABELS if (match := pattern.match(name))), "")


@dataclass(frozen=True, slots=True)
class _ShownTurn:
    language: str
    heard: str
    spoken: str
    names: str
    rules: frozenset[str]
    replies: frozenset[str]
    model: bool


class Uses:
    """What a run's turns show."""

    def __init__(self, run: Run) -> None:
        self._turns = tuple({_turn(result.record) for result in run.results if result.record.played})
        self._rules = run.rules
        self._longer: dict[tuple[str, str], tuple[str, ...]] = {}
        self._users: dict[str, frozenset[str]] = {}

    def on_record(self, label: str) -> bool:
        """Whether a rule had a part in a turn."""
        return any(label in turn.rules for turn in self._turns)

    def keyed(self, name: str) -> bool:
        """Whether an entry is of a word that was heard, or of a reply that was given."""
        if reply := _REPLY.match(name):
            return any(reply[1] in turn.replies for turn in self._turns)
        word = _KEYED.match(name)
        return word is not None and any(
            _holds(turn, turn.heard, part) for turn in self._of(name) for part in _words(word[1])
        )

    def says(self, name: str, part: str, apart: Collection[str] = ()) -> bool:
        """Whether a turn that may use an entry has these words of it, and not as a part of longer ones of the file.

        `apart` are words that are as new to it.
        """
        file = name.partition(":")[0]
        if file in _GROUPS:
            return self._of_one(part, {str(other) for other in self._rules.get(name, ())} - {part, *apart})
        if file.startswith("prompts"):
            return any(turn.model for turn in self._turns)
        label = label_of(name)
        labels = {label} if label else self._acts(file, name) if file.startswith("consent") else None
        for turn in self._of(name):
            if labels is not None and labels.isdisjoint(turn.rules):
                continue
            text = turn.spoken if file.startswith("replies") else turn.heard
            if _holds(turn, text, part) and _holds(turn, self._without(turn, text, part, file), part):
                return True
        return False

    def _of_one(self, name: str, others: set[str]) -> bool:
        """Whether one of these was heard where a payee has another's name."""
        pairs = ((name, other) for other in others)
        both = [pair for one in pairs for pair in (one, one[::-1])]
        return any(_holds(turn, turn.heard, a) and _holds(turn, turn.names, b) for turn in self._turns for a, b in both)

    def _acts(self, file: str, name: str) -> frozenset[str]:
        """The answers that a list of words is part of, by itself or in another list; of them the yeses, if any.

        A word of a yes that is only ever said in a no has not been tried where it counts.
        """
        if name not in self._users:
            lists, found, more = set[str](), set[str](), {name.rpartition(".")[2]}
            while more:
                lists |= more
                marks = [mark for one in more for mark in (f"{{{one}}}", f"<{one}>")]
                using = [
                    entry
                    for entry, leaves in self._rules.items()
                    if entry.startswith(f"{file}:")
                    and any(isinstance(leaf, str) and mark in leaf for leaf in leaves for mark in marks)
                ]
                found |= {label for entry in using if (label := label_of(entry))}
                more = {entry.rpartition(".")[2] for entry in using if not label_of(entry)} - lists
            places = {label: f"{file}:acts.{label.rpartition('.')[2]}.agrees" for label in found}
            yeses = {label for label, place in places.items() if True in self._rules.get(place, ())}
            self._users[name] = frozenset(yeses or found)
        return self._users[name]

    def _without(self, turn: _ShownTurn, text: str, part: str, file: str) -> str:
        """The text without the longer words of a file that hold these."""
        if (part, file) not in self._longer:
            words = {
                words
                for name, leaves in self._rules.items()
                if name.startswith(f"{file}:")
                for leaf in leaves
                for words in fragments(leaf)
                if part in words and words != part
            }
            self._longer[part, file] = tuple(sorted(words, key=len, reverse=True))
        for longer in self._longer[part, file]:
            if _holds(turn, text, longer):
                text = text.replace(longer.replace(" ", "") if turn.language == "ja" else longer, "\0")
        return text

    def _of(self, name: str) -> Iterator[_ShownTurn]:
        """The turns in an entry's language; all where it has none."""
        parts = name.partition(":")[0].split(".")
        languages = _languages().intersection(parts[1:2])
        return (turn for turn in self._turns if not languages or turn.language in languages)


@lru_cache(maxsize=1)
def _languages() -> frozenset[str]:
    return frozenset(map(language, locales()))


def _turn(record: TurnRecord) -> _ShownTurn:
    join = "" if spaceless(record.locale) else " "
    heard = plain(record.heard).replace(" ", join)
    names = plain(" ".join(c.name for c in record.payee.candidates) if record.payee else "")
    rules = frozenset(map(unversioned, rules_of(record)))
    replies = frozenset({record.reply or "", *record.doubts}) - {""}
    return _ShownTurn(
        record.locale[:2], heard, plain(record.spoken).replace(" ", join), names, rules, replies, bool(record.models)
    )


def _words(place: str) -> Iterator[str]:
    yield from (part for piece in (place, *place.split(".")) if (part := plain(piece)))


def _holds(turn: _ShownTurn, text: str, part: str) -> bool:
    if turn.language == "ja":
        return part.replace(" ", "") in text
    return f" {part} " in f" {text} "
