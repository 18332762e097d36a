"""Clocks, deadlines, and work that must end once begun."""

from services.timing.clock import ManualClock, SystemClock
from services.timing.deadline import ANSWER_S, LEAST_S, AnswerTime, asked, left, unbounded, within
from services.timing.finish import finish
from services.timing.steady import TOLERATED_S, Steadiness

__all__ = [
    "ANSWER_S",
    "LEAST_S",
    "TOLERATED_S",
    "AnswerTime",
    "ManualClock",
    "Steadiness",
    "SystemClock",
    "asked",
    "finish",
    "left",
    "unbounded",
    "within",
]
