"""Keys as tones: heard within what ITU-T Q.24 asks of a receiver, and never in speech, noise or hum."""

from pathlib import Path

import numpy as np
import pytest
import soxr

from schemas.audio import AudioFormat, Encoding, Samples
from services.audio.codec import decode, encode
from services.audio.files import read_file
from services.audio.tones import COLUMNS, KEYS, ROWS, ToneDetector, made

ALL = "1234567890*#ABCD"
HERE = Path(__file__).parents[3]
SPEECH = sorted(
    path
    for folder in ("tests/audio", "tests/data/asr", "app/demo/calls", "tests/data/corpus/audio/ja-JP")
    for path in (HERE / folder).iterdir()
    if path.suffix in {".opus", ".ogg"}
)


def dialled(
    keys: str,
    *,
    rate: int = 8_000,
    press: int = 40,
    pause: int = 40,
    low: float = 0.1,
    twist: float = 0,
    off: float = 0,
) -> Samples:
    """Keys of `press` ms, the low tone `twist` dB louder than the high one, both `off` by a share of their pitch."""
    at = np.arange(rate * press // 1000) / rate
    parts = [np.zeros(rate // 10)]
    for key in keys:
        row, column = next((n, line.index(key)) for n, line in enumerate(KEYS) if key in line)
        high = low * 10 ** (-twist / 20)
        tone = low * np.sin(2 * np.pi * ROWS[row] * (1 + off) * at)
        parts += [tone + high * np.sin(2 * np.pi * COLUMNS[column] * (1 + off) * at), np.zeros(rate * pause // 1000)]
    return np.concatenate([*parts, np.zeros(rate // 10)]).astype(np.float32)


def heard(samples: Samples, rate: int = 8_000, step: int = 160) -> str:
    detector = ToneDetector(rate)
    return "".join(detector.push(samples[at : at + step])[0] for at in range(0, samples.size, step))


def companded(samples: Samples, encoding: Encoding) -> Samples:
    form = AudioFormat(encoding, 8_000)
    return decode(encode(samples, form), form)


KEYED = {
    "40 ms": {},
    "100 ms": {"press": 100, "pause": 80},
    "twist 6 dB": {"twist": 6},
    "reverse twist 4 dB": {"twist": -3.8},
    "high by 1.5 %": {"off": 0.015},
    "low by 1.5 %": {"off": -0.015},
    "soft": {"low": 0.02},
    "loud": {"low": 0.45},
}
NO_KEYS = {
    "twist 12 dB": {"twist": 12},
    "reverse twist 8 dB": {"twist": -8},
    "off by 3.5 %": {"off": 0.035},
    "too soft": {"low": 0.004},
    "too short": {"press": 20},
}


@pytest.mark.parametrize("case", KEYED)
@pytest.mark.parametrize("encoding", Encoding)
def test_every_key_is_heard_once(case: str, encoding: Encoding) -> None:
    assert heard(companded(dialled(ALL * 3, **KEYED[case]), encoding)) == ALL * 3


@pytest.mark.parametrize("case", NO_KEYS)
def test_what_is_no_key_is_none(case: str) -> None:
    assert heard(dialled(ALL * 3, **NO_KEYS[case])) == ""


@pytest.mark.parametrize("rate", [8_000, 16_000, 24_000])
@pytest.mark.parametrize("step", [7, 160, 1_600])
def test_rates_and_pieces_make_no_difference(rate: int, step: int) -> None:
    assert heard(dialled("77#", rate=rate), rate, step) == "77#"


def test_a_long_key_is_one() -> None:
    assert heard(dialled("5", press=3_000)) == "5"


def test_what_we_make_is_what_we_hear() -> None:
    assert heard(made(ALL, 8_000)) == ALL
    assert made("x,", 8_000).size == 0


def test_keys_are_heard_in_noise() -> None:
    sound = dialled(ALL, press=80, pause=80)
    noise = np.random.default_rng(1).normal(0, 0.1 * 10 ** (-15 / 20), sound.size).astype(np.float32)
    assert heard(companded(sound + noise, Encoding.MULAW)) == ALL


def test_speech_on_a_telephone_presses_no_key() -> None:
    assert len(SPEECH) > 180
    pressed = {}
    for path in SPEECH:
        sound = soxr.resample(read_file(path.read_bytes()), 16_000, 8_000).astype(np.float32)
        if keys := heard(companded(sound, Encoding.MULAW), step=1_600):
            pressed[path.name] = keys
    assert pressed == {}


@pytest.mark.parametrize("seed", range(5))
def test_noise_presses_no_key(seed: int) -> None:
    noise = np.random.default_rng(seed).normal(0, 0.2, 80_000).astype(np.float32)
    hum = (0.3 * np.sin(2 * np.pi * 50 * np.arange(80_000) / 8_000)).astype(np.float32)
    assert heard(noise, step=4_000) == heard(noise + hum, step=4_000) == ""


@pytest.mark.parametrize("pair", [(350, 440), (440, 480), (480, 620), (425, 425), (941, 941), (1336, 1477)])
def test_the_networks_own_tones_press_no_key(pair: tuple[int, int]) -> None:
    at = np.arange(16_000) / 8_000
    assert heard(sum(0.2 * np.sin(2 * np.pi * one * at) for one in pair).astype(np.float32)) == ""
