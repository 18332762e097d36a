"""A loudspeaker in a room with a microphone: what we say comes back late, fainter, coloured and with a tail."""

import numpy as np

from schemas.audio import SAMPLE_RATE, Samples

TAIL_S = 0.3


def loudness(samples: Samples, db: float) -> Samples:
    """`samples` so loud that what is audible of them has `db` of full scale."""
    audible = samples[np.abs(samples) > 0.01 * np.abs(samples).max()]
    return (samples * 10 ** (db / 20) / np.sqrt(np.mean(np.square(audible)))).astype(np.float32)


def echo(samples: Samples, late_s: float, db: float, seed: int) -> Samples:
    """What a microphone picks up of `samples`, `db` louder; as long as they are, and later."""
    draw, size = np.random.default_rng(seed), round(TAIL_S * SAMPLE_RATE)
    room = draw.normal(0, 1, size) * np.exp(-6.9 * np.arange(size) / size)
    room[0] = 3.0
    heard = np.convolve(samples, room / np.sqrt(np.square(room).sum()))[: samples.size]
    level = 20 * np.log10(np.sqrt(np.mean(np.square(samples))) / np.sqrt(np.mean(np.square(heard))))
    late = np.zeros(round(late_s * SAMPLE_RATE), dtype=np.float32)
    return np.concatenate((late, heard * 10 ** ((level + db) / 20))).astype(np.float32)
