"""Replies that were recorded beforehand, from a folder; what is not in it is spoken by the synthesiser behind."""

import wave
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Final

from rules.load import RuleFile, load_own
from schemas.errors import ConfigInvalid
from schemas.ids import Locale
from schemas.speech import SpokenChunk
from services.ports import CallVoice, Synthesizer

INDEX: Final = "index.yaml"
_PIECE_S: Final = 0.5
MAX_BYTES: Final = 256 * 1024 * 1024


class RecordedIndex(RuleFile):
    """index.yaml: by locale, the WAV file (PCM16, mono) of each sentence, relative to the folder."""

    sentences: dict[str, dict[str, str]]


class RecordedSynthesizer:
    """`Synthesizer` whose sentences somebody spoke; they are held in memory."""

    def __init__(self, folder: Path, behind: Synthesizer) -> None:
        """Read the folder. Raises ConfigInvalid, RulesInvalid."""
        self._behind = behind
        self._sounds: dict[tuple[str, str], tuple[bytes, int]] = {}
        size = 0
        if not (folder / INDEX).is_file():
            raise ConfigInvalid(f"no {INDEX} in {folder}")
        for locale, sentences in load_own(folder / INDEX, RecordedIndex).sentences.items():
            for text, name in sentences.items():
                self._sounds[locale, text] = sound = _read(folder, name)
                size += len(sound[0])
                if size > MAX_BYTES:
                    raise ConfigInvalid(f"recordings in {folder} are larger than {MAX_BYTES} bytes")

    def speak(self, text: str, locale: Locale, voice: str) -> AsyncGenerator[SpokenChunk, None]:
        """The recording of `text`, or what is behind. Where another `voice` is asked for, that one speaks."""
        return self.recording(text, locale, voice) or self._behind.speak(text, locale, voice)

    def for_call(self) -> "RecordedVoice":
        """What is recorded, and the voice of a call behind."""
        return RecordedVoice(self, self._behind.for_call())

    def recording(self, text: str, locale: Locale, voice: str) -> AsyncGenerator[SpokenChunk, None] | None:
        """The recording of `text`, where there is one."""
        sound = None if voice else self._sounds.get((locale, text))
        return None if sound is None else _played(text, *sound)


class RecordedVoice:
    """`CallVoice`: recordings, and another voice for what was not recorded."""

    def __init__(self, recorded: RecordedSynthesizer, behind: CallVoice) -> None:
        self._recorded = recorded
        self._behind = behind

    def speak(self, text: str, locale: Locale, voice: str) -> AsyncGenerator[SpokenChunk, None]:
        """As `RecordedSynthesizer`."""
        return self._recorded.recording(text, locale, voice) or self._behind.speak(text, locale, voice)

    def foresee(self, text: str, locale: Locale) -> None:
        """What is recorded is ready."""
        if self._recorded.recording(text, locale, "") is None:
            self._behind.foresee(text, locale)

    def close(self) -> None:
        """Close the voice behind."""
        self._behind.close()


async def _played(text: str, pcm: bytes, rate: int) -> AsyncGenerator[SpokenChunk, None]:
    step = int(_PIECE_S * rate) * 2
    for at in range(0, len(pcm), step):
        yield SpokenChunk(pcm[at : at + step], rate, len(text) if at + step >= len(pcm) else 0)


def _read(folder: Path, name: str) -> tuple[bytes, int]:
    file = (folder / name).resolve()
    if folder.resolve() not in file.parents:
        raise ConfigInvalid(f"{name} is outside {folder}")
    try:
        with wave.open(str(file), "rb") as recording:
            if (recording.getnchannels(), recording.getsampwidth()) != (1, 2) or not recording.getnframes():
                raise ConfigInvalid(f"{file.name} is not mono PCM16, or is empty")
            return recording.readframes(recording.getnframes()), recording.getframerate()
    except (OSError, wave.Error, EOFError) as error:
        raise ConfigInvalid(f"{file.name} can't be read as WAV") from error
