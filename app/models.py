"""The two model endpoints, each only where the settings name it: their client is half a second's import."""

from typing import TYPE_CHECKING

from app.settings import Settings
from services.answering.quote import Library
from services.guard.breaker import CircuitBreaker
from services.ports import Clock

if TYPE_CHECKING:
    from services.answering.generate import GemmaAnswerer
    from services.understanding.extract import GemmaExtractor


def extractor(settings: Settings, clock: Clock) -> "GemmaExtractor | None":
    """The extraction endpoint; the owner closes it."""
    if not settings.extraction_url:
        return None
    from services.understanding.extract import Endpoint, GemmaExtractor

    key = settings.extraction_key.get_secret_value()
    endpoint = Endpoint(
        settings.extraction_url, settings.extraction_model, key, deadline_s=settings.extraction_deadline_s
    )
    return GemmaExtractor(endpoint, CircuitBreaker(clock), clock)


def answerer(settings: Settings, library: Library, clock: Clock) -> "GemmaAnswerer | None":
    """The QnA endpoint over the `library`; the owner closes it."""
    if not settings.qna_url:
        return None
    from services.answering.generate import Endpoint, GemmaAnswerer

    endpoint = Endpoint(settings.qna_url, settings.qna_model, settings.qna_key.get_secret_value())
    return GemmaAnswerer(endpoint, library, CircuitBreaker(clock), clock)
