"""Whole utterances as files: every container, and every way a file can be wrong."""

import io
import struct
import wave
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest

from schemas.audio import AudioFormat, Encoding
from schemas.errors import MalformedAudio, TooLarge, UnsupportedAudio
from services.audio.files import MAX_SECONDS, read_file, read_raw
from tests.harness.sound_files import TONE, heard, written


def float_wav(samples: np.ndarray) -> bytes:
    data = samples.astype("<f4").tobytes()
    head = struct.pack("<4sI4s4sIHHIIHH", b"RIFF", 36 + len(data), b"WAVE", b"fmt ", 16, 3, 1, 16_000, 64_000, 4, 32)
    return head + struct.pack("<4sI", b"data", len(data)) + data


@pytest.mark.parametrize(
    ("container", "codec", "rate", "layout"),
    [
        ("wav", "pcm_s16le", 16_000, "mono"),
        ("wav", "pcm_s16le", 16_000, "stereo"),
        ("wav", "pcm_mulaw", 8_000, "mono"),
        ("wav", "pcm_alaw", 8_000, "mono"),
        ("flac", "flac", 16_000, "mono"),
        ("ogg", "libopus", 16_000, "mono"),
        ("mp3", "mp3", 16_000, "mono"),
    ],
)
def test_every_container_is_read(container: str, codec: str, rate: int, layout: str) -> None:
    tone = TONE if rate == 16_000 else TONE[::2].copy()
    seconds, hertz = heard(read_file(written(container, codec, tone, rate, layout)))
    assert abs(seconds - 1.5) < 0.1
    assert abs(hertz - 440) < 2


@pytest.mark.parametrize("data", [b"", b"RIFF", b"not audio at all" * 50, b"OggS" + bytes(200), b"\xff\xfb" * 300])
def test_what_is_no_audio_is_malformed(data: bytes) -> None:
    with pytest.raises((MalformedAudio, UnsupportedAudio)):
        read_file(data)


def test_a_truncated_upload_is_malformed() -> None:
    for whole in (written("wav", "pcm_s16le", TONE), written("flac", "flac", TONE)):
        with pytest.raises(MalformedAudio):
            read_file(whole[: len(whole) // 2])


def test_samples_that_are_no_numbers_are_malformed() -> None:
    for bad in (np.nan, np.inf, -np.inf):
        samples = TONE.copy()
        samples[777] = bad
        with pytest.raises(MalformedAudio):
            read_file(float_wav(samples))
    assert np.abs(read_file(float_wav(TONE * 10))).max() <= 1.0


def test_a_small_file_of_a_long_silence_is_too_large() -> None:
    bomb = written("flac", "flac", np.zeros(int(16_000 * (MAX_SECONDS + 5)), dtype=np.float32))
    assert len(bomb) < 200_000
    with pytest.raises(TooLarge):
        read_file(bomb)


def test_a_video_or_an_unknown_codec_is_unsupported() -> None:
    with pytest.raises(UnsupportedAudio):
        read_file(written("wav", "adpcm_ms", TONE))
    with pytest.raises(UnsupportedAudio):
        read_file(written("matroska", "libopus", TONE))
    wide = written("wav", "pcm_s16le", TONE)
    with pytest.raises(UnsupportedAudio, match="8 channels"):
        read_file(wide[:22] + b"\x08" + wide[23:])


def test_headerless_bytes_are_read_by_their_format() -> None:
    pcm = (TONE[::2] * 32767).astype("<i2").tobytes()
    seconds, hertz = heard(read_raw(pcm, AudioFormat(Encoding.PCM16, 8_000)))
    assert abs(seconds - 1.5) < 0.01
    assert abs(hertz - 440) < 2
    with pytest.raises(MalformedAudio):
        read_raw(pcm[:-1], AudioFormat(Encoding.PCM16, 8_000))
    with pytest.raises(TooLarge):
        read_raw(bytes(int(8_000 * (MAX_SECONDS + 1))), AudioFormat(Encoding.MULAW, 8_000))


def test_the_standard_librarys_wav_is_read() -> None:
    with _wav() as (target, out):
        out.writeframes((TONE * 32767).astype("<i2").tobytes())
    assert abs(heard(read_file(target.getvalue()))[0] - 1.5) < 1e-6


@contextmanager
def _wav() -> Iterator[tuple[io.BytesIO, wave.Wave_write]]:
    target = io.BytesIO()
    with wave.open(target, "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(16_000)
        yield target, out


@pytest.mark.parametrize(
    ("tag", "bits", "more"),
    [
        (1, 0, b""),
        (1, 7_000, b""),
        (3, 0, b""),
        (0xFFFE, 16, struct.pack("<HHI", 22, 16, 4) + b"strange codec..."),
        (0xABCD, 16, b""),
    ],
)
def test_a_wav_of_a_codec_that_nobody_knows_is_refused_for_what_it_is(tag: int, bits: int, more: bytes) -> None:
    form = struct.pack("<HHIIHH", tag, 1, 16_000, 32_000, 2, bits) + more
    body = (
        struct.pack("<4s4sI", b"WAVE", b"fmt ", len(form)) + form + struct.pack("<4sI", b"data", 3_200) + bytes(3_200)
    )
    with pytest.raises(UnsupportedAudio, match="codec"):
        read_file(struct.pack("<4sI", b"RIFF", len(body)) + body)


@pytest.mark.parametrize("head", [b"RIFF", b"OggS", b"fLaC", b"ID3\x04", b".snd"])
def test_a_file_with_a_header_is_no_headerless_audio(head: bytes) -> None:
    for encoding in (Encoding.MULAW, Encoding.ALAW, Encoding.PCM16):
        with pytest.raises(UnsupportedAudio, match="with a header"):
            read_raw(head + bytes(4_000), AudioFormat(encoding, 8_000))


def test_what_holds_no_samples_is_no_utterance() -> None:
    with pytest.raises(MalformedAudio, match="no samples"):
        read_raw(b"", AudioFormat(Encoding.MULAW, 8_000))
    body = io.BytesIO()
    with wave.open(body, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(16_000)
    with pytest.raises(MalformedAudio):
        read_file(body.getvalue())
