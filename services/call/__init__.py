"""One live call: audio in, events out. The listener hears turns, the turn handler answers; this joins both."""

from services.call.live import LiveCall
from services.call.outbox import CAPACITY, Outbox
from services.call.ports import CallPorts

__all__ = ["CAPACITY", "CallPorts", "LiveCall", "Outbox"]
