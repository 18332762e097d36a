"""A telephone call, whatever its protocol: joins a `CallTransport` with the live call behind it."""

import asyncio
import contextlib
import logging
from collections.abc import Iterator
from typing import Final

from app.transports.live.deps import FIRST_MESSAGE_S
from app.transports.live.lease import Admitted, CallLease
from app.transports.live.together import Hung, first_end, together
from app.transports.telephone.connection import Connection, PhoneDeps
from app.transports.telephone.goodbye import Goodbye
from app.transports.telephone.hold import Hold
from app.transports.telephone.line import (
    Act,
    Audio,
    CallTransport,
    Held,
    Left,
    LineEvent,
    Opened,
    Played,
    Pressed,
    Reformed,
    SendBack,
    Speaks,
    Stray,
    Wire,
)
from app.transports.telephone.speaking import Speaking
from app.transports.telephone.strays import Strays
from app.transports.telephone.wording import Wording
from rules.locales import known
from schemas.audio import AudioFormat
from schemas.call import AskIn, AudioIn, CallConfig, ConfigureIn, KeyIn
from schemas.errors import BadInput, CallIdle, SlowConsumer, SpeechUnavailable, TellerlineError, Unauthenticated
from schemas.ids import EN_US, CallId, CustomerId, Locale
from services.audio.inband import InBand, Once
from services.call import CallPorts, LiveCall, OutboundQueue
from services.call.stranger import NOBODY
from services.ports import TurnHandler
from services.timing import ANSWER_S, finish, within

log = logging.getLogger(__name__)

SEND_S: Final = 10.0
"""A message that the line does not take within this time ends the call."""
PRESS_S: Final = 15.0
"""Longest time that the keys of a transfer take."""


async def serve(
    connection: Connection, transport: CallTransport, deps: PhoneDeps, *, proven: bool, voiced: bool = True
) -> None:
    """One call, whose replies are spoken by us where it is `voiced`.

    Where the connection has not `proven` to be the bridge's, only a statement opens a call on it, and takes a place.
    """
    call = _PhoneCall(connection, transport, deps, proven=proven)
    try:
        deps.calls.admission.check()
        if voiced and deps.calls.synthesizer is None:
            raise SpeechUnavailable("a telephone needs a voice: see TELLERLINE_SPEECH")
        await call.serve()
    except Hung:
        await connection.close(None)
    except TellerlineError as refused:
        await Goodbye(connection, transport, deps).refuse(refused, call.vouched)


class _PhoneCall:
    """One call that was taken. `vouched` is the bridge's id of it, once it is known to be the bridge's."""

    def __init__(self, connection: Connection, transport: CallTransport, deps: PhoneDeps, *, proven: bool) -> None:
        self._connection = connection
        self._transport = transport
        self._deps = deps
        self._proven = proven
        self._outbound = OutboundQueue()
        self._id = CallId(deps.calls.clock.new_id())
        self._opened: Opened
        self.vouched: str | None = None
        self._speaking: Speaking | Wording
        self._hold: Hold
        self._inband: InBand | None = None
        self._left = False
        self._waiting: Iterator[LineEvent] = iter(())  # what came in one piece with the call's beginning
        self._once = Once()
        self._strays = Strays(deps.calls.metrics)

    async def serve(self) -> None:
        """From the handshake to the last message."""
        admission = self._deps.calls.admission
        async with contextlib.AsyncExitStack() as held, contextlib.AsyncExitStack() as unproven:
            if self._proven:
                held.enter_context(admission.enter())
            else:
                await unproven.enter_async_context(self._deps.unproven.line())
            await self._connection.open()
            self._opened = await self._begin()
            with within(ANSWER_S):
                customer = await self._customer(self._opened)
                self.vouched = self._opened.call
                await unproven.aclose()
                if not self._proven:
                    held.enter_context(admission.enter())
                handler = await self._handler(held, customer, known(self._opened.locale))
            if not self._opened.playing.taken:
                log.warning("a call takes no sound: what is said in it is heard by nobody")
            speaks = self._opened.playing.say is None
            config = CallConfig(handler.locale, self._opened.form, speaks=speaks)
            await self._converse(self._live(handler, config), Admitted(customer or NOBODY))

    def _live(self, handler: TurnHandler, config: CallConfig) -> LiveCall:
        calls = self._deps.calls
        ports = CallPorts(handler, calls.recognizer, calls.vad, calls.clock, calls.synthesizer)
        live = LiveCall(ports, self._outbound, config, seconds=calls.max_call_seconds)
        live.hung_up = True  # whoever takes over may do what was pending: only a line that drops leaves it
        return live

    async def _begin(self) -> Opened:
        """Read until the line says what call it is. Raises CallIdle, BadInput, Hung."""
        try:
            async with asyncio.timeout(FIRST_MESSAGE_S):
                while True:
                    self._waiting = iter(await self._read())
                    for event in self._waiting:
                        if isinstance(event, Opened):
                            return event
                        if isinstance(event, SendBack):
                            await self._send(event.message)
                        if isinstance(event, Left):
                            raise Hung
        except TimeoutError:
            raise CallIdle("no call was begun") from None

    async def _customer(self, opened: Opened) -> CustomerId | None:
        """Whose call it is; nobody's, where a bridge that is known does not say. Raises Unauthenticated."""
        said = opened.statement
        try:
            customer = None if said is None else await self._deps.vouch(said, opened.call)
        except Unauthenticated as error:
            log.info("a statement was refused: %s", error.message)
            raise
        if customer is None and not self._proven:
            raise Unauthenticated("neither the connection nor a statement proves a bridge")
        return customer

    async def _handler(
        self, held: contextlib.AsyncExitStack, customer: CustomerId | None, named: Locale | None
    ) -> TurnHandler:
        """The call's dialogue; one of the customer's calls for as long as `held` is."""
        calls = self._deps.calls
        if customer is not None:
            await held.enter_async_context(calls.place(customer, self._id))
        async with calls.shares.opening():
            if customer is None:
                return await self._deps.stranger(self._id, named or EN_US)
            return await calls.handler(customer, self._id, named)

    async def _converse(self, call: LiveCall, admitted: Admitted) -> None:
        """Read, live, tell and play until one of them ends; then say goodbye as the protocol has it."""
        calls = self._deps.calls
        self._speaking = self._mouth(call)
        self._inband = InBand(self._opened.form) if self._deps.inband_keys else None
        self._hold = Hold(calls.clock, call.put)
        lease = CallLease(admitted, calls.verify, calls.admission, self._outbound, calls.clock)
        async with together(
            call.run(), self._listen(call), self._tell(), self._speaking.play(), self._hold.watch(), lease.run()
        ) as tasks:
            await call.put(AskIn())
            reason = await first_end(tasks)
            call.hung_up = self._left or not isinstance(reason, Hung)
        if reason is None and self._speaking.handed is not None and self._deps.transfer_keys:
            await self._press(self._deps.transfer_keys)
        goodbye = Goodbye(self._connection, self._transport, self._deps)
        await finish(goodbye.end(self._opened.call, self._speaking.handed, reason))

    def _mouth(self, call: LiveCall) -> Speaking | Wording:
        """How replies go out: as sound, or as words for the line's own voice."""
        playing, clock = self._opened.playing, self._deps.calls.clock
        if playing.say is None or playing.press is None:
            return Speaking(self._transport, playing, clock, self._act, call.put)
        return Wording(self._transport, playing.say, playing.press, call.locale, self._act, call.put)

    # In

    async def _read(self) -> list[LineEvent]:
        message = await self._connection.receive()
        if message is None:
            raise Hung
        try:
            events = self._transport.read(message)
        except BadInput as wrong:
            events = [Stray(wrong)]
        return self._strays.without(events)

    async def _listen(self, call: LiveCall) -> None:
        while True:
            for event in self._waiting:
                await self._take(call, event)
            self._waiting = iter(await self._read())

    async def _take(self, call: LiveCall, event: LineEvent) -> None:
        match event:
            case Audio(data, sequence):
                await self._hear(call, data, sequence)
            case Pressed(key):
                await self._key(call, key, heard=False)
            case Played(mark):
                await self._speaking.played(mark)
            case Held(on):
                self._speaking.hold(on)
                await self._hold.told(on)
            case Reformed(form):
                await self._reform(call, form)
            case Speaks(locale) if known(locale):
                await call.put(ConfigureIn(locale=locale))
            case SendBack(message):
                await self._send(message)
            case Left():
                self._left = True
                raise Hung

    async def _hear(self, call: LiveCall, data: bytes, sequence: int | None) -> None:
        """Sound, without the tones of keys where these are listened for; numbered sound has keys of its own."""
        await self._hold.sound()
        if self._inband is None or sequence is not None:
            await call.put(AudioIn(data, sequence))
            return
        sound, keys = self._inband.push(data)
        if sound:
            await call.put(AudioIn(sound))
        for key in keys:
            await self._key(call, key, heard=True)

    async def _key(self, call: LiveCall, key: str, *, heard: bool) -> None:
        if self._inband is None or self._once.new(key, self._deps.calls.clock.monotonic(), heard=heard):
            await call.put(KeyIn(key))

    async def _reform(self, call: LiveCall, form: AudioFormat) -> None:
        if self._inband is not None:
            await call.put(AudioIn(self._inband.rest()))
            self._inband = InBand(form)
        await call.put(ConfigureIn(form=form))

    # Out

    async def _press(self, keys: str) -> None:
        """The bridge's own code for a transfer; where it can't be pressed, what follows is as without it."""
        try:
            async with asyncio.timeout(PRESS_S):
                await self._speaking.press(keys)
        except (TellerlineError, Hung, TimeoutError) as error:
            log.error("the keys of a transfer were not pressed: %s", type(error).__name__)  # noqa: TRY400 - it is known

    async def _tell(self) -> None:
        while (event := await self._outbound.get()) is not None:
            await self._speaking.told(event)

    async def _act(self, word: Act) -> None:
        if isinstance(word, Wire):
            await self._send(word)
        else:
            await self._deps.web(word)

    async def _send(self, message: Wire) -> None:
        try:
            async with asyncio.timeout(SEND_S):
                await self._connection.send(message)
        except TimeoutError:
            raise SlowConsumer("the line does not take what it is sent") from None
