"""`Said`: what was heard, and by what a reader may look at it again; handed from reader to reader as one value."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from typing import Any

from schemas.consent import NO_TERMS
from schemas.ids import language
from schemas.intent import COUNTED, MONEY_MOVING, TOLD_ALONE, Annotation, Context, Understood
from schemas.payee import FindPayee, PayeeMatch
from services.understanding.fast.patterns.units import Units
from services.understanding.fast.ruleset.grammar import Grammar, grammar
from services.understanding.fast.words.hearing import Hearing

Look = Callable[[int, int, Context], Understood]
"""What the part of the text from one code point to another means in a context."""

Again = Callable[[str], Understood]
"""What another text means in the same context."""

Order = Callable[[int], Understood]
"""What the text up to a code point orders."""

Find = Callable[[str], PayeeMatch | None]
"""Who is named in a text as long as the utterance, of which parts may be blank."""


@dataclass(frozen=True, eq=False)
class Said:
    """What was heard in which context, and by what a reader may look at a part of it, at other words, or for a name."""

    heard: Annotation
    context: Context
    today: date
    look: Look
    again: Again
    order: Order
    find: Find
    called: FindPayee
    names: frozenset[str]
    """Every word of every name in the book."""

    @cached_property
    def rules(self) -> Grammar:
        """The rules of its language."""
        return grammar(language(self.heard.transcript.locale))

    @cached_property
    def made(self) -> dict[type, Any]:
        """What readers have made of it, by its class: for all of them one."""
        return {}

    @cached_property
    def text(self) -> str:
        """The transcript."""
        return self.heard.transcript.text

    @property
    def paused(self) -> str:
        """The same with a mark for each space, which is a pause in a language without spaces."""
        return self.text if self.rules.spaced else self.text.replace(" ", "、")

    @cached_property
    def units(self) -> Units:
        """Its words, or characters."""
        return self.rules.units(self.text)

    @cached_property
    def hearing(self) -> Hearing:
        """The same as it can be read."""
        return Hearing.by(self.rules, self.heard, self.context)

    @cached_property
    def naming(self) -> Hearing:
        """The same, for who asks about names as well."""
        return Hearing.by(self.rules, self.heard, self.context, self.called)

    def part(self, start: int, end: int) -> Understood | None:
        """What a part says about money by itself: as a command where it is one, else as an answer to a read-back."""
        best: Understood | None = None
        for each in (self._alone, self._answering):
            found = self.look(start, end, each)
            if found.rule is None:
                continue
            if found.intent in MONEY_MOVING:
                return found
            if found.intent in COUNTED:
                best = best or found
        return best

    def told(self, start: int, end: int) -> Understood | None:
        """The same, where it is no command: most parts answer nothing, and are not read as one then."""
        answer = self.look(start, end, self._answering)
        found = self.part(start, end) if answer.rule is not None and answer.intent in TOLD_ALONE else None
        return found if found is not None and found.intent in TOLD_ALONE else None

    @cached_property
    def _alone(self) -> Context:
        """The context of a part: a yes in it agrees to nothing."""
        return self.context if self.context.terms == NO_TERMS else replace(self.context, terms=NO_TERMS)

    @cached_property
    def _answering(self) -> Context:
        return replace(self._alone, confirming=True)
