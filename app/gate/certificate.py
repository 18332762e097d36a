"""A certificate that is renewed while it serves: handshakes from then on get it, and no call ends for it."""

import asyncio
import logging
import os
from pathlib import Path
from ssl import SSLContext
from typing import Final

from app.settings.files import pair
from services.timing import on_disk

log = logging.getLogger(__name__)

EVERY_S: Final = 60.0
"""How often its files are looked at."""
_Stamp = tuple[tuple[int, int, int], ...]


async def renewing(context: SSLContext, certificate: Path, key: Path) -> None:
    """Take what is new in the two files, for ever; what is no certificate with its key that holds today is told."""
    taken = await on_disk.run(None, _stamp, certificate, key)
    while True:
        await asyncio.sleep(EVERY_S)
        taken = await on_disk.run(None, _look, context, certificate, key, taken)


def _look(context: SSLContext, certificate: Path, key: Path, taken: _Stamp) -> _Stamp:
    """What the files are like now, and what is new of them in use."""
    found = _stamp(certificate, key)
    if found in {taken, ()}:
        return taken
    if wrong := next(pair(certificate, key), None):
        log.error("the certificate that is in use stays: %s", wrong)
        return found
    context.load_cert_chain(certificate, key, password=b"")
    log.warning("the renewed certificate is in use")
    return found


def _stamp(*files: Path) -> _Stamp:
    """Which files they are, of when and how long; nothing while one is not there."""
    try:
        return tuple((found.st_ino, found.st_mtime_ns, found.st_size) for found in map(os.stat, files))
    except OSError:
        return ()
