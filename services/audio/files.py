"""Whole utterances as files: WAV, FLAC, Ogg (Opus, Vorbis) and MP3, by PyAV."""

import io
from collections.abc import Iterator
from typing import Final

import av
import numpy as np
import soxr
from av.audio.resampler import AudioResampler

from schemas.audio import SAMPLE_RATE, AudioFormat, Samples
from schemas.errors import MalformedAudio, TooLarge, UnsupportedAudio
from services.audio import codec

MAX_SECONDS: Final = 60.0
"""A longer utterance is refused while it is being decoded, so that a small file can't fill the memory."""
CONTAINERS: Final = frozenset({"wav", "flac", "ogg", "mp3"})
CODECS: Final = frozenset(
    {"pcm_s16le", "pcm_s24le", "pcm_s32le", "pcm_f32le", "pcm_u8", "pcm_mulaw", "pcm_alaw", "flac", "opus", "vorbis"}
    | {"mp3", "mp3float"}
)
MAX_CHANNELS: Final = 2
_COMPLETE: Final = 0.95
"""The part of the duration in its header that a file must decode to; less is a truncated upload."""
_UNKNOWN_SIZE: Final = 0xFFFFFFFF
"""What a recorder that could not go back writes as a RIFF length."""


def read_file(data: bytes) -> Samples:
    """Decode a file to mono float32 at 16 kHz, shape (n,). Raises MalformedAudio, UnsupportedAudio, TooLarge."""
    if not data:
        raise MalformedAudio("the file is empty")
    if data.startswith(b"RIFF") and len(data) < _promised_bytes(data):
        raise MalformedAudio("the file is shorter than its header says")
    try:
        with av.open(io.BytesIO(data), mode="r", metadata_errors="replace") as container:
            return _finite(_decode(container))
    except (av.error.FFmpegError, ValueError) as error:
        raise MalformedAudio("the file does not decode") from error


def read_raw(data: bytes, form: AudioFormat) -> Samples:
    """Decode headerless bytes (PCM16 or G.711) to mono float32 at 16 kHz. Raises MalformedAudio, TooLarge."""
    if form.channels != 1:
        raise UnsupportedAudio("headerless audio has one channel")
    samples = codec.decode(data, form)
    if samples.size > MAX_SECONDS * form.rate:
        raise TooLarge(f"an utterance is at most {MAX_SECONDS:.0f} s long")
    if form.rate == SAMPLE_RATE:
        return samples
    resampled: Samples = soxr.resample(samples, form.rate, SAMPLE_RATE)
    return resampled


def _promised_bytes(data: bytes) -> int:
    """The length in a RIFF header; FFmpeg trusts the file's own instead. 0 where the writer could not know it."""
    size = int.from_bytes(data[4:8], "little")
    return 0 if size in {0, _UNKNOWN_SIZE} else size + 8


def _decode(container: av.container.InputContainer) -> Samples:
    if container.format.name not in CONTAINERS or len(container.streams.audio) != 1:
        raise UnsupportedAudio("WAV, FLAC, Ogg or MP3 with one audio stream is taken")
    stream = container.streams.audio[0]
    if stream.codec_context.name not in CODECS or stream.codec_context.channels > MAX_CHANNELS:
        raise UnsupportedAudio(f"codec {stream.codec_context.name} is not taken")
    promised = float(container.duration or 0) / av.time_base
    if promised > MAX_SECONDS:
        raise TooLarge(f"an utterance is at most {MAX_SECONDS:.0f} s long")
    parts = list(_chunks(container, stream))
    samples = np.concatenate(parts) if parts else np.zeros(0, dtype=np.float32)
    if samples.size < promised * _COMPLETE * SAMPLE_RATE:
        raise MalformedAudio("the file is shorter than its header says")
    return samples


def _chunks(container: av.container.InputContainer, stream: av.audio.stream.AudioStream) -> Iterator[Samples]:
    """Mono float32 pieces at 16 kHz, at most MAX_SECONDS of them."""
    resampler = AudioResampler(format="flt", layout="mono", rate=SAMPLE_RATE)
    total = 0
    for frame in (*_frames(container, stream), None):
        for piece in resampler.resample(frame):
            samples = piece.to_ndarray().reshape(-1).astype(np.float32)
            total += samples.size
            if total > MAX_SECONDS * SAMPLE_RATE:
                raise TooLarge(f"an utterance is at most {MAX_SECONDS:.0f} s long")
            yield samples


def _frames(
    container: av.container.InputContainer, stream: av.audio.stream.AudioStream
) -> Iterator[av.audio.frame.AudioFrame]:
    for frame in container.decode(stream):
        frame.pts = None  # a file cut out of a longer one starts at any time
        yield frame


def _finite(samples: Samples) -> Samples:
    if not np.isfinite(samples).all():
        raise MalformedAudio("the file holds samples that are not numbers")
    return np.clip(samples, -1.0, 1.0)
