"""Who need not wait among newcomers, most of whom are told no: a customer whose token holds, so many times a minute."""

import re
import time
from asyncio import AbstractEventLoop
from collections.abc import Callable
from typing import Final

from app.gate.lobby import Turns
from schemas.errors import RateLimited
from services.guard.shares import Rate

SHARE_S: Final = 0.05
"""Processor time a second for looking at tokens before their turn, some 300 of them; past it all wait alike."""
A_MINUTE: Final = 30.0
"""A customer's connections that go before others; ten at once."""
HEAD_END: Final = b"\r\n\r\n"
_TOKEN: Final = re.compile(
    rb"\r\n(?:authorization:[ \t]*bearer[ \t]+|sec-websocket-protocol:[^\r\n]*?tellerline\.bearer\.)([\w.-]+)",
    re.IGNORECASE,
)

Subject = Callable[[str], str | None]
"""Whose token it is, by its signature and its claims; null where it does not hold. Waits for nothing."""


class Vouching:
    """One server's. It lets nobody in: who goes first is asked for a credential like all others."""

    def __init__(self, loop: AbstractEventLoop, subject: Subject | None) -> None:
        self._subject = subject
        self._allowance = Turns(loop, SHARE_S, SHARE_S)
        self._first = Rate(A_MINUTE, loop.time)

    def goes_first(self, head: bytes | bytearray) -> bool:
        """Whether a customer of ours sent this whole head, and has not gone first too often."""
        found = _TOKEN.search(head)
        if self._subject is None or found is None or self._allowance.in_debt:
            return False
        began = time.thread_time()
        who = self._subject(found[1].decode("ascii"))
        self._allowance.charge(time.thread_time() - began)
        if who is None:
            return False
        try:
            self._first.take(who)
        except RateLimited:
            return False
        return True
