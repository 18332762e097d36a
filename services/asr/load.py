"""From the name of a checkpoint to a recogniser."""

import re
import struct
import sys
import zlib
from lzma import LZMAError
from pathlib import Path
from typing import Final
from zipfile import BadZipFile

from schemas.errors import RecognizerUnavailable
from services.asr.card import require
from services.asr.decoder import CONFIG, Decoder
from services.asr.natural import Natural, NaturalDecoder
from services.asr.recognizer import WhisperRecognizer
from services.asr.scheduler import DecodeScheduler
from services.asr.stock import StockDecoder, open_stock

BUNDLED: Final = "bundled"
MODEL_FOLDER: Final = Path(__file__).parent / "model"
HEARING: Final = Path(sys.prefix) / "share" / "tellerline" / "recognisers"
"""Where `make hearing` lays checkpoints, each in a folder of its name."""
LANGUAGES: Final = ("en", "ja")
NATURAL: Final = "task"
"""What `CONFIG` has in checkpoints for natural length."""
FAULTS: Final = (
    *(OSError, EOFError, ValueError, RuntimeError, KeyError, BadZipFile, LZMAError, zlib.error),
    *(struct.error, re.error),
)
"""Of a checkpoint that is torn."""
WAITING_PER_WORKER: Final = 16
"""Jobs in line for each thread; at 30 ms a decode the last of them waits half a second."""


def load(name: str = BUNDLED, *, workers: int = 2, device: str = "cpu") -> WhisperRecognizer:
    """A recogniser for `name`: `bundled`, one that `make hearing` laid, a folder of ours, or any of faster-whisper's.

    Raises RecognizerUnavailable when the checkpoint is not to be had.
    """
    return WhisperRecognizer(
        decoders(name, workers=workers, device=device), DecodeScheduler(workers, WAITING_PER_WORKER * workers)
    )


def decoders(name: str, *, workers: int = 1, device: str = "cpu") -> dict[str, Decoder]:
    """A decoder for each language of a checkpoint. Raises RecognizerUnavailable."""
    require(device)
    folder = folder_of(name)
    return ours(folder, workers, device) or _stock(name, str(folder), workers, device)


def folder_of(name: str) -> Path:
    """Where a checkpoint lies on this machine; the name as a path where nothing is known of it."""
    if name == BUNDLED:
        return MODEL_FOLDER
    return laid if (laid := HEARING / name).is_dir() else Path(name)


def ours(folder: Path, workers: int, device: str) -> dict[str, Decoder]:
    """Decoders of one of our folders, which has a model for both languages; empty for any other.

    Raises RecognizerUnavailable.
    """
    config = folder / CONFIG
    if not (config.is_file() and f'"{NATURAL}"' in config.read_text(encoding="utf-8")):
        return {}
    try:
        natural = Natural.open(folder, workers=workers, device=device)
        return {lang: NaturalDecoder(natural, folder, lang) for lang in LANGUAGES}
    except FAULTS as error:
        raise RecognizerUnavailable(f"the checkpoint does not load ({type(error).__name__})") from error


def _stock(name: str, found: str, workers: int, device: str) -> dict[str, Decoder]:
    if name == BUNDLED:
        raise RecognizerUnavailable("the bundled checkpoint is missing")
    model = open_stock(found, workers=workers, device=device)
    langs = LANGUAGES if model.model.is_multilingual else LANGUAGES[:1]
    return {lang: StockDecoder(model, lang) for lang in langs}
