"""Logs: one JSON object a line on standard error, with its call's id, redacted before it is written."""

import logging
import sys
from collections.abc import Callable
from contextvars import ContextVar
from datetime import UTC, datetime

import orjson

call_id: ContextVar[str | None] = ContextVar("call_id", default=None)
"""The call that the running task serves."""

MAX_MESSAGE = 2_000
"""Characters of one message."""


class JsonFormatter(logging.Formatter):
    """Formats a record as JSON. Exceptions show their type and place, never their text, which may be personal."""

    def __init__(self, redact: Callable[[str], str]) -> None:
        super().__init__()
        self._redact = redact

    def format(self, record: logging.LogRecord) -> str:
        """The line for one record."""
        line: dict[str, object] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": self._redact(record.getMessage())[:MAX_MESSAGE],
        }
        if call := call_id.get():
            line["call"] = call
        if record.exc_info and record.exc_info[0] is not None:
            line["error"] = record.exc_info[0].__name__
            trace = record.exc_info[2]
            while trace is not None and trace.tb_next is not None:
                trace = trace.tb_next
            if trace is not None:
                line["where"] = f"{trace.tb_frame.f_code.co_filename.rpartition('/')[2]}:{trace.tb_lineno}"
        return orjson.dumps(line).decode()


def configure(level: str, redact: Callable[[str], str]) -> None:
    """Send every logger's records through the formatter, once a process."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter(redact))
    logging.basicConfig(level=level, handlers=[handler], force=True)
    logging.captureWarnings(True)
    for noisy in ("httpx", "httpcore", "openai", "aiosqlite", "faster_whisper", "bm25s"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
    logging.getLogger("uvicorn.error").addFilter(
        lambda record: "without completing handshake" not in record.getMessage()
    )
