"""What is put on record of a call."""

from services.record.recorder import TurnRecorder
from services.record.trace import TurnTrace

__all__ = ["TurnRecorder", "TurnTrace"]
