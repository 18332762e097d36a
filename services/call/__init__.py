"""One live call: audio in, events out. The listener hears turns, the turn handler answers; this joins both."""

from services.call.live import CallPorts, LiveCall
from services.call.outbox import Outbox

__all__ = ["CallPorts", "LiveCall", "Outbox"]
