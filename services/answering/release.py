"""Which sentences of a streamed answer may be spoken: complete, cited, and stating nothing their passages do not."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from schemas.answer import Citation, SentenceReady
from services.answering.facts import facts_of
from services.answering.knowledge import Passage
from services.answering.thresholds import Release
from services.answering.words import words_of

NO_ANSWER: Final = "NONE"
_CITES: Final = r"(?:\s*\[\d{1,2}\])+"
_END: Final = re.compile(rf"{_CITES}\s*[.!?。！？]+|[.!?。！？]+{_CITES}(?=\s*[^\s\[])|[.!?。！？]+{_CITES}\s*$")
_CITATION: Final = re.compile(r"\s*\[(\d{1,2})\]")
_INNER_END: Final = re.compile(r"(?<![ap]\.m)(?<!\d)[.!?](?=\s+[A-Z])|[。！？]")


class Ungrounded(Exception):
    """A sentence states what its passages do not hold, or cites nothing that was retrieved."""


@dataclass(frozen=True, slots=True)
class CitablePassages:
    """The passages an answer may cite, in the order they were numbered for the model (from 1)."""

    passages: tuple[Passage, ...]
    language: str
    limits: Release

    def check(self, text: str) -> SentenceReady:
        """One cited sentence as it may be spoken. Raises Ungrounded."""
        numbers = list(dict.fromkeys(int(n) for n in _CITATION.findall(text)))
        spoken = _CITATION.sub("", text).strip()
        if not numbers or any(not 1 <= n <= len(self.passages) for n in numbers):
            raise Ungrounded("no citation, or one that was not retrieved")
        if len(spoken) > self.limits.sentence_characters or "[" in spoken or "<" in spoken or "\n" in spoken:
            raise Ungrounded("not a plain sentence")
        if _INNER_END.search(spoken[:-1]):
            raise Ungrounded("a sentence without a citation of its own")
        cited = [self.passages[n - 1] for n in numbers]
        evidence = " ".join(p.text for p in cited)
        if facts_of(self.language).unstated(spoken, evidence):
            raise Ungrounded("a number, day or promise that the passage does not hold")
        if not self._shares(spoken, evidence):
            raise Ungrounded("too few of the passage's words")
        return SentenceReady(spoken, tuple(Citation(p.id, p.title, p.text) for p in cited))

    def _shares(self, spoken: str, evidence: str) -> bool:
        words = words_of(self.language)
        terms = set(words.terms(spoken))
        held = terms & set(words.terms(evidence))
        return bool(terms) and len(held) >= self.limits.shared_terms * len(terms)


class Sentences:
    """Cuts a stream of deltas into cited sentences. Holds at most two sentences' worth of text."""

    def __init__(self, limits: Release) -> None:
        self._bound = 2 * limits.sentence_characters
        self._text = ""

    def feed(self, delta: str) -> Sequence[str]:
        """The sentences that `delta` completes. Raises Ungrounded where no citation comes within the bound."""
        self._text += delta
        done = []
        while found := _END.search(self._text):
            if found.end() == len(self._text) and self._text.rstrip()[-1:] == "]":
                break  # more citations may follow
            done.append(self._text[: found.end()].strip())
            self._text = self._text[found.end() :].lstrip()
        if len(self._text) > self._bound:
            raise Ungrounded("no citation for too long")
        return done

    def finish(self) -> str:
        """What is left at the end of the stream, without surrounding space."""
        rest, self._text = self._text.strip(), ""
        return rest
