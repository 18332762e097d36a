"""Recordings as the pipeline wants them: any container PyAV reads, or headerless G.711 and PCM; a channel, a part."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import av
import numpy as np
import soxr
from numpy.typing import NDArray

from app.qa.replay.sound.promised import promised_bytes
from schemas.audio import SAMPLE_RATE, Samples
from schemas.errors import BadInput, MalformedAudio, NotFound, TooLarge, UnsupportedAudio
from services.audio.channels import Channel, choose
from services.audio.containers import HEAD_BYTES, has_header

MAX_SECONDS: Final = 60.0
"""A recording of one turn may not be longer: the recogniser takes no more."""
MAX_CALL_SECONDS: Final = 4 * 3_600.0
"""A recording that turns are cut from, or found in, may not be longer."""
MAX_FILE_BYTES: Final = 2 * 1024 * 1024 * 1024
HEADERLESS: Final = {
    ".ulaw": "g711_ulaw",
    ".ul": "g711_ulaw",
    ".mulaw": "g711_ulaw",
    ".alaw": "g711_alaw",
    ".al": "g711_alaw",
}
"""Endings of files that are G.711 and nothing else."""
_RAW_FORMATS: Final = {"g711_ulaw": "mulaw", "g711_alaw": "alaw", "pcm16": "s16le"}
_RAW_RATE: Final = {"g711_ulaw": 8_000, "g711_alaw": 8_000, "pcm16": SAMPLE_RATE}
_SEEK_BEFORE_S: Final = 2.0
"""Compressed sound is decoded from a little before the part that is wanted."""
_SLACK_S: Final = 0.25
"""A part may end so far behind the recording: a codec's own delay, a length that somebody rounded."""


@dataclass(frozen=True, slots=True)
class Clip:
    """Where a turn's sound lies. `encoding` (g711_ulaw, g711_alaw, pcm16) and `rate` are for files without a header."""

    path: Path
    channel: Channel | None = None
    encoding: str | None = None
    rate: int | None = None
    start: float | None = None
    end: float | None = None


@dataclass(frozen=True, slots=True)
class DecodedAudio:
    """Mono float32 at 16 kHz, shape (n,), −1 … 1; the channel it is of how many, and why that one."""

    samples: Samples
    channel: Channel
    channels: int
    chosen: str


def read_audio(
    path: Path, channel: Channel | None = None, encoding: str | None = None, rate: int | None = None
) -> Samples:
    """A file's sound: `decode` without the rest."""
    return decode(Clip(path, channel, encoding, rate)).samples


def decode(source: Clip) -> DecodedAudio:
    """Decode a file, or a part of it. Raises NotFound, BadInput, TooLarge, MalformedAudio, UnsupportedAudio."""
    name = check(source.path)
    try:
        frames, rate = _part(source)
    except (av.FFmpegError, ValueError) as error:
        raise MalformedAudio(f"{name}: FFmpeg can't read it; without a header it needs `encoding`") from error
    if not np.isfinite(frames).all():
        raise MalformedAudio(f"{name}: samples that are not finite")
    channel, chosen = choose(frames, source.channel, name)
    mono = frames.mean(axis=0) if channel == "mix" else frames[channel]
    if rate != SAMPLE_RATE:
        mono = soxr.resample(mono, rate, SAMPLE_RATE)
    samples = np.clip(mono, -1.0, 1.0).astype(np.float32)
    return DecodedAudio(samples, channel, frames.shape[0], chosen)


def check(path: Path) -> str:
    """A recording's name. Raises BadInput, NotFound, TooLarge, MalformedAudio where it can't be heard whole."""
    scheme, mark, _ = str(path).partition(":/")
    if mark and scheme.rsplit("/", 1)[-1].isalnum():
        raise BadInput(f"{path}: only files are read here, and {scheme.rsplit('/', 1)[-1]}:// is none")
    if not path.is_file():
        raise NotFound(f"no such file: {path}")
    size = path.stat().st_size
    if size > MAX_FILE_BYTES:
        raise TooLarge(f"{path.name} is larger than {MAX_FILE_BYTES} bytes")
    if (whole := promised_bytes(path)) > size:
        raise MalformedAudio(f"{path.name}: cut short: {size} bytes of the {whole} that its header tells")
    return path.name


def _part(source: Clip) -> tuple[NDArray[np.float32], int]:
    """The samples between start and end as float32, shape (channels, n), and their rate in hertz."""
    begin = source.start or 0.0
    parts, rate, held, reached = [], 0, 0.0, 0.0
    for at, block, rate in blocks(source):
        reached = at + block.shape[1] / rate
        first = max(0, round((begin - at) * rate))
        last = block.shape[1] if source.end is None else round((source.end - at) * rate)
        if last <= 0:
            break
        if first < block.shape[1]:
            parts.append(block[:, first : max(last, first)])
            held += parts[-1].shape[1] / rate
        if held > MAX_SECONDS:
            raise TooLarge(f"{source.path.name}: longer than the {MAX_SECONDS:.0f} s of a turn: give segment times")
    if not parts or not sum(part.shape[1] for part in parts):
        raise MalformedAudio(f"{source.path.name}: no samples" + (f" behind {begin:.1f} s" if begin else ""))
    if source.end is not None and source.end > reached + _SLACK_S:
        raise BadInput(f"{source.path.name}: `end` is {source.end:.2f} s, and the recording has {reached:.2f}")
    return np.concatenate(parts, axis=1), rate


def blocks(source: Clip) -> Iterator[tuple[float, NDArray[np.float32], int]]:
    """A file decoded piece by piece, from about `source.start` on: where a piece begins in seconds, samples, rate.

    Samples are float32, shape (channels, n). Raises UnsupportedAudio, and what PyAV raises.
    """
    options: dict[str, Any] = {}
    encoding = source.encoding or HEADERLESS.get(source.path.suffix.lower())
    if encoding is not None:
        with source.path.open("rb") as file:
            if has_header(file.read(HEAD_BYTES)):
                raise BadInput(f"{source.path.name}: it has a header: `encoding` is of files without one")
        rate = str(source.rate or _RAW_RATE[encoding])
        options = {"format": _RAW_FORMATS[encoding], "options": {"sample_rate": rate}}
    with av.open(str(source.path), **options) as container:
        if not container.streams.audio:
            raise UnsupportedAudio(f"{source.path.name}: no audio in it")
        stream = container.streams.audio[0]
        if encoding is None and source.rate is not None and source.rate != stream.rate:
            raise BadInput(f"{source.path.name}: `rate` is {source.rate}, and its header says {stream.rate}")
        start = source.start or 0.0
        if start > _SEEK_BEFORE_S and container.format.flags & 0x1000 == 0:
            container.seek(int((start - _SEEK_BEFORE_S) * av.time_base))
        planar = av.AudioResampler(format="fltp")
        at = None
        for frame in container.decode(stream):
            if at is None:
                at = 0.0 if frame.time is None or start <= _SEEK_BEFORE_S else frame.time
            for out in planar.resample(frame):
                block = out.to_ndarray().astype(np.float32, copy=False)
                yield at, block, out.sample_rate
                at += block.shape[1] / out.sample_rate
