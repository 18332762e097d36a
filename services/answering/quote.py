"""Retrieval, the decision to answer at all, and the answer without a model: the passage itself, quoted."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from rules.act import zone
from schemas.answer import AnswerDone, AnswerEvent, Citation, Question, Refused, SentenceReady, Sources
from schemas.ids import CustomerId, language
from services.answering.knowledge import Passage, load_passages
from services.answering.release import CitablePassages
from services.answering.retrieve import RetrievalResult, Retriever
from services.answering.thresholds import Thresholds, thresholds
from services.ports import Clock

MAX_QUESTION: Final = 400
CANDIDATES: Final = 4


def citation(passage: Passage) -> Citation:
    """A passage as it is cited."""
    return Citation(passage.id, passage.title, passage.text)


@dataclass(frozen=True, slots=True)
class Library:
    """The passages, their search and the thresholds. Loaded once; safe to share between calls."""

    retriever: Retriever
    limits: Thresholds

    @classmethod
    def load(cls, passages: Sequence[Passage] | None = None) -> "Library":
        """The demo bank's documents, or `passages`. Raises RulesInvalid."""
        return cls(Retriever(load_passages() if passages is None else passages), thresholds())

    def find(self, question: Question, clock: Clock) -> RetrievalResult:
        """The passages in force that may answer `question`, by the day that it is for who asks."""
        bounded = replace(question, text=question.text[:MAX_QUESTION], about=question.about[:MAX_QUESTION])
        k = max(CANDIDATES, self.limits.context.passages)
        return self.retriever.search(bounded, clock.now().astimezone(zone(question.zone)).date(), k)

    def meant(self, question: Question, clock: Clock) -> Question:
        """The question, with the one before it only where documents answer the two as one."""
        leans = question.about and self.limits.evidence.strong(self.find(question, clock))
        return question if leans else replace(question, about="")

    def refusal(self, question: Question, found: RetrievalResult) -> Refused | None:
        """Why nothing may be answered, or None."""
        if not question.text.strip():
            return Refused("empty")
        if not self.retriever.reads(question.locale):
            return Refused("no_documents")
        return None if self.limits.evidence.strong(found) else Refused("weak_evidence")

    def answers(self, question: Question, clock: Clock) -> bool:
        """Whether what is found for `question` is strong enough to be answered from."""
        return self.refusal(question, self.find(question, clock)) is None

    def citable(self, question: Question, found: RetrievalResult) -> CitablePassages:
        """The passages given to a model: best first, capped in number and in characters."""
        kept: list[Passage] = []
        room = self.limits.context.characters
        for hit in found.hits[: self.limits.context.passages]:
            if kept and len(hit.passage.text) > room:
                break
            kept.append(hit.passage)
            room -= len(hit.passage.text)
        return CitablePassages(tuple(kept), language(question.locale), self.limits.release)

    def quotes(self, found: RetrievalResult) -> tuple[SentenceReady, ...]:
        """The best passage as it is written, and the next one too where the search can't tell them apart."""
        near = [hit for hit in found.hits if hit.score >= self.limits.quote.near * found.score]
        chosen = near[: self.limits.quote.passages]
        return tuple(SentenceReady(hit.passage.text, (citation(hit.passage),)) for hit in chosen)


class QuotingAnswerer:
    """`Answerer` without a model."""

    def __init__(self, library: Library, clock: Clock) -> None:
        self._library = library
        self._clock = clock

    async def answer(self, customer: CustomerId, question: Question) -> AsyncIterator[AnswerEvent]:  # noqa: ARG002 - the port's signature
        """Sources, the quoted passages and the end; or a refusal and the end."""
        started = self._clock.monotonic()
        question = self._library.meant(question, self._clock)
        found = self._library.find(question, self._clock)
        retrieve_ms = (self._clock.monotonic() - started) * 1000
        refused = self._library.refusal(question, found)
        if refused:
            yield refused
            yield AnswerDone(retrieve_ms, total_ms=(self._clock.monotonic() - started) * 1000)
            return
        yield Sources(tuple(citation(hit.passage) for hit in found.hits))
        first_ms = (self._clock.monotonic() - started) * 1000
        for sentence in self._library.quotes(found):
            yield sentence
        yield AnswerDone(retrieve_ms, None, first_ms, (self._clock.monotonic() - started) * 1000)
