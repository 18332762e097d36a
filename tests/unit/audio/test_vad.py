"""The voice-activity model: one session, a state for each call."""

import asyncio
import time

import numpy as np
import pytest

from services.audio import surplus
from services.audio.frames import VAD_FRAME
from services.audio.vad import SileroVad, VadState
from tests.harness.gateway import clip, hiss, vad


def _whole(samples: np.ndarray) -> np.ndarray:
    return samples[: samples.size // VAD_FRAME * VAD_FRAME]


def test_speech_is_heard_and_noise_is_not() -> None:
    model, voice = vad(), _whole(clip("balance"))
    spoken = model.probabilities(VadState(), voice)
    assert np.median(spoken) > 0.8
    rng = np.random.default_rng(1)
    tone = 0.3 * np.sin(2 * np.pi * 697 * np.arange(16_384) / 16_000)
    for noise in (hiss(1.024), rng.normal(0, 0.05, 16_384), tone):
        assert max(model.probabilities(VadState(), _whole(noise.astype(np.float32)))) < 0.5


def test_calls_share_the_model_and_not_its_memory() -> None:
    model, first, second = vad(), _whole(clip("balance")), _whole(clip("to_catherine"))
    alone = model.probabilities(VadState(), first)
    ours, theirs, together = VadState(), VadState(), []
    for start in range(0, min(first.size, second.size), VAD_FRAME):
        together += model.probabilities(ours, first[start : start + VAD_FRAME])
        model.probabilities(theirs, second[start : start + VAD_FRAME])
    assert np.allclose(alone[: len(together)], together, atol=1e-5)


async def test_listening_leaves_the_event_loop_free() -> None:
    model, beats = SileroVad(threads=1), 0
    try:
        frames = _whole(clip("balance"))
        listening = asyncio.create_task(model.listen(VadState(), frames))
        while not listening.done():
            beats += 1
            await asyncio.sleep(0)
        assert listening.result() == model.probabilities(VadState(), frames)
        assert beats > 2
        state, beats = VadState(), 0
        for start in range(0, frames.size, VAD_FRAME):
            listening = asyncio.create_task(model.listen(state, frames[start : start + VAD_FRAME]))
            while not listening.done():
                beats += 1
                await asyncio.sleep(0)
        assert beats >= frames.size // VAD_FRAME
    finally:
        model.close()


async def test_sound_faster_than_time_is_heard_so_fast_by_all_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(surplus, "LEAD_S", 0.3)
    monkeypatch.setattr(surplus, "BURST_S", 1.0)
    model, heard = SileroVad(surplus=surplus.Surplus()), [0.0] * 5

    async def hear(call: int, seconds: float) -> None:
        state = VadState()
        while heard[call] < seconds:
            await model.listen(state, np.zeros(VAD_FRAME * 4, dtype=np.float32))
            heard[call] += 4 * VAD_FRAME / 16_000

    began = time.monotonic()
    greedy = [asyncio.create_task(hear(call, 1e9)) for call in range(4)]
    await asyncio.sleep(0.5)
    await hear(4, 0.25)
    took = time.monotonic() - began
    assert took < 0.6 + 0.25, "who is not before time waits for nobody"
    assert 4 * 0.3 + 1.0 < sum(heard[:4]) < 4 * (0.3 + 0.128 + took) + 1.0 + surplus.SHARE * took + 0.128
    for one in greedy:
        one.cancel()
    await asyncio.gather(*greedy, return_exceptions=True)
    model.close()
