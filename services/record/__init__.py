"""What is put on record of a call."""

from services.record.recorder import TurnRecorder
from services.record.spool import BROKEN, Spool
from services.record.spools import Spools
from services.record.trace import TurnTrace

__all__ = ["BROKEN", "Spool", "Spools", "TurnRecorder", "TurnTrace"]
