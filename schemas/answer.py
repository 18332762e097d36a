"""Open questions and the events of an answer."""

from dataclasses import dataclass

from schemas.ids import Locale


@dataclass(frozen=True, slots=True)
class Question:
    """An open question in the caller's words, ≤ 400 characters. `product` narrows the search, if it is known.

    `zone` is the caller's: documents are in force by the day there. `about` is what was asked before: "and on Sundays?"
    """

    text: str
    locale: Locale
    product: str = ""
    zone: str = "UTC"
    about: str = ""


@dataclass(frozen=True, slots=True)
class Citation:
    """Where a sentence comes from: a passage id, its document's speakable title, and the passage."""

    passage: str
    title: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class Sources:
    """What was retrieved, best first."""

    citations: tuple[Citation, ...]


@dataclass(frozen=True, slots=True)
class SentenceReady:
    """A sentence that may be spoken: cited, its numbers and dates found in the cited passages."""

    text: str
    citations: tuple[Citation, ...]


@dataclass(frozen=True, slots=True)
class Refused:
    """No answer: `reason` is weak_evidence, no_documents, ungrounded, model or empty.

    model: it was asked and found no answer; where it is absent or broken, the best passage is quoted instead.
    """

    reason: str


@dataclass(frozen=True, slots=True)
class AnswerDone:
    """The end, with the stamps of the parts in milliseconds from the question.

    `generated_ms`: when the model's first token came, whether it had visible text (`first_token_ms`) or none.
    """

    retrieve_ms: float = 0.0
    first_token_ms: float | None = None
    first_sentence_ms: float | None = None
    total_ms: float = 0.0
    model: str = ""
    generated_ms: float | None = None


AnswerEvent = Sources | SentenceReady | Refused | AnswerDone
