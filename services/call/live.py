"""The driver of one live call. Audio time decides turns, so a slow machine delays them but never changes them."""

import asyncio
import logging
from collections import deque
from dataclasses import dataclass
from functools import partial
from typing import Final

from schemas.audio import SAMPLE_RATE, Samples
from schemas.call import (
    AudioIn,
    CallConfig,
    CallInput,
    CancelIn,
    Cleared,
    ClearIn,
    CommitIn,
    Configured,
    ConfigureIn,
    CutReason,
    Fault,
    KeyIn,
    KeyPressed,
    PlaybackIn,
    TypedIn,
)
from schemas.errors import CallIdle, CallTooLong, InternalFault, TellerlineError, WrongState
from schemas.ids import RuleId
from schemas.transcript import Source, Transcript
from schemas.turn import Awaits, Completeness, Discarded, Eager, Ended, ItemId, Partial, SpeechStarted, Waste
from services.audio.endpointing import is_backchannel, is_courtesy, judge_words, timing
from services.audio.frames import VAD_FRAME
from services.audio.ingest import Ingest
from services.audio.keypad import Keypad
from services.audio.listener import DecodeRequest, Listener, Signal
from services.audio.vad import SileroVad, VadState
from services.call.conversation import Conversation, Heard
from services.call.decodes import Decodes
from services.call.outbox import Outbox
from services.finish import finish
from services.ports import Clock, Recognizer, TurnHandler

log = logging.getLogger(__name__)

_INBOX: Final = 128
"""Messages that may wait to be heard; past it, the transport is not read."""
_ARRIVALS: Final = 512
"""Chunks whose arrival is remembered, to time a turn from its last sound."""
_TYPED: Final = RuleId("typed@1")
_WHOLE: Final = frozenset({Completeness.COMPLETE, Completeness.COURTESY})
_PER_MS: Final = SAMPLE_RATE // 1000


@dataclass(frozen=True, slots=True)
class CallPorts:
    """What a call needs from outside."""

    handler: TurnHandler
    recognizer: Recognizer
    vad: SileroVad
    clock: Clock


class _Over(Exception):
    """The call has come to its end."""


class LiveCall:
    """One call. `put` feeds it, the outbox tells what happens, `run` lives as long as the call.

    `hung_up` is for the transport to set when the client ended the call in good order.
    """

    def __init__(self, ports: CallPorts, outbox: Outbox, config: CallConfig, *, seconds: float) -> None:
        self._ports = ports
        self._outbox = outbox
        self._config = config
        self._seconds = seconds
        self._timing = timing()
        self._inbox: asyncio.Queue[tuple[CallInput, str | None, float]] = asyncio.Queue(_INBOX)
        self._ingest = Ingest(config.form)
        self._vad_state = VadState()
        self._listener = Listener(config.locale, partial(_new_item, ports.clock), config.patience)
        self._keypad = Keypad(self._timing)
        self._conversation = Conversation(ports.handler, ports.clock, outbox.put)
        self._decodes = Decodes(ports.recognizer, ports.clock)
        self._arrivals: deque[tuple[int, float]] = deque(maxlen=_ARRIVALS)
        self._merging: ItemId | None = None
        self._eager: Eager | None = None
        self._whole: ItemId | None = None
        self._polite: ItemId | None = None
        self._active_at = ports.clock.monotonic()
        self._active_ms = 0
        self._tasks: asyncio.TaskGroup
        self._greeted = False
        self.hung_up = False
        self._apply(config)

    async def put(self, given: CallInput, cause: str | None = None) -> None:
        """Hand over an input; waits while too many are unheard. `cause` is the client's id of the event."""
        await self._inbox.put((given, cause, self._ports.clock.monotonic()))

    async def run(self) -> TellerlineError | None:
        """Live until the dialogue ends the call, an error does (it is returned), or the task is cancelled."""
        try:
            async with asyncio.timeout(self._seconds), asyncio.TaskGroup() as self._tasks:
                self._tasks.create_task(self._pump())
                self._tasks.create_task(self._conversation.run())
        except TimeoutError:
            return CallTooLong(f"a call lasts {self._seconds:.0f} s at most")
        except (BaseExceptionGroup, asyncio.CancelledError) as ending:
            ending.__traceback__ = None  # frames that hold what they raised keep the whole call until a collection
            if isinstance(ending, BaseExceptionGroup):
                return _reason(ending)
            raise
        finally:
            del self._tasks  # it knows our task, which knows us
            await self._close()
        return None

    async def _close(self) -> None:
        """End it on record, though the task be cancelled; where that fails, why the call ended is still told."""
        try:
            await finish(self._ports.handler.close(hung_up=self.hung_up))
        except TellerlineError as error:
            log.error("the end of a call is not on record: %s", error.code)  # noqa: TRY400 - its cause is known

    # In

    async def _pump(self) -> None:
        """Take inputs in order; when none comes, time passes all the same."""
        while True:
            try:
                async with asyncio.timeout(self._timing.stall_ms / 1000):
                    given, cause, at = await self._inbox.get()
            except TimeoutError:
                self._greet()
                await self._stalled()
            else:
                await self._guarded(given, cause, at)
            self._pass_time()

    async def _guarded(self, given: CallInput, cause: str | None, at: float) -> None:
        try:
            await self._take_in(given, at)
        except TellerlineError as error:
            if error.fatal:
                raise
            self._outbox.put(Fault(error, cause))

    def _greet(self) -> None:
        """Before anything is heard, and once the client's settings are known, of which the language is one."""
        if not self._greeted:
            self._greeted = True
            self._conversation.greet()

    async def _take_in(self, given: CallInput, at: float) -> None:
        if not isinstance(given, ConfigureIn):
            self._greet()
        match given:
            case AudioIn(data, sequence):
                frames = self._ingest.push(data, sequence)
                self._arrivals.append((self._ingest.received, at))
                await self._hear(frames)
            case TypedIn(text):
                self._typed(text, at)
            case KeyIn(key):
                self._key(key, at)
            case PlaybackIn():
                self._conversation.played(given, speaking=self._listener.item is not None)
            case CancelIn(reply):
                self._conversation.cut(CutReason.CLIENT_CANCELLED, reply)
            case CommitIn():
                self._commit()
            case ClearIn():
                self._on(self._listener.clear())
                self._outbox.put(Cleared())
            case ConfigureIn():
                self._configure(given.applied(self._config))

    async def _hear(self, frames: Samples) -> None:
        if frames.size:
            probabilities = await self._ports.vad.listen(self._vad_state, frames)
            for start, probability in zip(range(0, frames.size, VAD_FRAME), probabilities, strict=True):
                await self._words_known()
                self._on(self._listener.feed(frames[start : start + VAD_FRAME], probability))
        await self._words_known()
        self._on(self._listener.advance(self._ingest.pending))
        self._decodes.keep(self._listener.wants)
        if self._listener.voiced_ms >= self._timing.barge_in_voiced_ms:
            self._conversation.cut(CutReason.TURN_DETECTED)

    async def _stalled(self) -> None:
        """Nothing came for a while: inside a turn, that is silence."""
        if self._listener.item is None:
            return
        frames = self._ingest.silence(self._timing.stall_ms * _PER_MS // VAD_FRAME)
        self._arrivals.append((self._ingest.received, self._ports.clock.monotonic()))
        await self._hear(frames)

    async def _words_known(self) -> None:
        """Wait where more audio would let the clock run past a decision whose words are being decoded."""
        while (revision := self._listener.waiting) is not None and self._decodes.running(revision):
            await self._decodes.wait(revision)

    def _typed(self, text: str, at: float) -> None:
        self._on(self._listener.clear())
        transcript = Transcript.typed(text, self._config.locale)
        self._end_keyed(transcript, _TYPED, at)

    def _key(self, key: str, at: float) -> None:
        self._outbox.put(KeyPressed(key))
        self._on(self._listener.clear())  # the tone of the key is no speech
        self._conversation.cut(CutReason.TURN_DETECTED)
        self._active()
        ended = self._keypad.press(key, at)
        if ended is not None:
            self._end_digits(*ended, at)

    def _end_digits(self, digits: str, rule: RuleId, at: float) -> None:
        self._end_keyed(Transcript.typed(digits, self._config.locale, source=Source.DTMF), rule, at)

    def _end_keyed(self, transcript: Transcript, rule: RuleId, at: float) -> None:
        now_ms = self._listener.now_ms
        self._end_turn(Ended(_new_item(self._ports.clock), 0, transcript, rule, now_ms, now_ms), at)

    def _commit(self) -> None:
        if self._listener.item is None:
            raise WrongState("there is no utterance to commit")
        self._on(self._listener.commit())

    def _configure(self, config: CallConfig) -> None:
        if self._listener.item is not None or self._keypad.busy or self._conversation.busy:
            raise WrongState("settings change between turns")
        if config.form != self._config.form:
            self._ingest = Ingest(config.form)
        self._apply(config)
        self._outbox.put(Configured(config))

    def _apply(self, config: CallConfig) -> None:
        self._config = config
        self._listener.configure(config.locale, config.patience)
        self._conversation.locale, self._conversation.estimated = config.locale, config.estimated

    # What the listener says

    def _on(self, signals: list[Signal]) -> None:
        for signal in signals:
            match signal:
                case DecodeRequest():
                    self._decode(signal)
                case Ended():
                    self._end_speech(signal)
                case Partial(text=text) | Eager(transcript=Transcript(text=text)):
                    self._outbox.put(signal)
                    self._words_over_a_reply(text)
                    if isinstance(signal, Eager):
                        self._eager = signal
                        self._speculate(signal)
                case Discarded():
                    self._outbox.put(signal)
                    self._conversation.released()
                case _:
                    self._outbox.put(signal)
            if isinstance(signal, SpeechStarted):
                self._active()

    def _words_over_a_reply(self, text: str) -> None:
        """Words stop a reply; words right after a turn may belong to it, which then has to be undone."""
        if self._conversation.audible and is_backchannel(text, self._config.locale):
            return
        item, before = self._listener.item, self._listener.continues
        self._polite = item if self._only_polite(text, before) else None
        if self._polite is not None:
            return
        if before is not None and self._merging != item:
            self._merging = item
            self._conversation.withdraw(before, lambda: self._merge(item))
        self._conversation.cut(CutReason.TURN_DETECTED)

    def _only_polite(self, text: str, before: ItemId | None) -> bool:
        """Whether "please" follows a whole command whose answer is under way: no reason to answer it again."""
        said = before is not None and before == self._whole and self._conversation.answers(before)
        return said and is_courtesy(text, self._config.locale)

    def _merge(self, item: ItemId | None) -> None:
        """The last turn was undone. If `item` has ended meanwhile, it stays a turn of its own."""
        if self._listener.item == item:
            self._on(self._listener.merge())

    def _speculate(self, eager: Eager) -> None:
        try:
            self._ports.handler.speculate(eager.transcript)
        except TellerlineError:
            log.debug("speculation failed")  # `take` will meet the error and say it

    def _end_speech(self, ended: Ended) -> None:
        text = ended.transcript.text
        if self._conversation.audible and is_backchannel(text, self._config.locale):
            self._outbox.put(Discarded(ended.item, Waste.BACKCHANNEL))
            self._conversation.released()
            return
        if self._polite == ended.item:
            self._outbox.put(Discarded(ended.item, Waste.COURTESY))
            self._conversation.released()
            return
        if self._eager is not None and self._eager.completeness in _WHOLE:
            self._whole = ended.item
        self._end_turn(ended, self._arrival(ended.voiced_until_ms))

    def _end_turn(self, ended: Ended, since: float) -> None:
        self._active()
        moments = self._decodes.moments(ended.revision) | {"turn_end": self._ports.clock.monotonic()}
        self._outbox.put(ended)
        self._conversation.cut(CutReason.TURN_DETECTED)
        self._conversation.take(Heard(ended.item, ended.transcript, since, moments))

    # Decodes

    def _decode(self, request: DecodeRequest) -> None:
        self._decodes.keep(self._listener.wants)
        confirming = request.final and self._conversation.awaits is Awaits.CONFIRMATION
        self._decodes.start(self._tasks, request, self._config.locale, self._told, confirming=confirming)

    def _told(self, request: DecodeRequest, answer: Transcript | TellerlineError) -> None:
        if isinstance(answer, TellerlineError):
            self._undecoded(request, answer)
        else:
            self._decoded(request, answer)

    def _decoded(self, request: DecodeRequest, transcript: Transcript) -> None:
        completeness = Completeness.UNKNOWN
        if request.final:
            transcript, completeness = self._judged(transcript)
        self._on(self._listener.heard(request.revision, transcript, completeness))

    def _judged(self, heard: Transcript) -> tuple[Transcript, Completeness]:
        """What was said and how complete it is; where the grammar fails, by the likeliest words alone."""
        try:
            transcript = self._ports.handler.rescore(heard)
            return transcript, self._ports.handler.judge(transcript)
        except Exception as fault:
            log.exception("the grammar failed to judge: %s", type(fault).__name__)
            return heard, judge_words(heard.text, heard.locale)

    def _undecoded(self, request: DecodeRequest, error: TellerlineError) -> None:
        wanted = request.final and self._listener.wants(request.revision)
        self._on(self._listener.unheard(request.revision))
        if wanted:
            self._outbox.put(Fault(error))
            self._conversation.fail(error)

    # Time

    def _pass_time(self) -> None:
        now = self._ports.clock.monotonic()
        if self._keypad.busy and (ended := self._keypad.elapsed(now)) is not None:
            self._end_digits(*ended, now)
        self._conversation.tick(speaking=self._listener.item is not None or self._keypad.busy)
        if self._conversation.over:
            raise _Over
        if self._conversation.busy or self._conversation.audible:
            self._active()
        idle_ms = max((now - self._active_at) * 1000, self._listener.now_ms - self._active_ms)
        if idle_ms >= self._timing.idle_ms:
            raise CallIdle(f"nothing was said for {self._timing.idle_ms // 1000} s")

    def _active(self) -> None:
        self._active_at, self._active_ms = self._ports.clock.monotonic(), self._listener.now_ms

    def _arrival(self, at_ms: int) -> float:
        """When the sample at `at_ms` of the call's audio had arrived."""
        wanted = at_ms * _PER_MS
        for received, at in self._arrivals:
            if received >= wanted:
                return at
        return self._ports.clock.monotonic()


def _new_item(clock: Clock) -> ItemId:
    return ItemId(clock.new_id())


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
