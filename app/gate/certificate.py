"""A certificate that is renewed while it serves: handshakes from then on get it, and no call ends for it."""

import asyncio
import logging
import os
from collections.abc import Callable
from pathlib import Path
from ssl import SSLContext
from typing import Final

from app.settings.files import pair
from services.disk import on_disk

log = logging.getLogger(__name__)

EVERY_S: Final = 60.0
"""How often its files are looked at."""
_Stamp = tuple[tuple[int, int, int], ...]


class Renewal:
    """Looks at the two files, for ever; `loaded` makes a context of them, and `take` is given each that is new."""

    def __init__(
        self, certificate: Path, key: Path, loaded: Callable[[], SSLContext], take: Callable[[SSLContext], None]
    ) -> None:
        self._files = certificate, key
        self._loaded = loaded
        self._take = take
        self._seen: _Stamp = ()

    async def run(self) -> None:
        """What is no certificate with its key that holds today is told; a look that fails is made again."""
        while True:
            try:
                await on_disk.run(None, self._look)
            except Exception as fault:
                log.exception("the certificate was not looked at: %s", type(fault).__name__)
            await asyncio.sleep(EVERY_S)

    def _look(self) -> None:
        found = self._stamp()
        if not self._seen:
            self._seen = found
        elif found not in {self._seen, ()}:
            if wrong := next(pair(*self._files), None):
                log.error("the certificate that is in use stays: %s", wrong)
            else:
                self._take(self._loaded())  # a context of its own: one that fails halfway is never used
                log.warning("the renewed certificate is in use")
            self._seen = found

    def _stamp(self) -> _Stamp:
        """Which files they are, of when and how long; nothing while one is not there."""
        try:
            return tuple((found.st_ino, found.st_mtime_ns, found.st_size) for found in map(os.stat, self._files))
        except OSError:
            return ()
