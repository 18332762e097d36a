"""What answers by a model, each only where the settings name it (a client is half a second's import), and from what."""

from contextlib import AsyncExitStack

from app.settings import Environment, Settings
from services.answering.knowledge import Passage, load_passages
from services.answering.quote import Library
from services.guard.breaker import CircuitBreaker
from services.ports import Answerer, Clock, Extractor


def extractor(stack: AsyncExitStack, settings: Settings, clock: Clock) -> Extractor | None:
    """The extraction endpoint; `stack` closes it."""
    if not settings.extraction_url:
        return None
    from services.understanding.extraction.extract import ExtractionEndpoint, GemmaExtractor

    key = settings.extraction_key.get_secret_value()
    endpoint = ExtractionEndpoint(
        settings.extraction_url, settings.extraction_model, key, deadline_s=settings.extraction_deadline_s
    )
    made = GemmaExtractor(endpoint, CircuitBreaker(clock), clock)
    stack.push_async_callback(made.close)
    return made


def answerer(stack: AsyncExitStack, settings: Settings, library: Library, clock: Clock) -> Answerer | None:
    """The QnA endpoint over the `library`; `stack` closes it."""
    if not settings.qna_url:
        return None
    from services.answering.generate import AnswerEndpoint, GemmaAnswerer

    endpoint = AnswerEndpoint(settings.qna_url, settings.qna_model, settings.qna_key.get_secret_value())
    made = GemmaAnswerer(endpoint, library, CircuitBreaker(clock), clock)
    stack.push_async_callback(made.close)
    return made


def passages(settings: Settings) -> tuple[Passage, ...]:
    """The bank's own documents; the demo's only in the demo, so that no caller of a real bank hears a fictional fee."""
    if settings.knowledge_dir is not None:
        return load_passages(settings.knowledge_dir)
    return load_passages() if settings.environment is Environment.DEMO else ()
