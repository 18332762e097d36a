"""Voice activity: the silero model that faster-whisper bundles. One session a process, a small state a call."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from schemas.audio import SAMPLE_RATE, Samples
from schemas.errors import RecognizerUnavailable
from services.audio.frames import VAD_FRAME
from services.audio.surplus import SoundHeard, Surplus

_CONTEXT: Final = 64
"""Samples of the frame before that the model sees."""
_AT_ONCE: Final = 2
"""Frames that take less time than handing them to another thread would."""
_MODEL: Final = Path("assets", "silero_vad_v6.onnx")


def _model_file() -> Path:
    """Where faster-whisper keeps the model; found without importing the package, which would load CTranslate2."""
    spec = find_spec("faster_whisper")
    if spec is None or not spec.submodule_search_locations:
        raise RecognizerUnavailable("faster-whisper, which bundles the VAD model, is not installed")
    return Path(spec.submodule_search_locations[0]) / _MODEL


def _zeros(*shape: int) -> NDArray[np.float32]:
    return np.zeros(shape, dtype=np.float32)


@dataclass(slots=True)
class VadState:
    """What the model remembers of one call."""

    h: NDArray[np.float32] = field(default_factory=lambda: _zeros(1, 1, 128))
    c: NDArray[np.float32] = field(default_factory=lambda: _zeros(1, 1, 128))
    context: Samples = field(default_factory=lambda: _zeros(_CONTEXT))
    heard: SoundHeard = field(default_factory=SoundHeard)


class SileroVad:
    """Speech probabilities. What comes in real time is heard at once (0.12 ms a frame), more of it in threads.

    `surplus` bounds what comes faster than time; without it, all is heard as it comes.
    """

    def __init__(self, threads: int = 1, surplus: Surplus | None = None) -> None:
        self._surplus = surplus
        options = onnxruntime.SessionOptions()
        options.inter_op_num_threads = 1
        options.intra_op_num_threads = 1
        options.log_severity_level = 4
        self._session = onnxruntime.InferenceSession(
            str(_model_file()), providers=["CPUExecutionProvider"], sess_options=options
        )
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="vad")

    def probabilities(self, state: VadState, samples: Samples) -> list[float]:
        """The probability of speech in each frame of `samples` (a multiple of 512 samples); `state` moves on."""
        frames = samples.reshape(-1, VAD_FRAME)
        tails = frames[:, -_CONTEXT:]
        contexts = np.concatenate((state.context[None, :], tails[:-1]))
        line = np.concatenate((contexts, frames), axis=1)
        out, state.h, state.c = self._session.run(None, {"input": line, "h": state.h, "c": state.c})
        state.context = tails[-1].copy()
        return [float(p) for p in out.reshape(-1)]

    async def listen(self, state: VadState, samples: Samples) -> list[float]:
        """`probabilities`; off the event loop where they are many, so that no call blocks another."""
        if self._surplus is not None:
            await self._surplus.wait(state.heard, samples.size / SAMPLE_RATE)
        if samples.size <= _AT_ONCE * VAD_FRAME:
            heard = self.probabilities(state, samples)
            await asyncio.sleep(0)  # who sends faster than time has no turns on end
            return heard
        return await asyncio.get_running_loop().run_in_executor(self._pool, self.probabilities, state, samples)

    def close(self) -> None:
        """Release the threads."""
        self._pool.shutdown(wait=False, cancel_futures=True)
