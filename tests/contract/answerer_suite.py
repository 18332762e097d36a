"""What every Answerer must keep to, with a model or without, whatever the model says."""

from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, field

from schemas.answer import AnswerDone, AnswerEvent, Question, Refused, SentenceReady, Sources
from schemas.ids import CustomerId, Locale, language
from services.answering.facts import facts_of
from services.ports import Answerer

CUSTOMER = CustomerId("c-1")
REASONS = {"weak_evidence", "ungrounded", "model", "empty"}


@dataclass
class Answered:
    """An answer's events, sorted."""

    sources: Sources | None = None
    sentences: list[SentenceReady] = field(default_factory=list)
    refused: Refused | None = None
    done: AnswerDone | None = None

    @property
    def text(self) -> str:
        return " ".join(s.text for s in self.sentences)


async def collect(events: AsyncIterator[AnswerEvent]) -> Answered:
    """All events; asserts their order: sources, then sentences or a refusal, then exactly one end."""
    got = Answered()
    async for event in events:
        assert got.done is None, "nothing comes after the end"
        if isinstance(event, Sources):
            assert got.sources is None
            assert not got.sentences
            got.sources = event
        elif isinstance(event, SentenceReady):
            assert got.sources is not None
            assert got.refused is None
            got.sentences.append(event)
        elif isinstance(event, Refused):
            assert got.refused is None
            got.refused = event
        else:
            got.done = event
    assert got.done is not None
    return got


def check(got: Answered, locale: Locale) -> None:
    """Every sentence is cited from the sources and states only their facts; stamps are in order."""
    done = got.done
    assert done is not None
    assert bool(got.sentences) != bool(got.refused) or (got.sentences and got.refused is None)
    if got.refused:
        assert got.refused.reason in REASONS
    offered = {c.passage for c in got.sources.citations} if got.sources else set()
    for sentence in got.sentences:
        assert sentence.citations
        assert {c.passage for c in sentence.citations} <= offered
        evidence = " ".join(c.text for c in sentence.citations)
        assert not facts_of(language(locale)).unstated(sentence.text, evidence)
    assert 0 <= done.retrieve_ms <= done.total_ms
    if got.sentences:
        assert done.first_sentence_ms is not None
        assert (done.first_token_ms or 0) <= done.first_sentence_ms <= done.total_ms


async def ask(answerer: Answerer, text: str, locale: Locale) -> Answered:
    """One question, checked."""
    got = await collect(answerer.answer(CUSTOMER, Question(text, locale)))
    check(got, locale)
    return got


async def invents_nothing(answerer: Answerer, questions: Iterable[tuple[str, Locale]]) -> dict[str, int]:
    """Many questions, checked; how each ended."""
    ends = {"answered": 0, "refused": 0}
    for text, locale in questions:
        got = await ask(answerer, text, locale)
        ends["refused" if got.refused else "answered"] += 1
    return ends
