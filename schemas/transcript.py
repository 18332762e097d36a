"""Transcripts: what the recogniser heard, with its alternatives."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum

from schemas.ids import Locale

PUNCTUATION = re.compile(r"[.,!?;:…。、！？]+")


class Source(StrEnum):
    """How an utterance reached us. Typed and keyed input share the turn logic with speech."""

    SPEECH = "speech"
    TYPED = "typed"
    DTMF = "dtmf"


class Decode(IntEnum):
    """What sound is decoded for, the most urgent first."""

    CONFIRMING = 0  # all that was said, which may answer a read-back
    FINAL = 1  # all that was said
    PARTIAL = 2  # what was said so far

    @property
    def final(self) -> bool:
        """Whether it is of all that was said."""
        return self is not Decode.PARTIAL


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """One entry of an n-best list. `avg_logprob` is natural-log probability a token, ≤ 0."""

    text: str
    avg_logprob: float


@dataclass(frozen=True, slots=True)
class Onward:
    """Natural-log probabilities of what may follow an utterance's last word, rather than its end."""

    comma: float
    word: float


@dataclass(frozen=True, slots=True)
class Transcript:
    """An utterance as text. `hypotheses[0].text == text`; typed text has one hypothesis of log-probability 0."""

    text: str
    locale: Locale
    hypotheses: tuple[Hypothesis, ...]
    no_speech_prob: float = 0.0
    source: Source = Source.SPEECH
    decode_ms: float = 0.0
    whole: bool = True
    """Whether no voice was heard that the words leave out; what can't be undone needs all of them."""
    named: bool = False
    """Whether the name in the words was told by its sound, of all that may be meant."""
    unweighed: bool = field(default=False, compare=False)
    """Whether the names in it were to be weighed by their sound, and that failed."""
    decodes: tuple[int, ...] = field(default=(), compare=False)
    """What it was decoded from, as whoever keeps the sound has numbered it."""

    @property
    def alternatives(self) -> tuple[str, ...]:
        """The other hypotheses' texts, best first."""
        return tuple(h.text for h in self.hypotheses[1:])

    @property
    def avg_logprob(self) -> float:
        """The best hypothesis' log-probability a token."""
        return self.hypotheses[0].avg_logprob if self.hypotheses else 0.0

    @classmethod
    def typed(
        cls, text: str, locale: Locale, alternatives: tuple[str, ...] = (), source: Source = Source.TYPED
    ) -> "Transcript":
        """A transcript of text that no recogniser produced."""
        best = (text, *alternatives)
        return cls(text, locale, tuple(Hypothesis(t, 0.0) for t in best), source=source)


Wordings = Callable[[Transcript], tuple[str, ...]]
"""What may have been said instead of a transcript's words: other names in place of the one heard."""
