"""Recordings as the pipeline wants them: any container PyAV reads, or headerless G.711 and PCM; a channel chosen."""

from pathlib import Path
from typing import Any, Final, Literal

import av
import numpy as np
import soxr
from numpy.typing import NDArray

from schemas.audio import SAMPLE_RATE, Samples
from schemas.errors import MalformedAudio, NotFound, TooLarge, UnsupportedAudio

MAX_SECONDS: Final = 600.0
"""A recording of one turn may not be longer."""
MAX_FILE_BYTES: Final = 128 * 1024 * 1024
_RAW_FORMATS: Final = {"g711_ulaw": "mulaw", "g711_alaw": "alaw", "pcm16": "s16le"}
_RAW_RATE: Final = {"g711_ulaw": 8_000, "g711_alaw": 8_000, "pcm16": SAMPLE_RATE}

Channel = int | Literal["mix"]


def read_audio(path: Path, channel: Channel = 0, encoding: str | None = None, rate: int | None = None) -> Samples:
    """Decode a file to mono float32 at 16 kHz, shape (n,), −1 … 1.

    `encoding` is g711_ulaw, g711_alaw or pcm16 for files without a header.
    Raises NotFound, TooLarge, MalformedAudio, UnsupportedAudio.
    """
    if not path.is_file():
        raise NotFound(f"no recording {path.name}")
    if path.stat().st_size > MAX_FILE_BYTES:
        raise TooLarge(f"{path.name} is larger than {MAX_FILE_BYTES} bytes")
    try:
        frames, source_rate = _decode(path, encoding, rate)
    except (av.FFmpegError, ValueError) as error:
        raise MalformedAudio(f"{path.name}: {type(error).__name__}") from error
    mono = _choose(frames, channel, path.name)
    if not np.isfinite(mono).all():
        raise MalformedAudio(f"{path.name}: samples that are not finite")
    if source_rate != SAMPLE_RATE:
        mono = soxr.resample(mono, source_rate, SAMPLE_RATE)
    return np.clip(mono, -1.0, 1.0).astype(np.float32)


def _decode(path: Path, encoding: str | None, rate: int | None) -> tuple[NDArray[np.float32], int]:
    """All samples as float32, shape (channels, n), and their rate in hertz."""
    options: dict[str, Any] = {}
    if encoding is not None:
        options = {"format": _RAW_FORMATS[encoding], "options": {"sample_rate": str(rate or _RAW_RATE[encoding])}}
    parts: list[NDArray[np.float32]] = []
    seconds = 0.0
    with av.open(str(path), **options) as container:
        if not container.streams.audio:
            raise UnsupportedAudio(f"{path.name}: no audio in it")
        stream = container.streams.audio[0]
        planar = av.AudioResampler(format="fltp")
        for frame in container.decode(stream):
            parts.extend(out.to_ndarray().astype(np.float32, copy=False) for out in planar.resample(frame))
            seconds += frame.samples / frame.sample_rate
            if seconds > MAX_SECONDS:
                raise TooLarge(f"{path.name}: longer than {MAX_SECONDS:.0f} s")
        source_rate = int(stream.rate)
    if not parts:
        raise MalformedAudio(f"{path.name}: no samples")
    return np.concatenate(parts, axis=1), source_rate


def _choose(frames: NDArray[np.float32], channel: Channel, name: str) -> NDArray[np.float32]:
    if channel == "mix":
        return np.asarray(frames.mean(axis=0), dtype=np.float32)
    if not 0 <= channel < frames.shape[0]:
        raise UnsupportedAudio(f"{name}: channel {channel} of {frames.shape[0]}")
    return np.asarray(frames[channel], dtype=np.float32)
