"""Where the audit chain's heads go: a file outside the database, and the log, which is shipped elsewhere."""

import logging
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from threading import Lock
from typing import Final

import orjson

from schemas.errors import AuditBroken
from services.disk import locked, write_whole
from services.record.chain import ChainHead

log = logging.getLogger("tellerline.audit.head")

LOG_EVERY: Final = 100
"""At least every so many records the head is written to the log as well."""
_MAX_LINES: Final = 10_000
"""Heads read of a file: the last ones, since each vouches for all records before it."""


class FileHead:
    """Keeps the newest head as one JSON line, replaced atomically. Gateways of one state folder share it."""

    def __init__(self, path: Path) -> None:
        """Raises AuditBroken where the file is unreadable: that alone may be a trace."""
        self._path = path
        self._newest = self._there()
        self._asked: tuple[ChainHead, datetime] | None = None
        self._one_at_a_time = Lock()

    def publish(self, head: ChainHead, at: datetime) -> None:
        """Write a head that is newer than the file's. A disk that fails is logged: the record itself is durable."""
        if self._asked is None or head.seq > self._asked[0].seq:
            self._asked = head, at  # whoever has the disk next writes it, so that nobody waits for it twice
        with self._one_at_a_time:
            head, at = max((head, at), self._asked, key=lambda asked: asked[0].seq)
            before = self._newest
            if head.seq <= before:
                return
            try:
                self._newest = self._written(head, at)
            except (OSError, AuditBroken) as error:
                log.exception("the audit's head could not be exported: %s", type(error).__name__)
        if head.seq // LOG_EVERY > before // LOG_EVERY:
            log.info("audit head %d %s", head.seq, head.hash)

    def _written(self, head: ChainHead, at: datetime) -> int:
        """Write it unless another writer's is newer; the newest there. Raises OSError, AuditBroken."""
        line = orjson.dumps({"seq": head.seq, "hash": head.hash, "at": at.isoformat()}) + b"\n"
        with locked(self._path.with_suffix(".lock")):
            if (there := self._there()) >= head.seq:
                return there
            write_whole(self._path, line)
        return head.seq

    def _there(self) -> int:
        return max(head.seq for head in read_heads(self._path)) if self._path.is_file() else 0


def read_heads(path: Path) -> Sequence[ChainHead]:
    """The last heads of a file, one JSON line each; lines gathered from the log will do.

    Raises AuditBroken, also where there is none: none is written without one.
    """
    try:
        lines = [orjson.loads(line) for line in path.read_bytes().splitlines()[-_MAX_LINES:] if line.strip()]
        heads = [ChainHead(int(line["seq"]), str(line["hash"])) for line in lines]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise AuditBroken("the file of exported heads is unreadable") from error
    if not heads:
        raise AuditBroken("the file of exported heads is empty")
    return heads
