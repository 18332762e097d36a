"""Our sound in a client's format is the same sound, and each piece knows its place."""

import numpy as np
import pytest

from app.transports.live.reply_sound import PIECE_MS, ReplySound
from schemas.audio import AudioFormat, Encoding
from schemas.speech import SpokenChunk
from services.audio.codec import decode

FORMS = [
    AudioFormat(Encoding.PCM16, 16_000),
    AudioFormat(Encoding.PCM16, 24_000),
    AudioFormat(Encoding.MULAW, 8_000),
    AudioFormat(Encoding.ALAW, 8_000),
]


def tone(rate: int, seconds: float = 1.0) -> bytes:
    at = np.arange(round(rate * seconds)) / rate
    return (np.sin(2 * np.pi * 500 * at) * 16_000).astype("<i2").tobytes()


@pytest.mark.parametrize("form", FORMS, ids=lambda form: f"{form.encoding.value} {form.rate}")
@pytest.mark.parametrize("rate", [16_000, 22_050, 24_000])
def test_it_is_the_same_tone_as_long_and_as_loud(form: AudioFormat, rate: int) -> None:
    pcm, sound = tone(rate), ReplySound(form)
    pieces = [*sound.pieces(SpokenChunk(pcm[:20_000], rate, 1)), *sound.pieces(SpokenChunk(pcm[20_000:], rate, 2))]
    pieces += sound.rest()
    assert max(piece.ms for piece in pieces) <= PIECE_MS
    assert abs(sum(piece.ms for piece in pieces) - 1_000) < 1
    samples = decode(b"".join(piece.data for piece in pieces), form)
    peak = np.argmax(np.abs(np.fft.rfft(samples))) * form.rate / samples.size
    assert abs(peak - 500) < 2
    assert abs(np.sqrt(np.mean(samples**2)) - 16_000 / 32_768 / np.sqrt(2)) < 0.01


@pytest.mark.parametrize("piece_ms", [20, 200])
def test_a_piece_never_claims_more_of_the_text_than_was_said(piece_ms: int) -> None:
    sound = ReplySound(AudioFormat(Encoding.PCM16, 24_000), piece_ms)
    first = list(sound.pieces(SpokenChunk(tone(24_000, 0.5), 24_000, 4)))
    second = list(sound.pieces(SpokenChunk(tone(24_000, 0.3), 24_000, 9)))
    assert [piece.text_end for piece in first] == [0] * (len(first) - 1) + [4]
    assert [piece.text_end for piece in second] == [4] * (len(second) - 1) + [9]
    both = [*first, *second]
    assert [piece.at_ms for piece in both[1:]] == [piece.at_ms + piece.ms for piece in both[:-1]]
    assert max(piece.ms for piece in both) == piece_ms


def test_what_was_played_tells_how_far_the_words_have_come() -> None:
    sound = ReplySound(AudioFormat(Encoding.MULAW, 8_000))
    for end in (4, 9):
        list(sound.pieces(SpokenChunk(tone(8_000, 0.5), 8_000, end)))
    assert [sound.said(ms) for ms in (0, 499, 500, 999, 1_000, 5_000)] == [0, 0, 4, 4, 9, 9]
    assert [sound.whole(ms) for ms in (0, 999, 1_000, 5_000)] == [False, False, True, True]
