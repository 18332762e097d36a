"""A call played through the pipeline in process: recogniser and turn handler, the caller's side from the manifest."""

import time
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol

import numpy as np

from app.qa.rehearsal import RehearsedCall
from app.qa.replay.manifests.manifest import Case, CaseTurn, MoneyMove, located
from app.qa.replay.playing.collect import NOTHING_HEARD, Collector, waterfall
from app.qa.replay.playing.parting import RecordedScript
from app.qa.replay.records.record import SCORE_DIGITS, SoundRecord, TurnResult, TurnTiming, unplayed
from app.qa.replay.sound import quality
from app.qa.replay.sound.audio import Clip, DecodedAudio, decode
from schemas.audio import SAMPLE_RATE, Samples
from schemas.decision import DecisionKind
from schemas.errors import TellerlineError
from schemas.ids import Locale, ProposalId
from schemas.transcript import Decode, Source, Transcript
from schemas.turn import ReplyId
from services.audio.endpointing import timing as waits
from services.audio.frames import VAD_FRAME
from services.audio.vad import SileroVad, VadState
from services.ports import Clock, Recognizer, TurnHandler
from services.timing import ManualClock

SPEAKING_S: Final = 2.0
"""How long the caller listens to a reply, on the replay's clock."""


class ReplayClock(ManualClock):
    """Dates and identifiers as the manifest has them; durations are real, so that latency can be measured."""

    def monotonic(self) -> float:
        """Seconds of the machine's own counter."""
        return time.perf_counter()


class House(Protocol):
    """The composed pipeline of one process."""

    @property
    def recognizer(self) -> Recognizer:
        """The process' recogniser, warm."""
        ...

    @property
    def kept(self) -> int:
        """How many transcripts were taken from earlier runs: nothing was decoded for them."""
        ...

    def call(self, case: Case, clock: Clock) -> AbstractAsyncContextManager[RehearsedCall]:
        """A call of the case's customer at a bank that no other case has touched."""
        ...

    async def close(self) -> None:
        """Release everything."""
        ...


@dataclass(slots=True)
class _PlayedCase:
    """A case as it is played: whose call it is, by which clock, what was proposed in it, and whether a yes is due."""

    case: Case
    base: Path
    handler: TurnHandler
    clock: ReplayClock
    proposals: dict[ProposalId, MoneyMove] = field(default_factory=dict)
    awaited: bool = False


class _Stopwatch:
    """What one turn takes, begun as it is made: by the clock, and of the processor, for a process plays one call."""

    def __init__(self, house: House) -> None:
        self._house, self._kept = house, house.kept
        self._at, self._worked = [time.perf_counter()], [time.process_time()]
        self._decoded = True

    def heard(self) -> None:
        """The sound is heard, by a decode or by what an earlier run kept."""
        self._decoded = self._house.kept == self._kept
        self.stop()

    def stop(self) -> None:
        """What follows is no longer the turn's."""
        self._at.append(time.perf_counter())
        self._worked.append(time.process_time())

    def told(self, case: Case, number: int, sound: DecodedAudio | None, stages: Mapping[str, float]) -> TurnTiming:
        """Without the ear's time, and the whole, where what was heard is an earlier run's."""
        (ear, all_of), (ears_work, work) = _since(self._at), _since(self._worked)
        timed = sound is None or self._decoded
        ears = {} if sound is None or not timed else {"the ear's work": ears_work}
        asr = [] if sound is None or not timed else [("asr", ear)]
        return TurnTiming(
            case=case.id,
            turn=number,
            audio_s=0.0 if sound is None else round(len(sound.samples) / SAMPLE_RATE, 3),
            total_ms=round(all_of, 3) if timed else None,
            kept=not timed,
            stages=waterfall([*asr, *stages.items()]),
            work={name: round(ms, 3) for name, ms in (ears | {"the turn's work": work - ears_work}).items()},
        )


def _since(seconds: list[float]) -> tuple[float, float]:
    """Milliseconds from the first of three times to each of the others."""
    begin, middle, end = seconds
    return (middle - begin) * 1_000, (end - begin) * 1_000


class PipelinePlayer:
    """Plays cases in a House."""

    def __init__(self, house: House, recognizer: str, ruleset: str, *, follow: bool = False) -> None:
        self._house = house
        self._recognizer = recognizer
        self._ruleset = ruleset
        self._follow = follow

    async def play(self, case: Case, base: Path) -> tuple[TurnResult, ...]:
        """All turns of one call. Each reply is heard in full before the caller's next words."""
        clock = ReplayClock(case.now)
        script = RecordedScript(case, self._follow)
        results: dict[int, TurnResult] = {}
        number: int | None = 1
        async with self._house.call(case, clock) as call:
            played = _PlayedCase(case, base, call.handler, clock)
            while number is not None:
                clock.advance(case.turns[number - 1].after_s)
                before = await call.holdings()
                result = await self._turn(played, number)
                changed = {"effects": effects(before, await call.holdings())}
                results[number] = result.model_copy(update={"record": result.record.model_copy(update=changed)})
                played.awaited = result.record.decision == DecisionKind.CONFIRM
                number = script.after(results[number].record)
                clock.advance(SPEAKING_S)
        return tuple(_told(case, n, results.get(n), script.partings.get(n, "")) for n in range(1, len(case.turns) + 1))

    async def _turn(self, played: _PlayedCase, number: int) -> TurnResult:
        case, handler = played.case, played.handler
        utterance = case.turns[number - 1]
        decoded = None
        if utterance.audio is not None:
            decoded = decode(source_of(utterance, played.base))
            played.clock.advance(len(decoded.samples) / SAMPLE_RATE)
        watch = _Stopwatch(self._house)
        if decoded is None:
            transcript = typed(utterance, case.language)
        else:
            transcript = await self._heard(decoded.samples, case.language, handler)
        watch.heard()
        collector = Collector(transcript, played.proposals)
        heard = bool(transcript.text.strip()) or (played.awaited and decoded is not None and lost(decoded.samples))
        if heard:
            await converse(handler, transcript, ReplyId(f"r{number}"), collector)
        watch.stop()
        record = collector.record(case, number, self._recognizer, self._ruleset)
        if decoded is not None:
            record = record.model_copy(update={"sound": sound_record(utterance, decoded)})
        if not heard:
            record = record.model_copy(update={"decision": NOTHING_HEARD})
        return TurnResult(record=record, timing=watch.told(case, number, decoded, collector.stages))

    async def _heard(self, samples: Samples, locale: Locale, handler: TurnHandler) -> Transcript:
        """What a call would have taken the sound for."""
        transcribe = self._house.recognizer.transcribe
        return handler.interpret(await transcribe(samples, locale, Decode.FINAL, wordings=handler.wordings)).transcript

    async def close(self) -> None:
        """Release the house."""
        await self._house.close()


def _told(case: Case, number: int, result: TurnResult | None, parting: str) -> TurnResult:
    """A turn's result, with what is to be said of what was asked after it; or that the call never came to it."""
    if result is not None:
        told = {"record": result.record.model_copy(update={"parting": parting})} if parting else {}
        return result.model_copy(update=told)
    return unplayed(case, number, reached=False)


def effects(before: Mapping[str, int], after: Mapping[str, int]) -> dict[str, int]:
    """What a turn changed at the bank: by how much each balance or lock is another."""
    changed = {name: after.get(name, 0) - before.get(name, 0) for name in sorted({*before, *after})}
    return {name: by for name, by in changed.items() if by}


def source_of(utterance: CaseTurn, base: Path) -> Clip:
    """Where a recorded turn's sound lies."""
    assert utterance.audio is not None
    said = utterance
    return Clip(located(base, utterance.audio), said.channel, said.encoding, said.rate, said.start, said.end)


def sound_record(utterance: CaseTurn, decoded: DecodedAudio) -> SoundRecord:
    """What was decoded, for the record."""
    ratio = quality.snr_db(decoded.samples)
    return SoundRecord(
        channel=decoded.channel,
        channels=decoded.channels,
        chosen=decoded.chosen,
        start=utterance.start,
        end=utterance.end,
        encoding=utterance.encoding,
        rate=utterance.rate,
        level_db=round(quality.level_db(decoded.samples), 1),
        clipped=round(quality.clipped(decoded.samples), SCORE_DIGITS),
        snr_db=None if ratio is None else round(ratio, 1),
    )


def typed(utterance: CaseTurn, locale: Locale) -> Transcript:
    """Typed words or keys as the transcript that they are."""
    if utterance.dtmf is not None:
        return Transcript.typed(utterance.dtmf, locale, source=Source.DTMF)
    return Transcript.typed(utterance.text or "", locale, utterance.alternatives)


def lost(samples: Samples) -> bool:
    """Whether somebody spoke for so long that a call asks again, where a yes is waited for."""
    whole = np.pad(samples, (0, -len(samples) % VAD_FRAME))
    vad = SileroVad()
    try:
        voiced = sum(probability >= waits().voice_on for probability in vad.probabilities(VadState(), whole))
    finally:
        vad.close()
    return voiced * VAD_FRAME * 1_000 >= waits().lost_voice_ms * SAMPLE_RATE


async def converse(handler: TurnHandler, transcript: Transcript, reply: ReplyId, collector: Collector) -> None:
    """Let the handler take the turn, say what failed where it does, and hear the reply to its end."""
    try:
        async for event in handler.take(transcript, reply):
            collector.take(event)
    except TellerlineError as error:
        collector.error = error
        async for event in handler.failed(error, reply):
            collector.take(event)
    await handler.delivered(reply)
