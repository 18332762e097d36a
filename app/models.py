"""The two model endpoints, each only where the settings name it."""

from app.settings import Settings
from services.answering.generate import Endpoint as AnswerEndpoint
from services.answering.generate import GemmaAnswerer
from services.answering.quote import Library
from services.guard.breaker import CircuitBreaker
from services.ports import Clock
from services.understanding.extract import Endpoint as ExtractionEndpoint
from services.understanding.extract import GemmaExtractor


def extractor(settings: Settings, clock: Clock) -> GemmaExtractor | None:
    """The extraction endpoint; the owner closes it."""
    if not settings.extraction_url:
        return None
    key = settings.extraction_key.get_secret_value()
    endpoint = ExtractionEndpoint(
        settings.extraction_url, settings.extraction_model, key, deadline_s=settings.extraction_deadline_s
    )
    return GemmaExtractor(endpoint, CircuitBreaker(clock), clock)


def answerer(settings: Settings, library: Library, clock: Clock) -> GemmaAnswerer | None:
    """The QnA endpoint over the `library`; the owner closes it."""
    if not settings.qna_url:
        return None
    endpoint = AnswerEndpoint(settings.qna_url, settings.qna_model, settings.qna_key.get_secret_value())
    return GemmaAnswerer(endpoint, library, CircuitBreaker(clock), clock)
