"""Recordings of every format come out as the same tone; what is no recording is refused by name."""

from pathlib import Path

import av
import numpy as np
import pytest

from app.qa.replay.sound.audio import Clip, decode, read_audio
from app.recordings.files import flac
from schemas.audio import SAMPLE_RATE, Samples
from schemas.errors import BadInput, MalformedAudio, NotFound, UnsupportedAudio


def tone(hertz: float, rate: int, seconds: float = 0.5) -> Samples:
    return (0.5 * np.sin(2 * np.pi * hertz * np.arange(int(rate * seconds)) / rate)).astype(np.float32)


def pitch(samples: Samples) -> float:
    spectrum = np.abs(np.fft.rfft(samples))
    return float(np.argmax(spectrum) * SAMPLE_RATE / len(samples))


def write(path: Path, codec: str, rate: int, channels: list[Samples]) -> Path:
    layout = "stereo" if len(channels) == 2 else "mono"
    with av.open(str(path), "w") as container:
        stream = container.add_stream(codec, rate=rate, layout=layout)
        pcm = (np.stack(channels) * 32_767).astype(np.int16)
        frame = av.AudioFrame.from_ndarray(pcm.T.reshape(1, -1).copy(), format="s16", layout=layout)
        frame.sample_rate = rate
        to = av.AudioResampler(format=stream.format, layout=layout, rate=rate, frame_size=stream.frame_size or 0)
        for piece in [*to.resample(frame), *to.resample(None)]:
            container.mux(stream.encode(piece))
        container.mux(stream.encode(None))
    return path


@pytest.mark.parametrize(
    ("name", "codec", "rate"),
    [
        ("a.wav", "pcm_s16le", 8_000),
        ("a.flac", "flac", 44_100),
        ("a.opus", "libopus", 48_000),
        ("a.mp3", "libmp3lame", 16_000),
        ("mulaw.wav", "pcm_mulaw", 8_000),
    ],
)
def test_containers(tmp_path: Path, name: str, codec: str, rate: int) -> None:
    samples = read_audio(write(tmp_path / name, codec, rate, [tone(440, rate)]))
    assert samples.dtype == np.float32
    assert samples.ndim == 1
    assert len(samples) / SAMPLE_RATE == pytest.approx(0.5, abs=0.12)
    assert pitch(samples) == pytest.approx(440, abs=4)


def test_headerless_mu_law(tmp_path: Path) -> None:
    source = tone(440, 8_000)
    steps = np.sign(source) * np.log1p(255 * np.abs(source)) / np.log(256)
    code = ((steps < 0).astype(int) << 7) | np.round(np.abs(steps) * 127).astype(int)
    (tmp_path / "a.ulaw").write_bytes((~code.astype(np.uint8)).tobytes())
    samples = read_audio(tmp_path / "a.ulaw", encoding="g711_ulaw", rate=8_000)
    assert pitch(samples) == pytest.approx(440, abs=4)
    assert float(np.abs(samples).max()) == pytest.approx(0.5, abs=0.05)


def test_the_channel_is_chosen(tmp_path: Path) -> None:
    path = write(tmp_path / "a.wav", "pcm_s16le", 16_000, [tone(300, 16_000), tone(900, 16_000)])
    assert pitch(read_audio(path, 0)) == pytest.approx(300, abs=4)
    assert pitch(read_audio(path, 1)) == pytest.approx(900, abs=4)
    assert float(np.abs(read_audio(path, "mix")).max()) <= 0.51
    with pytest.raises(UnsupportedAudio, match="channel 2 of 2"):
        read_audio(path, 2)


def test_flac_of_a_recording_comes_back(tmp_path: Path) -> None:
    source = tone(500, SAMPLE_RATE)
    (tmp_path / "a.flac").write_bytes(flac(source))
    assert np.abs(read_audio(tmp_path / "a.flac") - source).max() < 1e-3


@pytest.mark.parametrize("body", [b"", b"no audio at all", b"RIFF\x08\x00\x00\x00WAVEfmt "])
def test_what_is_not_audio(tmp_path: Path, body: bytes) -> None:
    (tmp_path / "a.wav").write_bytes(body)
    with pytest.raises(MalformedAudio, match="`encoding`"):
        read_audio(tmp_path / "a.wav")


@pytest.mark.parametrize(("name", "codec"), [("a.wav", "pcm_s16le"), ("a.au", "pcm_mulaw")])
def test_what_was_cut_off_in_transfer_is_not_heard_as_a_whole(tmp_path: Path, name: str, codec: str) -> None:
    body = write(tmp_path / name, codec, 8_000, [tone(440, 8_000)]).read_bytes()
    (tmp_path / name).write_bytes(body[: len(body) // 2])
    with pytest.raises(MalformedAudio, match=rf"cut short: {len(body) // 2} bytes of the {len(body)}"):
        read_audio(tmp_path / name)


def test_a_recorder_that_could_not_tell_the_length_is_heard(tmp_path: Path) -> None:
    body = bytearray(write(tmp_path / "a.wav", "pcm_s16le", 8_000, [tone(440, 8_000)]).read_bytes())
    body[4:8] = b"\xff" * 4
    (tmp_path / "a.wav").write_bytes(body)
    assert pitch(read_audio(tmp_path / "a.wav")) == pytest.approx(440, abs=4)


@pytest.mark.parametrize(("name", "codec"), [("a.wav", "pcm_s16le"), ("a.flac", "flac"), ("a.opus", "libopus")])
def test_a_file_that_says_what_it_is_is_not_taken_for_another(tmp_path: Path, name: str, codec: str) -> None:
    path = write(tmp_path / name, codec, 16_000 if codec != "libopus" else 48_000, [tone(440, 16_000)])
    with pytest.raises(BadInput, match="it has a header"):
        read_audio(path, encoding="g711_ulaw", rate=8_000)
    with pytest.raises(BadInput, match="`rate` is 8000, and its header says"):
        read_audio(path, rate=8_000)
    named = tmp_path / "b.ulaw"
    named.write_bytes(path.read_bytes())
    with pytest.raises(BadInput, match="it has a header"):
        read_audio(named)


@pytest.mark.parametrize(
    ("start", "end", "complaint"), [(0.1, 0.9, r"`end` is 0.90 s.*has 0.50"), (2.0, 3.0, "behind 2.0 s")]
)
def test_a_part_that_the_recording_does_not_have(tmp_path: Path, start: float, end: float, complaint: str) -> None:
    path = write(tmp_path / "a.wav", "pcm_s16le", 8_000, [tone(440, 8_000)])
    with pytest.raises((BadInput, MalformedAudio), match=complaint):
        decode(Clip(path, start=start, end=end))
    assert decode(Clip(path, start=0.1, end=0.6)).samples.size == pytest.approx(0.4 * SAMPLE_RATE, abs=200)


def test_an_absent_file(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        read_audio(tmp_path / "none.wav")
