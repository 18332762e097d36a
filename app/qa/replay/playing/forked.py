"""Processes of a replay are forked off one of their own, which has imported and compiled what none of them changes.

That one runs no thread and opens no file: what a fork would break is not there.
"""

import multiprocessing
from multiprocessing import forkserver
from multiprocessing.context import BaseContext

_IN_COMMON = ["__main__", "app.qa.replay.playing.common"]


def context() -> BaseContext:
    """How the processes are started."""
    return multiprocessing.get_context("forkserver")


def prepare() -> None:
    """Begin with what they have in common, in the background: some 5 s of processor time, once a process."""
    context().set_forkserver_preload(_IN_COMMON)
    forkserver.ensure_running()
