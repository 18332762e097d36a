"""Sentences with what is meant by them, and how the fast path takes each of them at the start of a call.

A file of tests/data/understanding holds sentences by label: an intent, `ambiguous` (to be asked about, never done) or
`other` (nothing of ours). `a|b` accepts both; words after ` => ` are the slots that must not come out otherwise.
"""

import zlib
from collections.abc import Iterator
from dataclasses import dataclass, fields
from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import Final

import yaml
from pydantic import BaseModel, ConfigDict

from deploy.bench.cases.player import ConversationPlayer
from rules.locales import locale_rules
from schemas.decision import Decision, DecisionKind
from schemas.intent import Intent, Route, Slot, Slots, Understood
from schemas.money import exponent
from schemas.span import MoneyValue
from schemas.transcript import Transcript
from services.dialogue import DialogueState, Facts, UserUtterance, decide
from tests.fakes.desk import FakeDesk

UNSEEN: Final = 4
"""One sentence in so many, by its checksum, is not listed by default, so that
the grammar is mended without it."""
OTHER: Final = "other"
AMBIGUOUS: Final = "ambiguous"
_ACTING: Final = frozenset({DecisionKind.EXECUTE, DecisionKind.CONFIRM})
_ACTS: Final = frozenset(
    {
        Intent.CONFIRM,
        Intent.DENY,
        Intent.CANCEL,
        Intent.REPEAT,
        Intent.HELP,
        Intent.START_OVER,
        Intent.WAIT,
        Intent.FAREWELL,
    }
)


class SentenceOutcome(StrEnum):
    """What became of a sentence: `WRONG` is the one that costs."""

    RIGHT = "right"
    WRONG = "wrong"
    HANDED_ON = "handed on"  # to extraction or to the documents
    UNTAKEN = "untaken"  # not understood: asked again


class LabelledFile(BaseModel):
    """One language's sentences, and the demo customer who says them."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    version: int
    customer: str
    sentences: dict[str, str]


@dataclass(frozen=True, slots=True)
class Labelled:
    """A sentence, the labels that are right for it, and its slots as written."""

    text: str
    labels: tuple[str, ...]
    slots: dict[str, str]
    unseen: bool


@dataclass(frozen=True, slots=True)
class JudgedSentence:
    """What a sentence came to; `why` says what is wrong."""

    sentence: Labelled
    outcome: SentenceOutcome
    why: str = ""


def labelled(path: Path) -> tuple[str, list[Labelled]]:
    """The customer and the sentences of a file. Raises OSError, pydantic's ValidationError."""
    file = LabelledFile.model_validate(yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader))
    return file.customer, [s for label, lines in file.sentences.items() for s in _sentences(label, lines)]


def _sentences(label: str, lines: str) -> Iterator[Labelled]:
    for line in lines.splitlines():
        text, _, given = line.partition(" => ")
        slots = dict(pair.split("=", 1) for pair in given.split())
        yield Labelled(text, tuple(label.split("|")), slots, zlib.crc32(text.encode()) % UNSEEN == 0)


class Judge:
    """Hears sentences as the first words of a call by one customer."""

    def __init__(self, player: ConversationPlayer, customer: str) -> None:
        self._player = player
        self._facts: Facts = player.facts(FakeDesk.of(customer))
        self._currency = locale_rules(player.locale).currency

    def judge(self, sentence: Labelled) -> JudgedSentence:
        """What `sentence` came to."""
        understood, decision = self.hear(sentence.text)
        outcome, why = _judge(sentence, understood, decision, self._currency)
        return JudgedSentence(sentence, outcome, why)

    def hear(self, text: str) -> tuple[Understood, Decision]:
        """What `text` means, and what is decided about it."""
        state = DialogueState()
        understood = self._player.understand(Transcript.typed(text, self._player.locale), state, self._facts)
        _, decision = decide(state, UserUtterance(text, understood), self._facts)
        return understood, decision


def _judge(
    sentence: Labelled, understood: Understood, decision: Decision, currency: str
) -> tuple[SentenceOutcome, str]:
    intent = understood.intent
    if AMBIGUOUS in sentence.labels:
        done = decision.kind in _ACTING
        return (SentenceOutcome.WRONG, f"{decision.kind} {intent}") if done else (SentenceOutcome.RIGHT, "")
    if understood.route in {Route.QNA, Route.EXTRACT}:
        right = understood.route is Route.QNA and Intent.QNA in sentence.labels
        why = f"{understood.route}, {', '.join(understood.vetoes) or intent or 'no guess'}"
        return SentenceOutcome.RIGHT if right else SentenceOutcome.HANDED_ON, why
    if intent is None:
        return SentenceOutcome.UNTAKEN, ", ".join(understood.vetoes)
    if intent not in (_ACTS if OTHER in sentence.labels else sentence.labels):
        return SentenceOutcome.WRONG, f"{intent} by {understood.rule}"
    found = filled(understood.slots, currency)
    differing = [f"{name} {found[name]}" for name, value in sentence.slots.items() if found.get(name, value) != value]
    return (SentenceOutcome.WRONG, ", ".join(differing)) if differing else (SentenceOutcome.RIGHT, "")


def filled(slots: Slots, currency: str) -> dict[str, str]:
    """The slots that hold something, as the files write them: amounts in major units of `currency` if none was said."""
    found = ((f.name, getattr(slots, f.name)) for f in fields(slots))
    return {name: _shown(slot, currency) for name, slot in found if slot is not None}


def _shown(slot: Slot[object], currency: str) -> str:
    if not isinstance(slot.value, MoneyValue):
        return str(slot.value)
    shown = str(Decimal(slot.value.amount_minor).scaleb(-exponent(slot.value.currency or currency)))
    return shown.removesuffix(".00")
