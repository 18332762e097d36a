"""The door of the process: what a connection may cost before and while it is served, whatever is sent over it.

uvicorn reads a connection as fast as it comes, parses all of it at once, and waits for ever. Here every connection is
read in small pieces, none of them while another connection's turn is due; the processor time of its parsing is metered;
a head, a body and a handshake have deadlines; and those who have not said yet who they are have a small number of
places, where the one that has dawdled longest makes room, and who was answered well before goes last.
"""

import asyncio
import logging
import time
from typing import Any, Final, cast
from weakref import WeakKeyDictionary

from uvicorn.config import Config
from uvicorn.server import ServerState

from app.gate.bounded_http import BoundedHttp, answer
from app.gate.held import HeldTransport
from app.gate.lobby import PARSING_BURST_S, PAUSE_S, Lobby, Turns
from app.gate.vouching import HEAD_END, Vouching
from app.gate.websocket import HANDSHAKE_S, BoundedWebSocket

log = logging.getLogger(__name__)

PIECE: Final = 4_096
"""Bytes that are parsed at a time; a frame of speech has 640."""
LEAST_PIECE: Final = 256
"""And where a piece of a connection took longer than LONG_S of processor time, as one of chunks of a byte does."""
LONG_S: Final = 0.001
BODY_PIECE: Final = 65_536
"""And of a body whose length its head told: what is in it is not looked at, however much it is."""
PARSING_S: Final = 0.06
"""Processor time a second that one connection's parsing may take; a call takes 0.005."""
REQUEST_S: Final = 0.001
"""What a request costs behind the parser, at least: as many as can be read at once may be sent one behind the other."""
REFUSAL_S: Final = 0.002
"""What one costs that is refused, and a handshake: who is told no asks again at once, or under another name."""
FRAME_S: Final = 0.0004
"""What a frame costs behind the parser."""
BODY_BYTE_S: Final = 1e-8
"""What a byte of a body costs there: eight megabytes, 80 ms; all bodies together come at 25 MB a second at most."""
SOUND_S: Final = 0.25e-6
"""What a byte of a call costs there: two seconds of sound, 16 ms."""
HEAD_S: Final = 10.0
"""A request's head comes within this of the connection, or of the answer before it."""
BODY_S: Final = 15.0
BODY_BYTES_S: Final = 2_000.0
"""A body comes within BODY_S and the time that it takes at this rate."""
CLOSING_S: Final = 10.0
"""A peer that does not take what was written is cut off this long after it was said goodbye, or 3 × this without it."""
_LOBBIES: Final[WeakKeyDictionary[ServerState, Lobby]] = WeakKeyDictionary()
_VOUCHING: Final[WeakKeyDictionary[ServerState, Vouching]] = WeakKeyDictionary()


class ConnectionGate(asyncio.Protocol):
    """One connection: stands before uvicorn's protocol and feeds it."""

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        self._loop = _loop or asyncio.get_running_loop()
        self._lobby = _LOBBIES.get(server_state) or _LOBBIES.setdefault(server_state, Lobby(self._loop))
        if server_state not in _VOUCHING:
            subject = getattr(getattr(config.app, "state", None), "subject", None)
            _VOUCHING[server_state] = Vouching(self._loop, subject)
        self._vouching = _VOUCHING[server_state]
        self._first: bool | None = None
        http = BoundedHttp(config, server_state, app_state, self._loop)
        self.inner: asyncio.Protocol = http
        http.settled = self._charge_newcomer
        self._transport: asyncio.Transport | None = None
        self._pending = bytearray()
        self._held = self._served = self._over = self._owes = False
        self._left, self._at = PARSING_BURST_S, self._loop.time()
        self._taken = self._frames = 0
        self._piece = PIECE
        self._requests = self._refused = 0
        self._was, self._since = ("head", 0), self._loop.time()

    # What the event loop calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Let it in, or not."""
        self._transport = cast("asyncio.Transport", transport)  # uvloop's is none by its class
        self._served = self._lobby.enter(self)
        if self._served:
            self.begin(self._transport)
        else:
            self.refuse(self._transport)

    def begin(self, transport: asyncio.Transport) -> None:
        """It may ask."""
        self.inner.connection_made(HeldTransport(transport, self))  # type: ignore[arg-type]

    def refuse(self, transport: asyncio.Transport) -> None:
        """There is no room."""
        answer(transport, 503, "busy", "too many connections")

    def connection_lost(self, exc: Exception | None) -> None:
        """It is gone."""
        self._over = True
        self._lobby.leave(self)
        self._pending.clear()
        self._charge_newcomer()
        if self._served:
            self.inner.connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse a piece at once where nothing is waiting; the rest in turn."""
        self._pending += data
        if not self._served:
            return
        self._charge_requests()
        turns = self._turns
        if turns is not None and turns.in_debt and not (turns is self._lobby.newcomers and self._goes_first):
            turns.queue(self)
        else:
            self.feed()

    @property
    def _goes_first(self) -> bool:
        """Whether a customer of ours comes, and need not wait behind those who will be told no; looked at once."""
        if self._first is None and HEAD_END in self._pending:
            self._first = self._vouching.goes_first(self._pending)
        return self._first is True

    def _charge_requests(self) -> None:
        """What was answered since the last time costs this connection; all that are unknown or refused, too."""
        self._charge_newcomer()
        if isinstance(self.inner, BoundedHttp):
            refusals = REFUSAL_S * (self.inner.refused - self._refused)
            cost = REQUEST_S * (self.inner.answered - self._requests) + refusals
            self._requests, self._refused = self.inner.answered, self.inner.refused
            self._left -= cost
            self._lobby.surplus.charge(refusals if self.inner.welcome else cost)

    def _charge_newcomer(self) -> None:
        """A first request costs all newcomers a refusal, beforehand: those that come at once would be read at once."""
        inner = self.inner
        owes = isinstance(inner, BoundedHttp) and inner.cycle is not None and inner.answered <= inner.refused
        owes |= isinstance(inner, BoundedWebSocket) and not inner.accepted
        self._lobby.newcomers.charge(REFUSAL_S * (owes - self._owes))
        self._owes = owes

    def _charge_body(self, size: int) -> None:
        """What so many bytes cost is charged to this connection, and to all that send more than a piece."""
        self._left -= BODY_BYTE_S * size
        self._lobby.surplus.charge(BODY_BYTE_S * size)

    @property
    def _turns(self) -> Turns | None:
        """Behind whom it waits where their allowance is used up; null for a call, and for who was answered well."""
        inner = self.inner
        if isinstance(inner, BoundedWebSocket):
            return None if inner.accepted else self._lobby.newcomers
        if not isinstance(inner, BoundedHttp) or inner.welcome:
            return None
        return self._lobby.surplus if inner.answered else self._lobby.newcomers

    def eof_received(self) -> bool | None:
        """The peer sends no more."""
        return self.inner.eof_received() if self._served else None

    def pause_writing(self) -> None:
        """The peer does not read."""
        if self._served:
            self.inner.pause_writing()

    def resume_writing(self) -> None:
        """It does again."""
        if self._served:
            self.inner.resume_writing()

    # What the lobby and the protocol behind call

    def feed(self) -> None:
        """Parse one piece, if it may be; queue for the next one."""
        if self._over or self._held or not self._pending or self._transport is None or self._transport.is_closing():
            return
        self._charge_requests()
        now = self._loop.time()
        self._left = min(PARSING_BURST_S, self._left + (now - self._at) * PARSING_S)
        self._at = now
        if self._left < 0:
            self._transport.pause_reading()
            self._loop.call_later(max(PAUSE_S, -self._left / PARSING_S), self._lobby.surplus.queue, self)
            return
        size = self._piece
        if isinstance(self.inner, BoundedHttp) and self.inner.in_a_body:
            size = BODY_PIECE
            self._charge_body(min(size, len(self._pending)))
        piece = bytes(self._pending[:size])
        del self._pending[:size]
        if self._pending:
            self._transport.pause_reading()
        self._parse(piece)
        self._charge_newcomer()
        if not self._held:
            self.release()

    def _parse(self, piece: bytes) -> None:
        began, self._taken = time.thread_time(), self._taken + len(piece)
        try:
            self.inner.data_received(piece)
        except Exception as fault:
            log.exception("a connection could not be read: %s", type(fault).__name__)
            self.cut()
        took = time.thread_time() - began
        self._left -= took
        if took > LONG_S:
            self._piece = max(LEAST_PIECE, self._piece // 2)
        elif took < LONG_S / 4:
            self._piece = min(PIECE, self._piece * 2)
        if isinstance(self.inner, BoundedWebSocket):
            self._left -= FRAME_S * (self.inner.frames_seen - self._frames) + SOUND_S * len(piece)
            self._frames = self.inner.frames_seen

    def hold(self) -> None:
        """What is behind has enough for now."""
        self._held = True
        if self._transport is not None:
            self._transport.pause_reading()

    def release(self) -> None:
        """It has not: what waits here comes first."""
        self._held = False
        if self._pending:
            self._lobby.surplus.queue(self)
        elif self._transport is not None and not self._transport.is_closing():
            self._transport.resume_reading()

    def cut(self) -> None:
        """Drop the line without a word."""
        if self._transport is not None:
            self._transport.abort()
        self._lobby.leave(self)

    @property
    def stranger(self) -> bool:
        """Whether it is no accepted call."""
        return not (isinstance(self.inner, BoundedWebSocket) and self.inner.handshake_complete)

    @property
    def headless(self) -> bool:
        """Whether it has asked for nothing yet, or nothing since its last answer."""
        cycle = getattr(self.inner, "cycle", None)
        return isinstance(self.inner, BoundedHttp) and (cycle is None or cycle.response_complete)

    @property
    def regard(self) -> tuple[bool, float]:
        """Whether it was answered well before, and when it began to be headless."""
        assert isinstance(self.inner, BoundedHttp)
        return self.inner.welcome, self.inner.idle_since

    def check(self, now: float) -> None:
        """Whether a deadline of what it is doing has passed; then it ends."""
        state = self._doing()
        was = state, getattr(self.inner, "answered", 0)  # what was answered since the last look is something else
        if was != self._was:
            self._was, self._since, self._taken = was, now, 0
        patience = {
            "head": HEAD_S,
            "body": BODY_S + self._taken / BODY_BYTES_S,
            "handshake": HANDSHAKE_S,
            "closing": CLOSING_S,
            "unread": 3 * CLOSING_S,
        }.get(state, float("inf"))
        if now - self._since <= patience or self._transport is None:
            return
        if state == "body" and isinstance(self.inner, BoundedHttp) and not self.inner.cycle.response_started:
            answer(self._transport, 408, "timed_out", "the request takes too long")
        else:
            self.cut()

    def _doing(self) -> str:
        transport, inner = self._transport, self.inner
        if transport is None or transport.is_closing():
            return "closing"
        if isinstance(inner, BoundedWebSocket):
            return "call" if inner.handshake_complete else "handshake"
        if self.headless:
            return "head"
        assert isinstance(inner, BoundedHttp)
        if inner.cycle.more_body and not self._held:
            return "body"
        return "unread" if transport.get_write_buffer_size() else "answer"
