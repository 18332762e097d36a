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
        begin = time.perf_counter()
        worked = _worked_ms()
        if decoded is None:
            transcript = typed(utterance, case.language)
        else:
            transcript = await self._heard(decoded.samples, case.language, handler)
        ear_ms = _worked_ms() - worked
        heard_ms = (time.perf_counter() - begin) * 1_000
        collector = Collector(transcript, played.proposals)
        heard = bool(transcript.text.strip()) or (played.awaited and decoded is not None and lost(decoded.samples))
        if heard:
            await converse(handler, transcript, ReplyId(f"r{number}"), collector)
        total_ms = (time.perf_counter() - begin) * 1_000
        work = {"the ear's work": ear_ms, "the turn's work": _worked_ms() - worked - ear_ms}
        if decoded is None:
            del work["the ear's work"]
        record = collector.record(case, number, self._recognizer, self._ruleset)
        if decoded is not None:
            record = record.model_copy(update={"sound": sound_record(utterance, decoded)})
        if not heard:
            record = record.model_copy(update={"decision": NOTHING_HEARD})
        stages = ([] if decoded is None else [("asr", heard_ms)]) + list(collector.stages.items())
        timing = _timing(case, number, decoded, total_ms, stages)
        told = {"work": {name: round(ms, 3) for name, ms in work.items()}}
        return TurnResult(record=record, timing=timing.model_copy(update=told))

    async def _heard(self, samples: Samples, locale: Locale, handler: TurnHandler) -> Transcript:
        """What a call would have taken the sound for."""
        transcribe = self._house.recognizer.transcribe
        return handler.interpret(await transcribe(samples, locale, Decode.FINAL, wordings=handler.wordings)).transcript

    async def close(self) -> None:
        """Release the house."""
        await self._house.close()


def _worked_ms() -> float:
    """The processor's time of this process, which plays one call at a time."""
    return time.process_time() * 1_000


def _timing(
    case: Case, number: int, decoded: DecodedAudio | None, total_ms: float, stages: list[tuple[str, float]]
) -> TurnTiming:
    return TurnTiming(
        case=case.id,
        turn=number,
        audio_s=0.0 if decoded is None else round(len(decoded.samples) / SAMPLE_RATE, 3),
        total_ms=round(total_ms, 3),
        stages=waterfall(stages),
    )


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
