"""One live call: audio in, events out. The listener hears turns, the turn handler answers; this joins both."""

from services.call.at_leisure import decoded
from services.call.live import LiveCall
from services.call.outbound import CAPACITY, OutboundQueue
from services.call.ports import CallPorts

__all__ = ["CAPACITY", "CallPorts", "LiveCall", "OutboundQueue", "decoded"]
