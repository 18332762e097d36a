"""Sound in files of every kind, and what is heard of it."""

import io

import av
import numpy as np

TONE = (0.4 * np.sin(2 * np.pi * 440 * np.arange(24_000) / 16_000)).astype(np.float32)


def written(container: str, codec: str, samples: np.ndarray, rate: int = 16_000, layout: str = "mono") -> bytes:
    target = io.BytesIO()
    with av.open(target, "w", format=container) as out:
        stream = out.add_stream(codec, rate=rate, layout=layout)
        planes = np.repeat((samples * 32767).astype("<i2"), 2)[None, :] if layout == "stereo" else None
        data = planes if planes is not None else (samples * 32767).astype("<i2")[None, :]
        frame = av.AudioFrame.from_ndarray(np.ascontiguousarray(data), format="s16", layout=layout)
        frame.rate = rate
        for packet in (*stream.encode(frame), *stream.encode(None)):
            out.mux(packet)
    return target.getvalue()


def heard(samples: np.ndarray) -> tuple[float, float]:
    """Seconds, and the loudest frequency."""
    spectrum = np.abs(np.fft.rfft(samples * np.hanning(samples.size)))
    return samples.size / 16_000, float(np.argmax(spectrum) * 16_000 / samples.size)
