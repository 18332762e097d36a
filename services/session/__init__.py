"""One call's dialogue: who is calling, where the conversation stands, and which reply carries what of it."""

from services.session.extraction import ExtractionStage
from services.session.session import IRREVOCABLE, Caller, DialogueSession

__all__ = ["IRREVOCABLE", "Caller", "DialogueSession", "ExtractionStage"]
