"""Bytes to samples."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.audio import AudioFormat, Encoding
from schemas.errors import MalformedAudio, UnsupportedAudio
from services.audio import codec
from services.audio.resample import StreamResampler


def _tone(rate: int, hertz: float, seconds: float = 1.0) -> np.ndarray:
    return np.sin(2 * np.pi * hertz * np.arange(int(rate * seconds)) / rate).astype(np.float32)


@pytest.mark.parametrize(
    ("encoding", "code", "sample"),
    [
        # ITU-T G.711: the ends of the scale, the smallest steps, and a mid-scale value of each law
        (Encoding.MULAW, 0x00, -32124),
        (Encoding.MULAW, 0x80, 32124),
        (Encoding.MULAW, 0xFF, 0),
        (Encoding.MULAW, 0x7F, 0),
        (Encoding.MULAW, 0xFE, 8),
        (Encoding.MULAW, 0xB0, 3900),
        (Encoding.ALAW, 0x55, -8),
        (Encoding.ALAW, 0xD5, 8),
        (Encoding.ALAW, 0x2A, -32256),
        (Encoding.ALAW, 0xAA, 32256),
        (Encoding.ALAW, 0x80, 5504),
    ],
)
def test_g711_values(encoding: Encoding, code: int, sample: int) -> None:
    decoded = codec.decode(bytes([code]), AudioFormat(encoding, 8000))
    assert decoded[0] * 32768 == sample


@pytest.mark.parametrize("table", [codec.MULAW, codec.ALAW])
def test_g711_tables_are_symmetric_and_each_half_distinct(table: np.ndarray) -> None:
    assert table.shape == (256,)
    assert np.array_equal(np.sort(table), np.sort(-table))
    assert len(set(np.abs(table[:128]).tolist())) == 128


@given(st.binary(max_size=400))
def test_pcm16_round_trip(data: bytes) -> None:
    if len(data) % 2:
        with pytest.raises(MalformedAudio):
            codec.decode(data, AudioFormat())
        return
    samples = codec.decode(data, AudioFormat())
    assert samples.size == len(data) // 2
    assert np.abs(np.frombuffer(codec.encode_pcm16(samples), "<i2") - np.frombuffer(data, "<i2")).max(initial=0) <= 1


def test_an_empty_frame_is_no_samples() -> None:
    for encoding in Encoding:
        assert codec.decode(b"", AudioFormat(encoding, 8000)).size == 0


@pytest.mark.parametrize("rate", [8000, 24000])
@pytest.mark.parametrize("chunk_ms", [10, 20, 37])
def test_streaming_resampling_keeps_the_tone(rate: int, chunk_ms: int) -> None:
    resampler, source = StreamResampler(rate), _tone(rate, 1000)
    step = rate * chunk_ms // 1000
    out = np.concatenate([resampler.push(source[i : i + step]) for i in range(0, source.size, step)])
    assert abs(out.size - 16000) <= 1
    delay = round(resampler.delay_ms * 16)
    expected = _tone(16000, 1000)
    assert np.abs(out[400:15000] - expected[400 - delay : 15000 - delay]).max() < 0.01


def test_streaming_resampling_removes_what_would_alias() -> None:
    resampler, source = StreamResampler(24000), _tone(24000, 11_000)
    assert np.abs(resampler.push(source)[500:]).max() < 0.001


def test_16_khz_passes_untouched_and_other_rates_are_refused() -> None:
    source = _tone(16000, 500)
    assert np.array_equal(StreamResampler(16000).push(source), source)
    with pytest.raises(UnsupportedAudio):
        StreamResampler(44100)
