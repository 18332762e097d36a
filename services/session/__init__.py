"""One call's dialogue: who is calling, where the conversation stands, and which reply carries what of it."""

from services.session.session import Caller, DialogueSession

__all__ = ["Caller", "DialogueSession"]
