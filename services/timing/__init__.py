"""Clocks, deadlines, and work that must end once begun."""

from services.timing.clock import ManualClock, SystemClock
from services.timing.deadline import ANSWER_S, LEAST_S, AnswerTime, asked, left, unbounded, within
from services.timing.finish import finish

__all__ = [
    "ANSWER_S",
    "LEAST_S",
    "AnswerTime",
    "ManualClock",
    "SystemClock",
    "asked",
    "finish",
    "left",
    "unbounded",
    "within",
]
