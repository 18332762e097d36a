"""Replies of which a line tells when they were heard."""

from collections.abc import Awaitable, Callable

from schemas.call import PlaybackIn, PlaybackState
from schemas.turn import ReplyId

Report = Callable[[PlaybackIn], Awaitable[None]]


class Marks:
    """Those that are out; `heard` is told of each that comes back."""

    def __init__(self, heard: Report) -> None:
        self._heard = heard
        self._out: set[str] = set()

    def put(self, name: str) -> None:
        """The line is told to tell of it."""
        self._out.add(name)

    def clear(self) -> None:
        """What is flushed was not heard, whatever comes back."""
        self._out.clear()

    async def played(self, name: str) -> None:
        """A reply was heard to its end; marks that a flush brings back, or that were never set, say nothing."""
        if name in self._out:
            self._out.remove(name)
            await self._heard(PlaybackIn(ReplyId(name), PlaybackState.COMPLETED))
