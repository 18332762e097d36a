"""Clocks, deadlines, work that must end once begun, and disks that may not answer."""

from services.timing.clock import ManualClock, SystemClock
from services.timing.deadline import ANSWER_S, LEAST_S, AnswerTime, asked, left, unbounded, within
from services.timing.disk import DISK_S, DiskThreads, on_disk
from services.timing.finish import finish
from services.timing.steady import TOLERATED_S, Steadiness

__all__ = [
    "ANSWER_S",
    "DISK_S",
    "LEAST_S",
    "TOLERATED_S",
    "AnswerTime",
    "DiskThreads",
    "ManualClock",
    "Steadiness",
    "SystemClock",
    "asked",
    "finish",
    "left",
    "on_disk",
    "unbounded",
    "within",
]
