"""How long an answer may take, over all the steps that lead to it."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

ANSWER_S: Final = 3.6
"""Within this, a request has come to its words; the rest of 5 s is for hearing a turn out, the wire, a busy machine."""

_until: ContextVar[float | None] = ContextVar("until", default=None)


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """A block, and every task begun in it, has so long in all; an earlier end that is already set stays."""
    end = time.monotonic() + seconds
    before = _until.get()
    token = _until.set(end if before is None else min(before, end))
    try:
        yield
    finally:
        _until.reset(token)


def left(most: float) -> float:
    """Seconds that one step may take, `most` at the most; never below 0."""
    until = _until.get()
    return most if until is None else max(0.0, min(most, until - time.monotonic()))


@contextmanager
def unbounded() -> Iterator[None]:
    """A block, and every task begun in it, has as long as it takes: nobody waits for it."""
    token = _until.set(None)
    try:
        yield
    finally:
        _until.reset(token)
