"""Whole recorded calls: the caller's turns, found by production's own voice activity and endpointing.

Audio is fed frame by frame, as a call feeds it, as fast as it goes: the clock stands still while words are decoded.
"""

import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Final

import av
import numpy as np
import soxr
from numpy.typing import NDArray

from app.qa.replay.manifests.manifest import Case
from app.qa.replay.playing.collect import Collector
from app.qa.replay.playing.player import House, ReplayClock, converse
from app.qa.replay.sound.audio import MAX_CALL_SECONDS, Clip, blocks, check
from app.qa.replay.sound.talk import Spoken, Talk, talk_of
from schemas.audio import SAMPLE_RATE, Samples
from schemas.errors import MalformedAudio, TooLarge
from schemas.transcript import Transcript
from schemas.turn import Discarded, Ended, ItemId, ReplyId, Resumed, SpeechStarted
from services.audio.channels import choose
from services.audio.frames import VAD_FRAME
from services.audio.listener import Listener, Signal
from services.audio.utterance import DecodeRequest
from services.audio.vad import SileroVad, VadState
from services.call import decoded
from services.ports import TurnHandler

BEFORE_S, AFTER_S = 0.3, 0.3
"""Kept of the recording before a turn's voice and after it: beginnings and ends are soft."""
_EVERY: Final = 31
"""Of so many samples one is enough to tell whether a channel is silent, or the same as another."""
_FRAMES_S: Final = VAD_FRAME / SAMPLE_RATE


@dataclass(frozen=True, slots=True)
class FoundTurn:
    """A turn of the caller: seconds of the recording, the words, and the rule that ended it."""

    start: float
    end: float
    transcript: Transcript
    rule: str


@dataclass(slots=True)
class Split:
    """What was found in a call. `wasted` counts sound that became no turn, by reason; `resumed` pauses within turns."""

    channel: int
    channels: int
    chosen: str
    seconds: float = 0.0
    took_s: float = 0.0
    turns: list[FoundTurn] = field(default_factory=list)
    wasted: Counter[str] = field(default_factory=Counter)
    resumed: int = 0
    talk: Talk | None = None


async def split(clip: Clip, case: Case, house: House, vad: SileroVad) -> Split:
    """Find the turns of a whole call. Raises what `decode` raises; UnsupportedAudio where nothing tells the caller."""
    begin = time.perf_counter()
    channel, channels, chosen = _caller(clip)
    found = Split(channel, channels, chosen)
    clock = ReplayClock(case.now)
    states = [VadState() for _ in range(channels)]
    spoken = [Spoken() for _ in range(channels)]
    async with house.call(case, clock) as call:
        ear = _Ear(house, case, call.handler, clock, found)
        for frames in _frames(clip, channels):
            for one in range(channels):
                probability = vad.probabilities(states[one], frames[one])[0]
                spoken[one].feed(probability)
                if one == channel:
                    await ear.take(frames[one], probability)
            found.seconds += _FRAMES_S
            if found.seconds > MAX_CALL_SECONDS:
                raise TooLarge(f"{clip.path.name}: longer than {MAX_CALL_SECONDS:.0f} s")
        await ear.end()
    found.talk = talk_of(spoken[channel], spoken[1 - channel]) if channels == 2 else None  # noqa: PLR2004 - two sides
    found.took_s = time.perf_counter() - begin
    return found


class _Ear:
    """Drives a listener over one call's frames, and the dialogue by the turns that it hears."""

    def __init__(self, house: House, case: Case, handler: TurnHandler, clock: ReplayClock, found: Split) -> None:
        self._house, self._case, self._handler, self._clock, self._found = house, case, handler, clock, found
        numbers = count(1)
        self._listener = Listener(case.language, lambda: ItemId(f"item-{next(numbers)}"))
        self._onset = 0.0
        self._told_s = 0.0

    async def take(self, frame: Samples, probability: float) -> None:
        """One frame of the caller's channel."""
        await self._follow(self._listener.feed(frame, probability))

    async def end(self) -> None:
        """The recording is over: what is being said ends with it."""
        await self._follow(self._listener.commit())

    async def _follow(self, signals: list[Signal]) -> None:
        waiting = list(signals)
        while waiting:
            signal = waiting.pop(0)
            match signal:
                case SpeechStarted():
                    self._onset = signal.at_ms / 1_000
                case DecodeRequest():
                    waiting += await self._decoded(signal)
                case Ended():
                    await self._ended(signal)
                case Discarded():
                    self._found.wasted[signal.reason.value] += 1
                case Resumed():
                    self._found.resumed += 1
                case _:
                    pass

    async def _decoded(self, request: DecodeRequest) -> list[Signal]:
        locale = self._case.language
        return await decoded(request, self._listener, self._house.recognizer, self._handler, locale)

    async def _ended(self, turn: Ended) -> None:
        until = turn.voiced_until_ms / 1_000
        start = max(self._onset - BEFORE_S, self._found.turns[-1].end if self._found.turns else 0.0)
        self._found.turns.append(FoundTurn(round(start, 3), round(until + AFTER_S, 3), turn.transcript, turn.rule))
        self._clock.advance(max(until - self._told_s, 0.0))
        self._told_s = until
        reply = ReplyId(f"r{len(self._found.turns)}")
        await converse(self._handler, turn.transcript, reply, Collector(turn.transcript, {}))


def _caller(clip: Clip) -> tuple[int, int, str]:
    """The caller's channel, of how many, and how it is known. Raises UnsupportedAudio where nothing tells."""
    check(clip.path)
    try:
        some = [block[:, ::_EVERY].copy() for _, block, _ in blocks(clip)]  # a view would keep the block
    except (av.FFmpegError, ValueError) as error:
        raise MalformedAudio(f"{clip.path.name}: {type(error).__name__}") from error
    if not some:
        raise MalformedAudio(f"{clip.path.name}: no samples")
    channel, chosen = choose(np.concatenate(some, axis=1), clip.channel, clip.path.name)
    return (0, 1, chosen) if channel == "mix" else (channel, some[0].shape[0], chosen)


def _frames(clip: Clip, channels: int) -> Iterator[NDArray[np.float32]]:
    """The recording at 16 kHz in frames of 512 samples, shape (channels, 512); the last is filled with silence."""
    resample: soxr.ResampleStream | None = None
    left = np.zeros((channels, 0), dtype=np.float32)
    for _, block, rate in blocks(clip):
        mixed = block if channels == block.shape[0] else block.mean(axis=0, keepdims=True)
        resample = resample or soxr.ResampleStream(rate, SAMPLE_RATE, channels, dtype="float32")
        more = resample.resample_chunk(np.ascontiguousarray(mixed.T)).reshape(-1, channels).T
        left = np.concatenate((left, more), axis=1)
        whole = left.shape[1] // VAD_FRAME * VAD_FRAME
        for at in range(0, whole, VAD_FRAME):
            yield np.ascontiguousarray(left[:, at : at + VAD_FRAME])
        left = left[:, whole:]
    if left.shape[1]:
        yield np.pad(left, ((0, 0), (0, VAD_FRAME - left.shape[1])))
