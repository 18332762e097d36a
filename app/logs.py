"""Logs: one JSON object a line on standard error, with its call's id, redacted before it is written."""

import logging
import sys
from collections.abc import Callable
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Final

import orjson

call_id: ContextVar[str | None] = ContextVar("call_id", default=None)
"""The call that the running task serves."""

MAX_MESSAGE: Final = 2_000
"""Characters of one message."""
OURS: Final = ("app", "rules", "schemas", "services", "tellerline")
"""The roots of our own loggers."""
CLIENTS_DOING: Final = (
    "without completing handshake",
    "Invalid UTF-8",
    "Invalid HTTP request",
    "Unsupported upgrade",
    '"WebSocket %s"',
)
"""What uvicorn says of clients alone, by its messages; some repeat the path and query that a client asked for."""


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
            "message": self._redact(_message(record))[:MAX_MESSAGE],
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


def _message(record: logging.LogRecord) -> str:
    """The message; of asyncio's only its first line, since the others show tasks and what they failed of."""
    said = record.getMessage()
    return said.partition("\n")[0] if record.name == "asyncio" else said


def configure(level: str, redact: Callable[[str], str]) -> None:
    """Send every logger's records through the formatter, once a process.

    Only our own loggers follow `level`: what libraries say below WARNING repeats frames, statements and requests.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter(redact))
    least = max(logging.WARNING, logging.getLevelNamesMapping()[level])
    logging.basicConfig(level=least, handlers=[handler], force=True)
    logging.captureWarnings(True)
    for name in OURS:
        logging.getLogger(name).setLevel(level)
    server = logging.getLogger("uvicorn.error")
    server.setLevel(max(logging.INFO, logging.getLevelNamesMapping()[level]))
    server.addFilter(worth_a_line)


def worth_a_line(record: logging.LogRecord) -> bool:
    """Whether a record of the server's is more than what a client can cause at will, and partly word."""
    return not any(phrase in str(record.msg) for phrase in CLIENTS_DOING)
