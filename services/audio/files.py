"""Whole utterances as files: WAV, FLAC, Ogg (Opus, Vorbis) and MP3, by PyAV, piece by piece and never past a bound."""

import io
from collections.abc import Iterator
from typing import Final

import av
import numpy as np
import soxr
from av.audio.resampler import AudioResampler
from numpy.typing import NDArray

from schemas.audio import SAMPLE_RATE, AudioFormat, Encoding, Samples
from schemas.errors import MalformedAudio, TooLarge, UnsupportedAudio
from services.audio import codec
from services.audio.channels import Channel, heard
from services.audio.containers import bare, has_header, links

_Frames = NDArray[np.float32]
"""Shape (channels, n)."""
MAX_SECONDS: Final = 60.0
"""A longer utterance is refused while it is being decoded, so that a small file can't fill the memory."""
CODECS: Final = frozenset(
    {"pcm_s16le", "pcm_s24le", "pcm_s32le", "pcm_f32le", "pcm_u8", "pcm_mulaw", "pcm_alaw", "flac", "opus", "vorbis"}
    | {"mp3", "mp3float"}
)
MAX_CHANNELS: Final = 2
RATES: Final = range(4_000, 192_001)
"""Sample rates that are taken, in hertz."""
MAX_PACKETS: Final = 100_000
"""Packets that are looked at: Vorbis makes up to 45,000 of a minute, and one that says nothing costs time as well."""
_PROBE: Final = {"probesize": str(256 * 1024), "analyzeduration": "1000000"}
_COMPLETE: Final = 0.95
"""The part of the duration in its header that a file must decode to; less is a truncated upload."""
_SLACK: Final = 16
"""Samples that may be missing anyway: what a filter keeps of a file of a few."""


def read_file(data: bytes, channel: Channel | None = None) -> Samples:
    """Decode a file to mono float32 at 16 kHz, shape (n,). Raises MalformedAudio, UnsupportedAudio, TooLarge.

    Of two channels with sound that differ one has to be named, or their mix: whose is the caller's is not guessed.
    Strangers' files go through DecoderPool instead, which also bounds what FFmpeg itself takes.
    """
    kind, data = bare(data)
    parts: list[_Frames] = []
    for link in links(data) if kind == "ogg" else [data]:
        parts.append(_link(kind, link))
        if sum(part.shape[1] for part in parts) > MAX_SECONDS * SAMPLE_RATE:
            raise _too_long()
    frames = _joined(parts)
    if not frames.size:
        raise MalformedAudio("the file holds no samples")
    return heard(_finite(frames), channel)


def read_raw(data: bytes, form: AudioFormat) -> Samples:
    """Decode headerless bytes (PCM16 or G.711) to mono float32 at 16 kHz.

    Raises MalformedAudio, UnsupportedAudio, TooLarge.
    """
    if form.channels != 1:
        raise UnsupportedAudio("headerless audio has one channel")
    if has_header(data):
        raise UnsupportedAudio("this is a file with a header, and no headerless audio")
    if len(data) > MAX_SECONDS * form.rate * (2 if form.encoding is Encoding.PCM16 else 1):
        raise TooLarge(f"an utterance is at most {MAX_SECONDS:.0f} s long")
    samples = codec.decode(data, form)
    if not samples.size:
        raise MalformedAudio("there are no samples")
    if form.rate == SAMPLE_RATE:
        return samples
    resampled: Samples = soxr.resample(samples, form.rate, SAMPLE_RATE)
    return resampled


def _joined(parts: list[_Frames]) -> _Frames:
    """Pieces in a row; where some have one channel and others two, the one is both."""
    most = max((part.shape[0] for part in parts), default=1)
    wide = [part if part.shape[0] == most else np.repeat(part, most, axis=0) for part in parts]
    return np.concatenate(wide, axis=1) if wide else np.zeros((1, 0), dtype=np.float32)


def _link(kind: str, data: bytes) -> _Frames:
    try:
        with av.open(io.BytesIO(data), mode="r", format=kind, options=_PROBE, metadata_errors="replace") as container:
            return _decode(container)
    except (av.error.FFmpegError, ValueError) as error:
        raise MalformedAudio("the file does not decode") from error


def _decode(container: av.container.InputContainer) -> _Frames:
    if len(container.streams.audio) != 1:
        raise UnsupportedAudio("one audio stream is taken")
    stream = container.streams.audio[0]
    context: av.AudioCodecContext | None = stream.codec_context  # none where FFmpeg knows no codec of that number
    if context is None:
        raise UnsupportedAudio("a codec that nobody knows is not taken")
    if context.name not in CODECS or context.channels > MAX_CHANNELS:
        raise UnsupportedAudio(f"codec {context.name} with {context.channels} channels is not taken")
    promised = float(container.duration or 0) / av.time_base
    if promised > MAX_SECONDS:
        raise _too_long()
    samples = _joined(list(_pieces(container, stream)))
    if samples.shape[1] < promised * _COMPLETE * SAMPLE_RATE - _SLACK:
        raise MalformedAudio("the file is shorter than its header says")
    return samples


def _pieces(container: av.container.InputContainer, stream: av.audio.stream.AudioStream) -> Iterator[_Frames]:
    """Float32 pieces at 16 kHz, at most MAX_SECONDS of them. A chained stream may change its form on the way."""
    resampler: AudioResampler | None = None
    form, total = None, 0
    for frame in _frames(container, stream):
        was, form = form, (frame.sample_rate, frame.layout.name, frame.format.name)
        if resampler is None or form != was:
            if resampler is not None:
                yield from _resampled(resampler, None)
            layout = "mono" if frame.layout.nb_channels == 1 else "stereo"
            resampler = AudioResampler(format="fltp", layout=layout, rate=SAMPLE_RATE)
        for samples in _resampled(resampler, frame):
            total += samples.shape[1]
            if total > MAX_SECONDS * SAMPLE_RATE:
                raise _too_long()
            yield samples
    if resampler is not None:
        yield from _resampled(resampler, None)


def _resampled(resampler: AudioResampler, frame: av.audio.frame.AudioFrame | None) -> Iterator[_Frames]:
    for piece in resampler.resample(frame):
        yield piece.to_ndarray().astype(np.float32)


def _frames(
    container: av.container.InputContainer, stream: av.audio.stream.AudioStream
) -> Iterator[av.audio.frame.AudioFrame]:
    """Frames as they come, counted in time before anything is cut off them: what is thrown away has cost as much."""
    seconds = 0.0
    for number, packet in enumerate(container.demux(stream)):
        seconds += float((packet.duration or 0) * packet.time_base) if packet.time_base else 0.0
        if seconds > MAX_SECONDS + 1 or number > MAX_PACKETS:
            raise _too_long()
        for frame in packet.decode():
            if frame.sample_rate not in RATES or frame.layout.nb_channels > MAX_CHANNELS:
                raise UnsupportedAudio("a sample rate or a number of channels that is not taken")
            frame.pts = None  # a file cut out of a longer one starts at any time
            yield frame


def _too_long() -> TooLarge:
    return TooLarge(f"an utterance is at most {MAX_SECONDS:.0f} s long")


def _finite(samples: _Frames) -> _Frames:
    if not np.isfinite(samples).all():
        raise MalformedAudio("the file holds samples that are not numbers")
    return np.clip(samples, -1.0, 1.0)
