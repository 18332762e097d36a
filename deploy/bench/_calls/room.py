"""A loudspeaker in a room with a microphone: what we say comes back late, fainter, coloured and with a tail."""

from typing import Final

import numpy as np

from schemas.audio import SAMPLE_RATE, Samples
from services.audio.echo import Echo
from services.audio.frames import VAD_FRAME

TAIL_S: Final = 0.3
BEGAN: Final = 10.0
"""When we begin to speak, by the call's clock."""
_HISS: Final = 1e-4
_SENT_S: Final = 0.8
"""Sound is sent in pieces of this length, a second ahead."""


def loudness(samples: Samples, db: float) -> Samples:
    """`samples` so loud that what is audible of them has `db` of full scale."""
    audible = samples[np.abs(samples) > 0.01 * np.abs(samples).max()]
    level = float(np.sqrt(np.mean(np.square(audible))))
    return samples * np.float32(10 ** (db / 20) / level)


def echo(samples: Samples, late_s: float, db: float, seed: int) -> Samples:
    """What a microphone picks up of `samples`, `db` louder; as long as they are, and later."""
    draw, size = np.random.default_rng(seed), round(TAIL_S * SAMPLE_RATE)
    room = draw.normal(0, 1, size) * np.exp(-6.9 * np.arange(size) / size)
    room[0] = 3.0
    heard = np.convolve(samples, room / np.sqrt(np.square(room).sum()))[: samples.size]
    level = 20 * np.log10(np.sqrt(np.mean(np.square(samples))) / np.sqrt(np.mean(np.square(heard))))
    late = np.zeros(round(late_s * SAMPLE_RATE), dtype=np.float32)
    return np.concatenate((late, heard * 10 ** ((level + db) / 20))).astype(np.float32)


def mixed(*parts: Samples) -> Samples:
    """All at once over the line's own noise, in whole frames."""
    longest = max(part.size for part in parts)
    longest += -longest % VAD_FRAME
    whole = np.random.default_rng(7).normal(0, _HISS, longest).astype(np.float32)
    for part in parts:
        whole[: part.size] += part
    return whole


def heard(ours: Samples, microphone: Samples) -> Samples:
    """The microphone, in real time, without our voice, which is sent ahead of it in pieces."""
    gate, out, sent, step = Echo(), [], 0, round(SAMPLE_RATE * _SENT_S)
    for start in range(0, microphone.size, VAD_FRAME):
        at = BEGAN + (start + VAD_FRAME) / SAMPLE_RATE
        while sent < ours.size and BEGAN + sent / SAMPLE_RATE <= at + 1.0:
            gate.sent(ours[sent : sent + step], BEGAN + sent / SAMPLE_RATE)
            sent += step
        out.append(gate.without(microphone[start : start + VAD_FRAME], at))
    return np.concatenate((*out, gate.release()))
