"""A telephone call's replies on their way out: in packets when these are due, and known by marks as heard.

A reply counts once the line says that its last sound was played, or once it must have been. What is cut by the caller's
voice is flushed on the line, and never counts.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterable

from app.transports.live.reply_sound import ReplySound
from app.transports.telephone.line import Act, CallTransport, Playing
from app.transports.telephone.marks import Marks, Report
from app.transports.telephone.playout import Mark, Packet, Playout, silence
from schemas.call import (
    CallEvent,
    ReplyBegan,
    ReplyCut,
    ReplyEnded,
    ReplyProgress,
    ReplyStatus,
    Voiced,
)
from schemas.errors import SpeechUnavailable
from schemas.turn import HandedOff, ReplyId
from services.audio.codec import encode
from services.audio.tones import made
from services.ports import Clock

Send = Callable[[Act], Awaitable[None]]


class Speaking:
    """One call's. `act` does what the transport asks; `heard` is told of replies that were heard to their end."""

    def __init__(self, transport: CallTransport, playing: Playing, clock: Clock, act: Send, heard: Report) -> None:
        self.handed: HandedOff | None = None
        self._transport = transport
        self._playing = playing
        self._clock = clock
        self._act = act
        self._playout = Playout(playing)
        self._changed = asyncio.Event()
        self._sound = ReplySound(playing.form)
        self._reply: ReplyId | None = None
        self._sounded = False
        self._marks = Marks(heard)
        self._sent_at = clock.monotonic()

    async def told(self, event: CallEvent) -> None:
        """What the call says. Raises SpeechUnavailable, SlowConsumer."""
        if not self._playing.taken and not isinstance(event, ReplyProgress):
            return  # who watches a call says nothing in it
        match event:
            case ReplyBegan(reply):
                self._reply, self._sounded = reply, False
                self._sound = ReplySound(self._playing.form)
            case Voiced(reply, chunk) if reply == self._reply:
                self._sounded = True
                self._put(piece.data for piece in self._sound.pieces(chunk))
            case ReplyEnded(reply, ReplyStatus.COMPLETED, text) if reply == self._reply:
                self._finish(reply, text)
            case ReplyCut():
                await self._flush()
            case ReplyEnded(reply, ReplyStatus.CANCELLED | ReplyStatus.FAILED) if reply == self._reply:
                await self._flush()
            case ReplyProgress(_, HandedOff() as handed):
                self.handed = handed

    def hold(self, on: bool) -> None:
        """Nothing that is sent would be heard now, or it would again."""
        self._playout.held = on
        self._changed.set()

    async def played(self, mark: str) -> None:
        """The line told of a mark."""
        await self._marks.played(mark)

    async def press(self, keys: str) -> None:
        """Press keys once the call is over, by the line's own word or as tones; returns when they were heard.

        Where a packet of a tone came late, two keys would be heard.
        """
        if self._playing.press is not None:
            for word in self._playing.press(keys):
                await self._act(word)
            return
        self._playout.flush()
        for key in keys:
            self._put([encode(made(key, self._playing.form.rate), self._playing.form)])
            self._playout.end("")
            await self._send_key()
            await asyncio.sleep(max(0.0, self._playout.heard_at - self._clock.monotonic()))

    async def _send_key(self) -> None:
        """A tone leaves whole where the line keeps the pace, otherwise at our own."""
        if self._playing.marks:
            for packet in self._playout.burst(self._clock.monotonic()):
                await self._packet(packet.data)
            return
        while len(self._playout) > 1:  # the mark behind them is nobody's
            await self._send_due()
            await asyncio.sleep(max(0.001, (self._playout.due_at() or 0.0) - self._clock.monotonic()))

    async def _send_due(self) -> None:
        while (item := self._playout.take(self._clock.monotonic())) is not None:
            match item:
                case Packet(data):
                    await self._packet(data)
                case Mark(name) if name:
                    await self._mark(name)

    async def play(self) -> None:
        """Send each packet when it is due, until cancelled."""
        while True:
            self._changed.clear()
            await self._send_due()
            at = await self._next_at()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(None if at is None else max(0.0, at - self._clock.monotonic())):
                    await self._changed.wait()

    async def _packet(self, data: bytes) -> None:
        self._sent_at = self._clock.monotonic()
        for word in self._transport.play(data):
            await self._act(word)

    async def _next_at(self) -> float | None:
        """When there is something to send; where the line must not be quiet for so long, it has got silence by then."""
        at = self._playout.due_at()
        if at is not None or not self._playing.quiet_ms:
            return at
        if self._clock.monotonic() - self._sent_at >= self._playing.quiet_ms / 1000:
            await self._packet(silence(self._playing))
        return self._sent_at + self._playing.quiet_ms / 1000

    def _put(self, sound: Iterable[bytes]) -> None:
        for data in sound:
            self._playout.put(data)
        self._changed.set()

    def _finish(self, reply: ReplyId, text: str) -> None:
        """All of a reply was made. Raises SpeechUnavailable where its words have no sound: nobody would hear them."""
        if text and not self._sounded:
            raise SpeechUnavailable("a reply could not be spoken")
        if self._sounded:
            self._put(piece.data for piece in self._sound.rest())
            self._playout.end(reply)
            self._changed.set()

    async def _flush(self) -> None:
        """What the caller spoke over is not to be heard, nor taken for heard."""
        self._reply = None
        self._playout.flush()
        self._marks.clear()
        if self._sounded:
            self._sounded = False
            for word in self._transport.flush():
                await self._act(word)

    async def _mark(self, name: str) -> None:
        self._marks.put(name)
        if not self._playing.marks:
            await self.played(name)
            return
        for word in self._transport.mark(name):
            await self._act(word)
