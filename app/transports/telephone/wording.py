"""A telephone call's replies as words, for a line that speaks them itself: what `Speaking` is for sound.

A reply counts once the line says that it has spoken all of it; the clock says nothing about another's voice.
"""

import asyncio

from app.transports.telephone.line import CallTransport, Press, Say
from app.transports.telephone.marks import Marks, Report
from app.transports.telephone.speaking import Send
from schemas.call import (
    CallEvent,
    Configured,
    ReplyBegan,
    ReplyCut,
    ReplyEnded,
    ReplyProgress,
    ReplyStatus,
)
from schemas.ids import Locale
from schemas.turn import HandedOff, ReplyId, ReplyText


class Wording:
    """One call's, in `locale` until its settings change. `act` does what is asked; `heard` is told of whole replies."""

    def __init__(
        self, transport: CallTransport, say: Say, press: Press, locale: Locale, act: Send, heard: Report
    ) -> None:
        self.handed: HandedOff | None = None
        self._transport = transport
        self._say = say
        self._press = press
        self._locale = locale
        self._act = act
        self._reply: ReplyId | None = None
        self._given = False
        self._marks = Marks(heard)

    async def told(self, event: CallEvent) -> None:
        """What the call says. Raises SlowConsumer."""
        match event:
            case Configured(config):
                self._locale = config.locale
            case ReplyBegan(reply):
                self._reply, self._given = reply, False
            case ReplyProgress(reply, ReplyText(text)) if reply == self._reply:
                self._given = True
                for word in self._say(text, self._locale):
                    await self._act(word)
            case ReplyEnded(reply, ReplyStatus.COMPLETED) if reply == self._reply:
                await self._mark(reply)
            case ReplyCut() | ReplyEnded(_, ReplyStatus.CANCELLED | ReplyStatus.FAILED):
                await self._flush()
            case ReplyProgress(_, HandedOff() as handed):
                self.handed = handed

    def hold(self, on: bool) -> None:
        """What is said meanwhile is the line's own business."""

    async def played(self, mark: str) -> None:
        """The line told of a mark."""
        await self._marks.played(mark)

    async def press(self, keys: str) -> None:
        """Press keys, by the line's own word."""
        for word in self._press(keys):
            await self._act(word)

    async def play(self) -> None:
        """Words have no pace: until cancelled."""
        await asyncio.Event().wait()

    async def _mark(self, reply: ReplyId) -> None:
        if self._given:
            self._marks.put(reply)
            for word in self._transport.mark(reply):
                await self._act(word)

    async def _flush(self) -> None:
        self._reply = None
        self._marks.clear()
        if self._given:
            self._given = False
            for word in self._transport.flush():
                await self._act(word)
