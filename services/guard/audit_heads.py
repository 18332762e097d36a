"""Where the audit chain's heads go: a file outside the database, and the log, which is shipped elsewhere."""

import logging
import os
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Final

import orjson

from schemas.errors import AuditBroken
from services.guard.audit import Head

log = logging.getLogger("tellerline.audit.head")

LOG_EVERY: Final = 100
"""Every so many records the head is written to the log as well."""
_MAX_LINES: Final = 10_000


class FileHead:
    """Keeps the newest head as one JSON line, replaced atomically. Point several writers at files of their own."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._newest = max((head.seq for head in read_heads(path)), default=0) if path.is_file() else 0

    def publish(self, head: Head, at: datetime) -> None:
        """Write a head that is newer than the file's."""
        if head.seq <= self._newest:
            return
        self._newest = head.seq
        beside = self._path.with_suffix(f".{os.getpid()}")
        line = {"seq": head.seq, "hash": head.hash, "at": at.isoformat()}
        beside.write_bytes(orjson.dumps(line) + b"\n")
        beside.replace(self._path)
        if head.seq % LOG_EVERY == 0:
            log.info("audit head %d %s", head.seq, head.hash)


def read_heads(path: Path) -> Sequence[Head]:
    """The heads of a file, one JSON line each; lines gathered from the log will do. Raises AuditBroken."""
    try:
        lines = [orjson.loads(line) for line in path.read_bytes().splitlines()[:_MAX_LINES] if line.strip()]
        return [Head(int(line["seq"]), str(line["hash"])) for line in lines]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise AuditBroken("the file of exported heads is unreadable") from error
