"""The end of the process, which no thread that waits for ever puts off."""

import logging
import os
import threading
from typing import Final

log = logging.getLogger(__name__)

LEAVING_S: Final = 15.0
"""So long what was begun may take to end, once the last call is over."""


def end_soon(within_s: float = LEAVING_S) -> None:
    """The process ends within that time even where a disk keeps threads for ever, which Python would wait for."""
    leaving = threading.Timer(within_s, _end)
    leaving.daemon = True
    leaving.start()


def _end() -> None:
    log.error("a disk or a database does not let go: what was begun is settled after the next start")
    logging.shutdown()
    os._exit(0)
