"""Replies that were recorded beforehand, from a folder; what is not in it is spoken by the synthesiser behind."""

import wave
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path
from typing import Final

from rules.load import RuleFile, load_own
from schemas.errors import ConfigInvalid
from schemas.ids import Locale
from schemas.speech import SpokenChunk
from services.ports import Synthesizer

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

    async def speak(self, text: str, locale: Locale, voice: str) -> AsyncGenerator[SpokenChunk, None]:
        """The recording of `text`, or what is behind. Where another `voice` is asked for, that one speaks."""
        sound = None if voice else self._sounds.get((locale, text))
        if sound is None:
            async with aclosing(self._behind.speak(text, locale, voice)) as spoken:
                async for chunk in spoken:
                    yield chunk
            return
        pcm, rate = sound
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
