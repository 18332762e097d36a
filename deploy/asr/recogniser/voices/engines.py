"""Speech synthesis for training and tests: every engine behind `speak(voice, text, settings)`.

`TRAIN` are voices whose licence lets weights made from them be published, with how often each speaks.
"""

from __future__ import annotations

import os
import random
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import soundfile
import soxr

from recogniser.voices import kokoro

RATE = 16_000
SCRATCH = Path("/dev/shm")  # memory, where there is any
DICTIONARY = "/var/lib/mecab/dic/open-jtalk/naist-jdic"
HTS_FOLDERS = (Path(os.environ.get("ASR_HTS_VOICES", "voices")), Path("/usr/share/hts-voice/nitech-jp-atr503-m001"))
_ACCENTS = (
    "en-us", "en-gb", "en-gb-scotland", "en-gb-x-rp", "en-gb-x-gbclan", "en-gb-x-gbcwmd", "en-029", "en-us-nyc",
)  # fmt: skip
_VARIANTS = ("", "+m1", "+m2", "+m3", "+m4", "+m5", "+m6", "+m7", "+m8", "+f1", "+f2", "+f3", "+f4", "+f5", "+klatt",
             "+klatt2", "+klatt3", "+klatt4", "+Annie", "+Storm", "+linda", "+steph", "+david", "+rob", "+michael",
             "+Alicia", "+Andrea", "+Lee", "+Gene", "+john", "+paul", "+adam", "+anika", "+belinda")  # fmt: skip

TRAIN_ENGLISH = {
    "pico:en-US": 16.0, "pico:en-GB": 16.0, "flite:slt": 10.0, "flite:awb": 10.0, "flite:rms": 13.0, "flite:kal16": 8.0,
    "espeak:en": 16.0, "kokoro:en": 40.0,
}  # fmt: skip
TRAIN_JAPANESE = {
    "jtalk:mei_normal": 20.0, "jtalk:mei_happy": 9.0, "jtalk:takumi_normal": 22.0, "jtalk:takumi_happy": 12.0,
    "jtalk:tohoku-f01-neutral": 16.0, "jtalk:tohoku-f01-happy": 12.0, "kokoro:ja": 40.0,
}  # fmt: skip
TRAIN = {"en": TRAIN_ENGLISH, "ja": TRAIN_JAPANESE}

Command = tuple[list[str], "str | None"]
"""A program's arguments, and what it reads."""


@dataclass(frozen=True)
class VoiceSettings:
    """rate: 1 is the voice's own; pitch: factor on F0; tract: all-pass shift of the spectral envelope (open_jtalk)."""

    rate: float = 1.0
    pitch: float = 1.0
    tract: float = 0.0
    accent: str = "en-us"


def draw(rng: random.Random, spread: float = 1.0) -> VoiceSettings:
    """Random settings of the training range; spread widens it."""
    rate = min(1.6, max(0.62, rng.gauss(1.0, 0.14 * spread)))
    pitch = min(1.5, max(0.65, 2 ** rng.gauss(0.0, 0.2 * spread)))
    return VoiceSettings(rate, pitch, rng.uniform(-0.05, 0.05) * spread, rng.choice(_ACCENTS) + rng.choice(_VARIANTS))


def _run(args: list[str], text: str | None = None) -> None:
    subprocess.run(
        args,
        input=text,
        encoding="utf-8",
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        timeout=60,
    )


def _hts(name: str) -> str:
    return next(str(f / f"{name}.htsvoice") for f in HTS_FOLDERS if (f / f"{name}.htsvoice").exists())


def _flite(name: str, text: str, out: str, s: VoiceSettings) -> Command:
    pitch = f"int_f0_target_mean={105 * s.pitch:.0f}" if name == "kal16" else f"f0_shift={s.pitch:.2f}"
    rate = f"duration_stretch={1 / s.rate:.2f}"
    return ["flite", "-voice", name, "--setf", rate, "--setf", pitch, "-t", text, "-o", out], None


def _espeak(_: str, text: str, out: str, s: VoiceSettings) -> Command:
    pitch = min(99, max(0, int(50 + 60 * (s.pitch - 1))))
    return ["espeak-ng", "-v", s.accent, "-s", str(int(165 * s.rate)), "-p", str(pitch), "-w", out, text], None


def _pico(name: str, text: str, out: str, s: VoiceSettings) -> Command:
    marked = f'<speed level="{100 * s.rate:.0f}"><pitch level="{100 * s.pitch:.0f}">{text}</pitch></speed>'
    return ["pico2wave", "-l", name, "-w", out, marked], None


def _rhvoice(name: str, text: str, out: str, s: VoiceSettings) -> Command:
    rate, pitch = f"{100 * s.rate:.0f}", f"{100 * s.pitch:.0f}"
    return ["RHVoice-test", "-p", name, "-R", "16000", "-r", rate, "-t", pitch, "-o", out], text


def _festival(name: str, text: str, out: str, s: VoiceSettings) -> Command:
    orders = (f"(voice_{name})", f"(Parameter.set 'Duration_Stretch {1 / s.rate:.2f})")
    return ["text2wave", *(part for order in orders for part in ("-eval", order)), "-o", out], text


def _jtalk(name: str, text: str, out: str, s: VoiceSettings) -> Command:
    shift, alpha = f"{12 * float(np.log2(s.pitch)):.1f}", f"{0.55 + s.tract:.3f}"
    voice = ["-x", DICTIONARY, "-m", _hts(name)]
    return ["open_jtalk", *voice, "-r", f"{s.rate:.2f}", "-fm", shift, "-a", alpha, "-ow", out], text


COMMANDS = {"flite": _flite, "espeak": _espeak, "pico": _pico, "rhvoice": _rhvoice, "festival": _festival}
"""How each engine is called; any other is open_jtalk."""


def speak(voice: str, text: str, settings: VoiceSettings) -> np.ndarray:
    """Float32 audio at 16 kHz with the engine's own silence trimmed to about 50 ms."""
    engine, name = voice.split(":", 1)
    if engine == "kokoro":
        who = random.Random(f"{settings.pitch}:{settings.tract}")  # of many speakers; their pitch is their own
        said = kokoro.speak(name, text, settings.rate, who)
        return trim(soxr.resample(said, kokoro.RATE, RATE, quality="MQ"))
    with tempfile.TemporaryDirectory(dir=SCRATCH if SCRATCH.is_dir() else None) as folder:
        out = f"{folder}/a.wav"
        args, stdin = COMMANDS.get(engine, _jtalk)(name, text, out, settings)
        _run(args, stdin)
        audio, rate = soundfile.read(out, dtype="float32")
    if audio.ndim > 1:
        audio = audio.mean(axis=1)
    if rate != RATE:
        audio = soxr.resample(audio, rate, RATE, quality="MQ")
    return trim(audio)


def trim(audio: np.ndarray, keep: int = 800) -> np.ndarray:
    """Cut leading and trailing parts 45 dB below the peak, keeping `keep` samples of each."""
    loud = np.flatnonzero(np.abs(audio) > 0.0056 * (np.abs(audio).max() + 1e-9))
    if not len(loud):
        return audio[:0]
    return audio[max(0, loud[0] - keep) : loud[-1] + keep]
