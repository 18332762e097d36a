"""Turn-taking: when what the caller says, types or keys has become a turn, and is the conversation's to answer."""

import asyncio
import logging
from functools import partial
from typing import Final

from schemas.audio import Samples
from schemas.call import CallConfig, Cleared, CutReason, Fault, KeyPressed
from schemas.errors import TellerlineError, WrongState
from schemas.ids import RuleId
from schemas.interpretation import Interpretation
from schemas.transcript import Decode, Onward, Source, Transcript
from schemas.turn import Awaits, Completeness, Discarded, Eager, Ended, ItemId, Partial, SpeechStarted, Waste
from services.audio.endpointing import timing
from services.audio.keypad import Keypad
from services.audio.listener import Listener, Signal
from services.audio.utterance import DecodeRequest
from services.call.arrivals import Arrivals
from services.call.barge_in import BargeIn
from services.call.conversation import Conversation
from services.call.decodes import Decodes
from services.call.floor import TYPED, Floor
from services.call.outbound import OutboundQueue
from services.call.ports import CallPorts
from services.call.user_turn import Commitment, UserTurn
from services.ports import Clock

log = logging.getLogger(__name__)

_LOST: Final = RuleId("endpointing.lost@1")
_WHOLE: Final = frozenset({Completeness.COMPLETE, Completeness.COURTESY, Completeness.BINDING})


class TurnTaking:
    """The caller's side of a call. Times are seconds of the call's clock, `_ms` those of its audio."""

    def __init__(
        self,
        ports: CallPorts,
        outbound: OutboundQueue,
        conversation: Conversation,
        arrivals: Arrivals,
        config: CallConfig,
    ) -> None:
        self._handler = ports.handler
        self._clock = ports.clock
        self._outbound = outbound
        self._conversation = conversation
        self._arrivals = arrivals
        self._locale = config.locale
        self._listener = Listener(config.locale, partial(_new_item, ports.clock), config.patience)
        self._keypad = Keypad(timing())
        self._floor = Floor(self._listener, self._keypad, ports.clock)
        self._barge_in = BargeIn(self._listener, conversation)
        self._decodes = Decodes(ports.recognizer, ports.clock)
        self._eager: Eager | None = None
        self._spoken: UserTurn | None = None
        self._last: Commitment | None = None
        self._active_at = ports.clock.monotonic()
        self._active_ms = 0

    # What the call may ask

    @property
    def speaking(self) -> bool:
        """Whether an utterance is in progress."""
        return self._listener.item is not None

    @property
    def busy(self) -> bool:
        """Whether the caller is speaking or keying."""
        return self.speaking or self._keypad.busy

    @property
    def decoding(self) -> bool:
        """Whether words are being recognised."""
        return self._decodes.busy

    @property
    def settling(self) -> bool:
        """Whether the last utterance was over so little ago that silence has to be heard before anything is done."""
        return self._spoken is not None and self._floor.settling(self._spoken)

    def idle_ms(self, now: float) -> float:
        """How long nothing has happened, by the clock or by the audio, whichever is longer."""
        return max((now - self._active_at) * 1000, self._listener.now_ms - self._active_ms)

    # What the call tells

    def open(self, tasks: asyncio.TaskGroup) -> None:
        """The call lives: decodes are tasks of `tasks`."""
        self._decodes.open(tasks)

    def close(self) -> None:
        """The call is over."""
        self._decodes.close()

    def active(self) -> None:
        """Something happens: the call is not idle."""
        self._active_at, self._active_ms = self._clock.monotonic(), self._listener.now_ms

    def configure(self, config: CallConfig) -> None:
        """Change language or patience between turns."""
        self._locale = config.locale
        self._listener.configure(config.locale, config.patience)

    def tick(self, now: float) -> None:
        """Time passes: a pause ends the digits, and a turn."""
        if self._last is not None:
            self._last.look()
        if self._keypad.busy and (ended := self._keypad.elapsed(now)) is not None:
            self._end_digits(*ended, now)

    def means(self, text: str) -> bool:
        """Whether typed words are a wish of a caller's; many a client opens a call with words that only start it."""
        return self._interpreted(Transcript.typed(text, self._locale)).understood.intent is not None

    def typed(self, text: str, at: float) -> None:
        """Typed words are a turn at once; speech under way is dropped."""
        self._on(self._listener.clear())
        self._end_keyed(Transcript.typed(text, self._locale), TYPED, at)

    def key(self, key: str, at: float) -> None:
        """A key stops a reply, and may end the digits."""
        self._outbound.put(KeyPressed(key))
        self._on(self._listener.clear())  # the tone of the key is no speech
        self._conversation.cut(CutReason.TURN_DETECTED)
        self.active()
        ended = self._keypad.press(key, at)
        if ended is not None:
            self._end_digits(*ended, at)

    def commit(self) -> None:
        """End the utterance in progress now. Raises WrongState when there is none."""
        if not self.speaking:
            raise WrongState("there is no utterance to commit")
        self._on(self._listener.commit())

    def clear(self) -> None:
        """Drop the utterance in progress."""
        self._on(self._listener.clear())
        self._outbound.put(Cleared())

    def undone_for(self, item: ItemId) -> None:
        """The turn before `item` was undone: both are one, unless `item` has ended meanwhile."""
        if self._listener.item == item:
            self._on(self._listener.merge())

    # Sound

    async def words_known(self) -> None:
        """Wait where more audio would let the clock run past a decision whose words are being decoded."""
        while (revision := self._listener.waiting) is not None and self._decodes.running(revision):
            await self._decodes.wait(revision)

    def feed(self, frame: Samples, probability: float) -> None:
        """Take 512 samples and the probability that they hold speech."""
        self._on(self._listener.feed(frame, probability))

    def advance(self, pending: int) -> None:
        """All frames were fed; `pending` samples fill none yet."""
        self._on(self._listener.advance(pending))
        self._decodes.keep(self._listener.wants)
        self._barge_in.voice()
        if self._last is not None:
            self._last.look()

    # What the listener says

    def _on(self, signals: list[Signal]) -> None:
        for signal in signals:
            match signal:
                case DecodeRequest():
                    self._decode(signal)
                case Ended():
                    self._end_speech(signal)
                case Partial(text=text) | Eager(transcript=Transcript(text=text)):
                    self._outbound.put(signal)
                    self._barge_in.words(text, self._locale)
                    if isinstance(signal, Eager):
                        self._eager = signal
                case Discarded() if self._lost(signal):
                    self._end_lost(signal)
                case Discarded():
                    self._discard(signal)
                case _:
                    self._outbound.put(signal)
            if isinstance(signal, SpeechStarted):
                self.active()

    def _discard(self, discarded: Discarded) -> None:
        self._outbound.put(discarded)
        self._conversation.released()

    def _lost(self, discarded: Discarded) -> bool:
        """Whether a read-back met words that nobody heard, for the first time: they may have been a change, or a no."""
        spoken = discarded.reason is Waste.NO_SPEECH and discarded.voiced_ms >= timing().lost_voice_ms
        waited = self._conversation.awaits is Awaits.CONFIRMATION and not self._conversation.audible
        return spoken and waited and (self._last is None or self._last.turn.transcript.text != "")

    # Turns

    def _end_lost(self, discarded: Discarded) -> None:
        """Answer as where nothing was understood: what waits is read again, and a yes to it counts after that."""
        words, now_ms = Transcript("", self._locale, ()), self._listener.now_ms
        self._end_turn(Ended(discarded.item, 0, words, _LOST, now_ms, now_ms), Source.SPEECH, self._clock.monotonic())

    def _end_speech(self, ended: Ended) -> None:
        waste = self._barge_in.waste(ended, self._locale)
        if waste is not None:
            self._discard(Discarded(ended.item, waste))
            return
        if self._eager is not None and self._eager.completeness in _WHOLE:
            self._barge_in.commanded(ended.item)
        self._spoken = self._end_turn(ended, Source.SPEECH, self._arrivals.of(ended.voiced_until_ms))

    def _end_digits(self, digits: str, rule: RuleId, at: float) -> None:
        self._end_keyed(Transcript.typed(digits, self._locale, source=Source.DTMF), rule, at)

    def _end_keyed(self, transcript: Transcript, rule: RuleId, at: float) -> None:
        now_ms = self._listener.now_ms
        self._end_turn(Ended(_new_item(self._clock), 0, transcript, rule, now_ms, now_ms), transcript.source, at)

    def _end_turn(self, ended: Ended, source: Source, since: float) -> UserTurn:
        self.active()
        moments = self._decodes.moments(ended.revision) | {"turn_end": self._clock.monotonic()}
        self._outbound.put(ended)
        self._conversation.cut(CutReason.TURN_DETECTED)
        turn = UserTurn(ended.item, ended.transcript, source, ended.rule, ended.voiced_until_ms, since, moments)
        self._last = Commitment(turn, self._floor.over)
        self._conversation.take(self._last)
        return turn

    # Decodes

    def _decode(self, request: DecodeRequest) -> None:
        self._decodes.keep(self._listener.wants)
        decode = Decode.FINAL if request.final else Decode.PARTIAL
        if request.final and self._conversation.awaits is Awaits.CONFIRMATION:
            decode = Decode.CONFIRMING
        self._decodes.start(request, self._locale, self._told, decode, self._handler.wordings)

    def _told(self, request: DecodeRequest, answer: Transcript | TellerlineError) -> None:
        if isinstance(answer, TellerlineError):
            self._undecoded(request, answer)
        else:
            self._decoded(request, answer)

    def _decoded(self, request: DecodeRequest, transcript: Transcript) -> None:
        said = self._interpreted(transcript) if request.final else Interpretation(transcript)
        if request.final and self._listener.asks(request.revision, said):
            self._decodes.look_onward(request, said.transcript, partial(self._said, request, said))
        else:
            self._said(request, said)

    def _said(self, request: DecodeRequest, said: Interpretation, onward: Onward | None = None) -> None:
        self._on(self._listener.heard(request.revision, said, onward))
        if self.speaking and said.transcript.text.strip():
            self._foresee(said if request.final else said.transcript, whole=request.final)

    def _foresee(self, words: Transcript | Interpretation, *, whole: bool) -> None:
        """Have the answer ready that these words would get, if they were all."""
        try:
            self._conversation.foresee(words, whole=whole)
        except Exception as fault:
            log.exception("what will be said was not foreseen: %s", type(fault).__name__)

    def _interpreted(self, transcript: Transcript) -> Interpretation:
        """What was said and means; where the grammar fails, the likeliest words alone."""
        try:
            return self._handler.interpret(transcript)
        except Exception as fault:
            log.exception("the grammar failed: %s", type(fault).__name__)
            return Interpretation(transcript)

    def _undecoded(self, request: DecodeRequest, error: TellerlineError) -> None:
        wanted = request.final and self._listener.wants(request.revision)
        self._on(self._listener.unheard(request.revision))
        if wanted:
            self._outbound.put(Fault(error))
            self._conversation.fail(error)


def _new_item(clock: Clock) -> ItemId:
    return ItemId(clock.new_id())
