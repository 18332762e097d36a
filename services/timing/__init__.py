"""Clocks, deadlines, work that must end once begun, disks that may not answer, and files that are whole."""

from services.timing.clock import ManualClock, SystemClock
from services.timing.deadline import ANSWER_S, LEAST_S, AnswerTime, asked, left, unbounded, within
from services.timing.disk import DISK_S, DiskThreads, on_disk
from services.timing.finish import finish
from services.timing.locked import locked
from services.timing.steady import TOLERATED_S, Steadiness
from services.timing.whole import OWNERS, beside, sync_folder, write_whole

__all__ = [
    "ANSWER_S",
    "DISK_S",
    "LEAST_S",
    "OWNERS",
    "TOLERATED_S",
    "AnswerTime",
    "DiskThreads",
    "ManualClock",
    "Steadiness",
    "SystemClock",
    "asked",
    "beside",
    "finish",
    "left",
    "locked",
    "on_disk",
    "sync_folder",
    "unbounded",
    "within",
    "write_whole",
]
