"""How long an answer may take, over all the steps that lead to it."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

ANSWER_S: Final = 3.6
"""Within this, a request has come to its words; the rest of 5 s is for hearing a turn out, the wire, a busy machine."""

LEAST_S: Final = 1.0
"""So long a step may take even where the answer's time is over: a database that is well needs a part of it."""

_until: ContextVar[float | None] = ContextVar("until", default=None)
_asked: ContextVar[float | None] = ContextVar("asked", default=None)


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
def asked(moment: float) -> Iterator[None]:
    """A block, and every task begun in it, answers what was asked at `moment` (time.monotonic): it may have waited."""
    token = _asked.set(moment)
    try:
        yield
    finally:
        _asked.reset(token)


class AnswerTime:
    """What all the steps of one answer may take together, whatever had to end before they could begin."""

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """An answer begins, to what was asked when `asked` says."""
        now = time.monotonic()
        self._end = min(_asked.get() or now, now) + ANSWER_S

    def left(self, least: float = LEAST_S) -> float:
        """Seconds for the next step, `least` at the least."""
        return max(least, self._end - time.monotonic())

    @contextmanager
    def paused(self) -> Iterator[None]:
        """A block in which the caller may still go on: nobody waits for an answer."""
        began = time.monotonic()
        try:
            yield
        finally:
            self._end += time.monotonic() - began


@contextmanager
def unbounded() -> Iterator[None]:
    """A block, and every task begun in it, has as long as it takes: nobody waits for it."""
    token = _until.set(None)
    try:
        yield
    finally:
        _until.reset(token)
