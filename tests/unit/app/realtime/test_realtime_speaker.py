"""Our sound in a client's format is the same sound."""

import numpy as np
import pytest

from app.transports.realtime.speaker import PIECE_MS, Speaker
from schemas.audio import AudioFormat, Encoding
from schemas.speech import SpokenChunk
from services.audio.codec import decode

FORMS = [AudioFormat(Encoding.PCM16, 24_000), AudioFormat(Encoding.MULAW, 8_000), AudioFormat(Encoding.ALAW, 8_000)]


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.encoding.value)
@pytest.mark.parametrize("rate", [16_000, 22_050, 24_000])
def test_it_is_the_same_tone_as_long_and_as_loud(form: AudioFormat, rate: int) -> None:
    at = np.arange(rate) / rate
    pcm = (np.sin(2 * np.pi * 500 * at) * 16_000).astype("<i2").tobytes()
    speaker = Speaker(form)
    pieces = [*speaker.pieces(SpokenChunk(pcm[:20_000], rate, 1)), *speaker.pieces(SpokenChunk(pcm[20_000:], rate, 2))]
    pieces += speaker.rest()
    assert max(ms for _, ms in pieces) <= PIECE_MS
    assert abs(sum(ms for _, ms in pieces) - 1_000) < 1
    samples = decode(b"".join(data for data, _ in pieces), form)
    peak = np.argmax(np.abs(np.fft.rfft(samples))) * form.rate / samples.size
    assert abs(peak - 500) < 2
    assert abs(np.sqrt(np.mean(samples**2)) - 16_000 / 32_768 / np.sqrt(2)) < 0.01
