"""Keys in a line's sound: told, and not a trace of them left in what may be heard."""

import numpy as np
import pytest

from schemas.audio import AudioFormat, Encoding, Samples
from services.audio.codec import decode, encode
from services.audio.inband import InBand, Once
from services.audio.tones import ToneDetector, made

FORMS = [AudioFormat(encoding, 8_000) for encoding in Encoding] + [AudioFormat(Encoding.PCM16, 16_000)]
SECRET = "739154#"


def through(line: InBand, data: bytes, size: int) -> tuple[bytes, str]:
    """All that comes out, of packets of `size` bytes."""
    sound, keys = b"", ""
    for at in range(0, len(data), size):
        more, pressed = line.push(data[at : at + size])
        sound, keys = sound + more, keys + pressed
    return sound + line.rest(), keys


def voice(seconds: float, rate: int) -> Samples:
    at = np.arange(int(seconds * rate)) / rate
    return sum(0.1 / n * np.sin(2 * np.pi * 140 * n * at) for n in range(1, 9)).astype(np.float32)


@pytest.mark.parametrize("form", FORMS, ids=str)
@pytest.mark.parametrize("ms", [10, 20, 60])
def test_a_secret_leaves_no_trace_in_the_sound(form: AudioFormat, ms: int) -> None:
    speech = voice(0.5, form.rate)
    line = np.concatenate((speech, np.zeros(form.rate // 10, np.float32), made(SECRET, form.rate), speech))
    width = 2 if form.encoding is Encoding.PCM16 else 1
    sound, keys = through(InBand(form), encode(line, form), form.rate * ms // 1000 * width)
    assert keys == SECRET
    left = decode(sound, form)
    assert left.size == line.size
    assert ToneDetector(form.rate).push(left) == ("", [])
    keyed = left[speech.size + form.rate // 20 : -speech.size - form.rate // 20]
    assert np.abs(keyed).max() < 0.001
    whole = slice(0, speech.size - form.rate // 25)
    assert np.array_equal(left[whole], decode(encode(line, form), form)[whole])


def test_sound_waits_no_longer_than_a_tone_could_be_found_in_it() -> None:
    form = AudioFormat(Encoding.MULAW, 8_000)
    line = InBand(form)
    passed = sum(len(line.push(b"\xff" * 160)[0]) for _ in range(10))
    assert 1_600 - passed <= 0.033 * 8_000


def test_a_key_that_comes_in_both_ways_was_pressed_once() -> None:
    once = Once()
    assert [once.new("7", at, heard=heard) for at, heard in ((0, True), (0.1, False), (0.3, True), (0.4, False))] == [
        True,
        False,
        True,
        False,
    ]
    assert once.new("7", 0.5, heard=True)
    assert once.new("7", 0.6, heard=True), "twice in one way is twice"
    assert not once.new("7", 0.7, heard=False)
    assert not once.new("7", 0.8, heard=False)
    assert once.new("7", 5.0, heard=False), "long after, it is another"
