"""Whole calls: the caller's turns found in one channel of two, and what the channels say of each other."""

import asyncio
import json
from pathlib import Path

import av
import numpy as np
import pytest
import soxr

from app.qa.replay.manifests import readers
from app.qa.replay.manifests.manifest import Case, CaseTurn, dump_jsonl
from app.qa.replay.playing.house import PipelineHouse
from app.qa.replay.playing.split import Split, split
from app.qa.replay.playing.splitting import parts, split_all
from app.qa.replay.sound.audio import Clip, decode, read_audio
from app.qa.replay.sound.talk import Spoken, talk_of
from app.settings import Settings
from schemas.audio import SAMPLE_RATE, Samples
from schemas.errors import BadInput, MalformedAudio, NotFound, UnsupportedAudio
from services.audio.vad import SileroVad, VadState
from tests.fakes.recognizer import FakeRecognizer

SAID = Path(__file__).parent.parent / "audio" / "balance.opus"
RATE = 8_000


def stereo(
    path: Path,
    agent: list[tuple[float, Samples]],
    caller: list[tuple[float, Samples]],
    seconds: float,
    codec: str = "pcm_mulaw",
    rate: int = RATE,
) -> Path:
    """A file, of G.711 unless said: the agent left, the caller right, each saying things at times."""
    both = np.zeros((2, int(seconds * SAMPLE_RATE)), dtype=np.float32)
    for side, said in enumerate((agent, caller)):
        for at, words in said:
            begin = int(at * SAMPLE_RATE)
            both[side, begin : begin + len(words)] += words[: both.shape[1] - begin]
    with av.open(str(path), "w") as container:
        stream = container.add_stream(codec, rate=rate, layout="stereo")
        stream.bit_rate = 64_000
        pcm = (np.clip(both, -1, 1) * 32_767).astype(np.int16).T.reshape(1, -1).copy()
        frame = av.AudioFrame.from_ndarray(pcm, format="s16", layout="stereo")
        frame.sample_rate = SAMPLE_RATE
        to = av.AudioResampler(format=stream.format, layout="stereo", rate=rate, frame_size=stream.frame_size or 0)
        for piece in [*to.resample(frame), *to.resample(None)]:
            container.mux(stream.encode(piece))
        container.mux(stream.encode(None))
    return path


@pytest.fixture(scope="module")
def words() -> Samples:
    return read_audio(SAID)


def found_in(path: Path, channel: int | None) -> Split:
    async def run() -> Split:
        house = PipelineHouse(Settings(), FakeRecognizer(lambda _seconds: "what's my balance"))
        try:
            case = Case(id="call", locale="en-US", turns=(CaseTurn(audio=path.name),))
            return await split(Clip(path, channel), case, house, SileroVad())
        finally:
            await house.close()

    return asyncio.run(run())


def test_the_callers_turns_are_found(tmp_path: Path, words: Samples) -> None:
    length = len(words) / SAMPLE_RATE
    path = stereo(tmp_path / "call.wav", [(0.5, words), (12.0, words)], [(5.0, words), (18.0, words)], 26.0)
    found = found_in(path, 1)
    assert (found.channel, found.channels, found.chosen) == (1, 2, "as said")
    assert len(found.turns) == 2
    for turn, at in zip(found.turns, (5.0, 18.0), strict=True):
        assert at - 0.7 < turn.start < at + 0.5
        assert at + length - 1.0 < turn.end < at + length + 1.0
    assert found.seconds == pytest.approx(26.0, abs=0.1)
    assert found.talk is not None
    assert (found.talk.barge_ins, found.talk.cut_offs, found.talk.talk_over_s) == (0, 0, 0.0)
    assert found.talk.dead_air_s > 5


def test_what_was_found_is_a_manifest_that_plays(tmp_path: Path, words: Samples) -> None:
    stereo(tmp_path / "call.wav", [(0.5, words)], [(5.0, words), (12.0, words)], 18.0)
    case = Case(id="a call", locale="en-US", turns=(CaseTurn(audio="call.wav", channel=1),))
    found = found_in(tmp_path / "call.wav", 1)
    (tmp_path / "turns.jsonl").write_bytes(dump_jsonl(tuple(parts(case, found))))
    (read,) = readers.load(tmp_path / "turns.jsonl").cases
    assert [turn.channel for turn in read.turns] == [1, 1]
    first = read.turns[0]
    assert first.expect is not None
    assert (first.expect.transcript, first.expect.by_machine) == ("what's my balance", ("transcript",))
    part = decode(Clip(tmp_path / "call.wav", 1, start=first.start, end=first.end)).samples
    assert len(part) / SAMPLE_RATE == pytest.approx((first.end or 0) - (first.start or 0), abs=0.05)
    assert float(np.abs(part).max()) > 0.05
    assert read.tags["barge_ins"] == "0"


def test_who_is_the_caller_is_never_guessed(tmp_path: Path, words: Samples) -> None:
    path = stereo(tmp_path / "call.wav", [(0.5, words)], [(5.0, words)], 9.0)
    with pytest.raises(UnsupportedAudio, match="caller's"):
        found_in(path, None)
    with pytest.raises(UnsupportedAudio, match="caller's"):
        decode(Clip(path))
    alone = stereo(tmp_path / "alone.wav", [], [(2.0, words)], 7.0)
    assert found_in(alone, None).chosen == "the only one with sound"
    assert decode(Clip(alone)).channel == 1
    same = stereo(tmp_path / "same.wav", [(1.0, words)], [(1.0, words)], 6.0)
    assert decode(Clip(same)).chosen == "all the same"


def test_what_is_no_call(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        found_in(tmp_path / "none.wav", None)
    (tmp_path / "a.wav").write_bytes(b"nothing")
    with pytest.raises(MalformedAudio):
        found_in(tmp_path / "a.wav", None)


def spoken(*stretches: tuple[float, float], seconds: float = 30.0) -> Spoken:
    found = Spoken()
    at = 0.0
    while at < seconds:
        found.feed(0.9 if any(start <= at < end for start, end in stretches) else 0.02)
        at += 0.032
    return found


def test_talk_over_barge_ins_and_cut_offs() -> None:
    talk = talk_of(spoken((5, 8), (12, 15)), spoken((1, 4), (7, 10), (11, 13)))
    assert (talk.barge_ins, talk.cut_offs) == (1, 1)
    assert talk.talk_over_s == pytest.approx(2.0, abs=0.1)
    assert talk.dead_air_s == pytest.approx(15.0, abs=0.1)
    assert talk_of(spoken(), spoken()).dead_air_s == pytest.approx(30.0, abs=0.1)


FORMATS = [
    ("a.au", "pcm_mulaw", 8_000),
    ("alaw.wav", "pcm_alaw", 8_000),
    ("a.m4a", "aac", 44_100),
    ("a.wma", "wmav2", 44_100),
    ("a.mp3", "libmp3lame", 44_100),
    ("a.opus", "libopus", 48_000),
]


Said = tuple[list[tuple[float, Samples]], list[tuple[float, Samples]], float]


@pytest.fixture(scope="module")
def plain(words: Samples, tmp_path_factory: pytest.TempPathFactory) -> tuple[Said, Split]:
    """What is said in a call, and what is found in it where it is a WAV of G.711."""
    said = ([(0.5, words), (12.0, words)], [(5.0, words), (9.0, words), (18.0, words)], 24.0)
    return said, found_in(stereo(tmp_path_factory.mktemp("plain") / "plain.wav", *said), 1)


@pytest.mark.parametrize(("name", "codec", "rate"), FORMATS)
def test_a_call_is_split_alike_in_every_format(
    tmp_path: Path, plain: tuple[Said, Split], name: str, codec: str, rate: int
) -> None:
    said, alike = plain
    found = found_in(stereo(tmp_path / name, *said, codec, rate), 1)
    assert len(found.turns) == len(alike.turns) == 3
    for turn, same in zip(found.turns, alike.turns, strict=True):
        assert (turn.start, turn.end) == (pytest.approx(same.start, abs=0.15), pytest.approx(same.end, abs=0.15))
    assert found.talk is not None
    assert alike.talk is not None
    assert found.talk.caller_s == pytest.approx(alike.talk.caller_s, abs=0.5)
    assert (found.talk.barge_ins, found.talk.cut_offs) == (alike.talk.barge_ins, alike.talk.cut_offs)


@pytest.mark.parametrize(("name", "codec", "rate"), FORMATS)
def test_a_part_of_any_format(tmp_path: Path, name: str, codec: str, rate: int) -> None:
    """Two tones after another: what is cut out of the second is the second."""
    at = np.arange(rate * 8) / rate
    tones = np.where(at < 4, np.sin(2 * np.pi * 400 * at), np.sin(2 * np.pi * 1_000 * at)) * 0.4
    with av.open(str(tmp_path / name), "w") as container:
        stream = container.add_stream(codec, rate=rate, layout="mono")
        stream.bit_rate = 64_000
        pcm = (tones * 32_767).astype(np.int16).reshape(1, -1)
        frame = av.AudioFrame.from_ndarray(pcm, format="s16", layout="mono")
        frame.sample_rate = rate
        to = av.AudioResampler(format=stream.format, layout="mono", rate=rate, frame_size=stream.frame_size or 0)
        for piece in [*to.resample(frame), *to.resample(None)]:
            container.mux(stream.encode(piece))
        container.mux(stream.encode(None))
    assert_tone(tmp_path / name, 5.0, 6.5)


@pytest.mark.parametrize("name", ["tones.gsm", "tones.wav"])
def test_a_part_of_gsm_by_itself_and_in_a_wav(name: str) -> None:
    """Made by another program: FFmpeg reads GSM and does not write it."""
    assert_tone(Path(__file__).parent.parent / "data" / "gsm" / name, 0.95, 1.5)


def assert_tone(path: Path, start: float, end: float) -> None:
    part = decode(Clip(path, start=start, end=end)).samples
    assert len(part) / SAMPLE_RATE == pytest.approx(end - start, abs=0.05)
    spectrum = np.abs(np.fft.rfft(part))
    assert float(np.argmax(spectrum) * SAMPLE_RATE / len(part)) == pytest.approx(1_000, abs=5)


def test_a_turn_of_an_hour_is_refused_and_a_part_of_one_is_not(tmp_path: Path) -> None:
    (tmp_path / "long.ulaw").write_bytes(bytes([0xFF]) * 8_000 * 3_600)
    (tmp_path / "m.jsonl").write_text(json.dumps({"id": "a", "locale": "en-US", "audio": "long.ulaw"}))
    with pytest.raises(Exception, match="segment times"):
        decode(Clip(tmp_path / "long.ulaw"))
    assert len(decode(Clip(tmp_path / "long.ulaw", start=3_000.0, end=3_002.0)).samples) == 2 * SAMPLE_RATE


def test_speech_on_a_telephone_line_counts_whole() -> None:
    corpus = Path(__file__).parent.parent / "data" / "corpus" / "audio" / "en-GB"
    pause = np.zeros(6 * SAMPLE_RATE, np.float32)
    said = np.concatenate([part for path in sorted(corpus.glob("*.opus"))[:12] for part in (read_audio(path), pause)])
    narrow = soxr.resample(soxr.resample(said, SAMPLE_RATE, 8_000), 8_000, SAMPLE_RATE)
    frames = narrow[: len(narrow) // 512 * 512].reshape(-1, 512)
    frames = (frames + np.random.default_rng(1).normal(0, 3e-4, frames.shape)).astype(np.float32)
    vad, state, spoken = SileroVad(), VadState(), Spoken()
    for frame in frames:
        spoken.feed(vad.probabilities(state, frame)[0])
    vad.close()
    loud = float((np.sqrt((frames**2).mean(axis=1)) > 0.006).sum()) * 512 / SAMPLE_RATE
    heard = sum(end - start for start, end in spoken.all())
    assert loud * 0.85 < heard < loud * 1.4, (heard, loud)


def test_a_call_that_is_left_out_ends_no_split_in_green(tmp_path: Path) -> None:
    (tmp_path / "m.jsonl").write_text('{"id": "a", "locale": "en-US", "audio": "gone.wav"}')
    with pytest.raises(BadInput, match="1 calls"):
        list(split_all(tmp_path / "m.jsonl", tmp_path / "n.jsonl", Settings()))
