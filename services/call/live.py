"""The driver of one live call. Audio time decides turns, so a slow machine delays them but never changes them."""

import asyncio
import contextlib
import logging
from typing import Final

from schemas.call import (
    AskIn,
    AudioIn,
    CallConfig,
    CallInput,
    CancelIn,
    ClearIn,
    CommitIn,
    Configured,
    ConfigureIn,
    Fault,
    HoldIn,
    KeyIn,
    PlaybackIn,
    TypedIn,
)
from schemas.errors import CallIdle, CallTooLong, InternalFault, RateLimited, TellerlineError
from schemas.ids import Locale
from services.audio.endpointing import timing
from services.call.arrivals import Arrivals
from services.call.conversation import Conversation
from services.call.inbound_audio import InboundAudio
from services.call.outbound import OutboundQueue
from services.call.own_voice import OwnVoice
from services.call.ports import CallPorts
from services.call.turn_taking import TurnTaking
from services.timing import finish

log = logging.getLogger(__name__)

_INBOX: Final = 128
"""Messages that may wait to be heard; past it, the transport is not read."""

_LATER: Final = 64
"""Changes of settings that may wait for the end of a turn."""


class _Over(Exception):
    """The call has come to its end."""


class LiveCall:
    """One call. `put` feeds it, the outbound queue tells what happens, `run` lives as long as the call.

    `hung_up` is for the transport to set when the client ended the call in good order.
    """

    def __init__(self, ports: CallPorts, outbound: OutboundQueue, config: CallConfig, *, seconds: float) -> None:
        self._handler = ports.handler
        self._clock = ports.clock
        self._outbound = outbound
        self._config = config
        self._seconds = seconds
        self._timing = timing()
        self._inbox: asyncio.Queue[tuple[CallInput, str | None, float]] = asyncio.Queue(_INBOX)
        arrivals = Arrivals(ports.clock)
        echo = OwnVoice(ports.clock)
        self._voice = ports.synthesizer.for_call() if ports.synthesizer is not None else None
        self._conversation = Conversation(ports.handler, ports.clock, echo.noting(outbound.put), self._voice)
        self._turns = TurnTaking(ports, outbound, self._conversation, arrivals, config)
        self._hearing = InboundAudio(ports.vad, ports.clock, arrivals, self._turns, echo, config.form)
        self._greeted = False
        self._later: list[ConfigureIn] = []
        self.hung_up = False
        self._apply(config)

    async def put(self, given: CallInput, cause: str | None = None) -> None:
        """Hand over an input; waits while too many are unheard. `cause` is the client's id of the event."""
        await self._inbox.put((given, cause, self._clock.monotonic()))

    @property
    def locale(self) -> Locale:
        """The language that replies are in."""
        return self._config.locale

    @property
    def audible(self) -> bool:
        """Whether the caller may be hearing a reply now."""
        return self._conversation.audible

    async def settled(self) -> None:
        """Return once all that was put was heard, and nothing is under way but what waits for sound or time."""
        await self._inbox.join()
        while self._turns.decoding or not self._conversation.at_rest:  # noqa: ASYNC110 - many things end it
            await asyncio.sleep(0.001)

    async def run(self) -> TellerlineError | None:
        """Live until the dialogue ends the call, an error does (it is returned), or the task is cancelled."""
        try:
            await self._live()
        except TimeoutError as ending:
            _forget_frames(ending)
            return CallTooLong(f"a call lasts {self._seconds:.0f} s at most")
        except (BaseExceptionGroup, asyncio.CancelledError) as ending:
            ending.__traceback__ = None  # frames that hold what they raised keep the whole call until a collection
            if isinstance(ending, BaseExceptionGroup):
                return _reason(ending)
            raise
        finally:
            self._turns.close()
            if self._voice is not None:
                self._voice.close()
            await self._close()
        return None

    async def _live(self) -> None:
        async with asyncio.timeout(self._seconds), asyncio.TaskGroup() as tasks:
            self._turns.open(tasks)
            tasks.create_task(self._pump())
            tasks.create_task(self._answer())

    async def _answer(self) -> None:
        """Answer turns; where one is undone because the caller goes on with it, the next is heard together with it."""
        async with contextlib.aclosing(self._conversation.run()) as undone:
            async for item in undone:
                self._turns.undone_for(item)

    async def _close(self) -> None:
        """End it on record, though the task be cancelled; where that fails, why the call ended is still told."""
        try:
            await finish(self._leave())
        except TellerlineError as error:
            log.error("the end of a call is not on record: %s", error.code)  # noqa: TRY400 - its cause is known

    async def _leave(self) -> None:
        """What the client said of replies just before it went still counts; anything else that waits does not."""
        waiting = [self._inbox.get_nowait()[0] for _ in range(self._inbox.qsize())]
        marks = [given for given in waiting if isinstance(given, PlaybackIn)]
        try:
            await self._conversation.close(marks, speaking=self._turns.speaking)
        finally:
            await self._handler.close(hung_up=self.hung_up)

    # In

    async def _pump(self) -> None:
        """Take inputs in order; when none comes, time passes all the same."""
        while True:
            try:
                async with asyncio.timeout(self._timing.stall_ms / 1000):
                    given, cause, at = await self._inbox.get()
            except TimeoutError:
                self._greet()
                await self._hearing.stalled()
            else:
                await self._guarded(given, cause, at)
                self._inbox.task_done()
            self._pass_time()

    async def _guarded(self, given: CallInput, cause: str | None, at: float) -> None:
        try:
            await self._take_in(given, at)
        except TellerlineError as error:
            if error.fatal:
                raise
            self._outbound.put(Fault(error, cause))

    def _greet(self) -> None:
        """Before anything is heard, and once the client's settings are known, of which the language is one."""
        if not self._greeted:
            self._greeted = True
            self._conversation.greet()

    async def _take_in(self, given: CallInput, at: float) -> None:  # noqa: C901 - one case an input
        if not isinstance(given, ConfigureIn):
            self._greet()
        match given:
            case AudioIn(data, sequence):
                await self._hearing.take(data, sequence, at)
            case TypedIn(text):
                self._turns.typed(text, at)
            case AskIn(typed, since):
                if typed is not None and (self._conversation.begun or self._turns.means(typed)):
                    self._turns.typed(typed, since)
                self._conversation.ask(coming=self._turns.busy)
            case KeyIn(key):
                self._turns.key(key, at)
            case PlaybackIn():
                self._conversation.played(given, at, speaking=self._turns.speaking)
            case CancelIn(reply, said):
                self._conversation.cancel(reply, said=said)
            case CommitIn():
                self._turns.commit()
            case ClearIn():
                self._turns.clear()
                self._hearing.cleared()
            case HoldIn(on):
                self._conversation.hold(on)
            case ConfigureIn():
                self._configure(given)

    def _configure(self, given: ConfigureIn) -> None:
        if self._later or self._turns.busy or self._conversation.busy:
            self._postpone(given)
            return
        config = given.applied(self._config)
        if config.form != self._config.form:
            self._hearing.change(config.form)
        self._apply(config)
        self._outbound.put(Configured(config))

    def _postpone(self, given: ConfigureIn) -> None:
        """Settings change between turns; the format does at once."""
        if given.form is not None and given.form != self._config.form:
            self._hearing.change(given.form)
            self._config = ConfigureIn(form=given.form).applied(self._config)
        if len(self._later) == _LATER:
            raise RateLimited("too many settings wait for the end of a turn")
        self._later.append(given)

    def _change_what_waited(self) -> None:
        if self._later and not (self._turns.busy or self._conversation.busy):
            waiting, self._later = self._later, []
            for given in waiting:
                self._configure(given)

    def _apply(self, config: CallConfig) -> None:
        self._config = config
        self._turns.configure(config)
        self._conversation.configure(
            config.locale, estimated=config.estimated, answers=config.answers, speaks=config.speaks
        )

    # Time

    def _pass_time(self) -> None:
        now = self._clock.monotonic()
        self._turns.tick(now)
        self._conversation.tick(speaking=self._turns.busy)
        self._change_what_waited()
        if self._conversation.over:
            raise _Over
        if self._conversation.busy or self._conversation.audible:
            self._turns.active()
        if self._turns.idle_ms(now) >= self._timing.idle_ms:
            raise CallIdle(f"nothing was said for {self._timing.idle_ms // 1000} s")


def _forget_frames(error: BaseException | None) -> None:
    """Frames that hold what was raised through them, which holds them, would keep the whole call until a collection."""
    while error is not None:
        error.__traceback__ = None
        error = error.__context__


def _reason(group: BaseExceptionGroup[BaseException]) -> TellerlineError | None:
    """Why a call ended: our own error, nothing (it was over), or a fault."""
    for error in group.exceptions:
        if isinstance(error, BaseExceptionGroup):
            return _reason(error)
        if isinstance(error, TellerlineError):
            return error
    if all(isinstance(error, _Over) for error in group.exceptions):
        return None
    log.error("a call failed: %s", ", ".join(type(error).__name__ for error in group.exceptions))
    return InternalFault("the call failed")
