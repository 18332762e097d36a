"""A telephone call, whatever its protocol: joins a `CallTransport` with the live call behind it."""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Protocol

from app.transports._line import FIRST_MESSAGE_S, FLUSH_S, CallDeps
from app.transports._standing import Admitted, Standing
from app.transports.telephone.line import (
    Act,
    CallTransport,
    Heard,
    Held,
    Left,
    LineEvent,
    Opened,
    Owed,
    Played,
    Pressed,
    Reformed,
    Speaks,
    WebRequest,
    Wire,
)
from app.transports.telephone.speaking import Speaking
from rules.load import locales
from schemas.call import (
    AskIn,
    AudioIn,
    CallConfig,
    ConfigureIn,
    KeyIn,
)
from schemas.errors import (
    BadInput,
    CallIdle,
    CarrierUnavailable,
    DependencyFailed,
    Draining,
    InternalFault,
    SlowConsumer,
    SpeechUnavailable,
    TellerlineError,
    Unauthenticated,
)
from schemas.ids import EN_US, CallId, CustomerId, Locale
from schemas.turn import HandedOff
from services.call import CallPorts, LiveCall, Outbox
from services.call.stranger import NOBODY
from services.ports import TurnHandler
from services.timing.finish import finish

log = logging.getLogger(__name__)

SEND_S: Final = 10.0
"""A message that the line does not take within this time ends the call."""
_OURS: Final = (DependencyFailed, Draining, InternalFault)
"""What is no fault of the caller's: a person takes over rather than the line going dead."""


class Connection(Protocol):
    """A line's socket."""

    async def open(self) -> None:
        """Take the call. Raises Hung."""
        ...

    async def receive(self) -> Wire | None:
        """The next message; null where the other side has closed. Raises BadInput."""
        ...

    async def send(self, message: Wire) -> None:
        """Send one. Raises Hung."""
        ...

    async def close(self, error: TellerlineError | None) -> None:
        """The call is over, or never began; raises nothing."""
        ...


class Hung(Exception):
    """The other side is gone."""


class Outcome(StrEnum):
    """What is to become of a call that the assistant is done with."""

    TRANSFER = "transfer"
    END = "end"


def _nobody_asks(_call: str, _outcome: Outcome) -> None:
    """The protocol itself says it."""


@dataclass(frozen=True, slots=True)
class PhoneDeps:
    """What the composition root provides.

    `vouch` says whose a call is, by its statement and the bridge's id of it; null where nobody says. `stranger` opens a
    call of nobody's. `web` asks a carrier; it raises CarrierUnavailable. `ended` is told what is to become of a call.
    """

    calls: CallDeps
    vouch: Callable[[str, str], Awaitable[CustomerId | None]]
    stranger: Callable[[CallId, Locale], Awaitable[TurnHandler]]
    web: Callable[[WebRequest], Awaitable[None]]
    ended: Callable[[str, Outcome], None] = _nobody_asks


async def serve(connection: Connection, transport: CallTransport, deps: PhoneDeps, *, proven: bool) -> None:
    """One call. Where the connection has not `proven` to be the bridge's, only a statement opens a call on it."""
    try:
        with deps.calls.admission.enter():
            if deps.calls.synthesizer is None:
                raise SpeechUnavailable("a telephone needs a voice: see TELLERLINE_SPEECH")
            await connection.open()
            await _PhoneCall(connection, transport, deps, proven=proven).serve()
    except Hung:
        await connection.close(None)
    except TellerlineError as refused:
        deps.calls.metrics.error(refused.code)
        await _part(connection, transport, transport.refuse(refused), refused)


async def _part(
    connection: Connection, transport: CallTransport, words: Iterable[Act], error: TellerlineError | None
) -> None:
    """Say the last words, hear the answer where the protocol has one, and close."""
    with contextlib.suppress(Hung, BadInput, TimeoutError):
        async with asyncio.timeout(FLUSH_S):
            said = [word for word in words if isinstance(word, Wire)]
            for word in said:
                await connection.send(word)
            while said and transport.lingers and (message := await connection.receive()) is not None:
                events = transport.read(message)
                for event in events:
                    if isinstance(event, Owed):
                        await connection.send(event.message)
                if any(isinstance(event, Left) for event in events):
                    break
    await connection.close(error)


class _PhoneCall:
    """One call that was taken."""

    def __init__(self, connection: Connection, transport: CallTransport, deps: PhoneDeps, *, proven: bool) -> None:
        self._connection = connection
        self._transport = transport
        self._deps = deps
        self._proven = proven
        self._outbox = Outbox()
        self._id = CallId(deps.calls.clock.new_id())
        self._opened: Opened
        self._speaking: Speaking

    async def serve(self) -> None:
        """From the first message to the last."""
        self._opened = await self._begin()
        customer = await self._customer(self._opened)
        locale = self._opened.locale if self._opened.locale in locales() else EN_US
        calls = self._deps.calls
        async with contextlib.nullcontext() if customer is None else calls.place(customer, self._id):
            async with calls.shares.opening():
                handler = await self._handler(customer, locale or EN_US)
            config = CallConfig(locale or EN_US, self._opened.form, speaks=True)
            await self._converse(self._live(handler, config), Admitted(customer or NOBODY))

    def _live(self, handler: TurnHandler, config: CallConfig) -> LiveCall:
        calls = self._deps.calls
        ports = CallPorts(handler, calls.recognizer, calls.vad, calls.clock, calls.synthesizer)
        return LiveCall(ports, self._outbox, config, seconds=calls.max_call_seconds)

    async def _begin(self) -> Opened:
        """Read until the line says what call it is. Raises CallIdle, BadInput, Hung."""
        try:
            async with asyncio.timeout(FIRST_MESSAGE_S):
                while True:
                    for event in await self._read():
                        if isinstance(event, Opened):
                            return event
                        if isinstance(event, Owed):
                            await self._send(event.message)
                        if isinstance(event, Left):
                            raise Hung
        except TimeoutError:
            raise CallIdle("no call was begun") from None

    async def _customer(self, opened: Opened) -> CustomerId | None:
        """Whose call it is; nobody's, where a bridge that is known does not say. Raises Unauthenticated."""
        said = opened.statement
        customer = None if said is None else await self._deps.vouch(said, opened.call)
        if customer is None and not self._proven:
            raise Unauthenticated("neither the connection nor a statement proves a bridge")
        return customer

    async def _handler(self, customer: CustomerId | None, locale: Locale) -> TurnHandler:
        if customer is None:
            return await self._deps.stranger(self._id, locale)
        return await self._deps.calls.handler(customer, self._id, locale)

    async def _converse(self, call: LiveCall, admitted: Admitted) -> None:
        """Read, live, tell and play until one of them ends; then say goodbye as the protocol has it."""
        calls = self._deps.calls
        self._speaking = Speaking(self._transport, self._opened.playing, calls.clock, self._act, call.put)
        standing = Standing(admitted, calls.verify, calls.admission, self._outbox, calls.clock)
        works = (call.run(), self._listen(call), self._tell(), self._speaking.play(), _standing(standing))
        tasks = [asyncio.create_task(work) for work in works]
        try:
            await call.put(AskIn())
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            reason = next(_outcome(task) for task in tasks if task.done())
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        await finish(self._end(reason))

    async def _end(self, reason: "TellerlineError | Hung | None") -> None:
        """A person takes over where one is wanted, or where we can't go on; the line is never left dead."""
        if isinstance(reason, TellerlineError):
            self._deps.calls.metrics.error(reason.code)
        if isinstance(reason, Hung):
            await self._connection.close(None)
            return
        handed = self._speaking.handed
        if isinstance(reason, _OURS) and handed is None:
            handed = HandedOff(reason.code, f"the assistant failed: {reason.code}")
        if isinstance(reason, BadInput | SlowConsumer):
            words = self._transport.refuse(reason)
        elif handed is not None:
            words = self._transport.transfer(handed.reason, handed.summary)
        else:
            words = self._transport.hang_up()
        self._deps.ended(self._opened.call, Outcome.END if handed is None else Outcome.TRANSFER)
        await self._ask_carrier(words)
        await _part(self._connection, self._transport, words, reason)

    async def _ask_carrier(self, words: list[Act]) -> None:
        """A carrier that does not do it goes on as it was told beforehand; it is never passed over in silence."""
        for word in words:
            if isinstance(word, WebRequest):
                try:
                    await self._deps.web(word)
                except CarrierUnavailable as error:
                    self._deps.calls.metrics.error(error.code)
                    log.error("a call was not transferred or ended: %s", error.message)  # noqa: TRY400 - it is known

    # In

    async def _read(self) -> list[LineEvent]:
        message = await self._connection.receive()
        if message is None:
            raise Hung
        return self._transport.read(message)

    async def _listen(self, call: LiveCall) -> None:
        while True:
            for event in await self._read():
                await self._take(call, event)

    async def _take(self, call: LiveCall, event: LineEvent) -> None:
        match event:
            case Heard(data, sequence):
                await call.put(AudioIn(data, sequence))
            case Pressed(key):
                await call.put(KeyIn(key))
            case Played(mark):
                await self._speaking.played(mark)
            case Held(on):
                self._speaking.hold(on)
            case Reformed(form):
                await call.put(ConfigureIn(form=form, patient=True))
            case Speaks(locale) if locale in locales():
                await call.put(ConfigureIn(locale=locale, patient=True))
            case Owed(message):
                await self._send(message)
            case Left():
                call.hung_up = True
                raise Hung

    # Out

    async def _tell(self) -> None:
        while (event := await self._outbox.get()) is not None:
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


async def _standing(standing: Standing) -> None:
    await standing.run()


def _outcome(task: "asyncio.Task[TellerlineError | None] | asyncio.Task[None]") -> "TellerlineError | Hung | None":
    """Why a task ended; exceptions that nobody foresaw are raised."""
    error = task.exception()
    if error is None:
        return task.result()
    if isinstance(error, TellerlineError | Hung):
        return error
    raise error
