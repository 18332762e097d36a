"""Real speakers: a folder of recordings with metadata.jsonl, split into train and test by speaker."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import soundfile
import soxr

from recogniser.voices.engines import RATE

HELD_OUT_CORPORA = ("librispeech_bits", "librivox_bits")
TRAIN_ONLY = ("kathleen_arctic", "ljspeech_part1")
LONGEST_S = 11


def held_out(corpus: str, speaker: str) -> bool:
    """One speaker in five of each many-speaker corpus, and whole small corpora, are never trained on."""
    if corpus in HELD_OUT_CORPORA:
        return True
    return corpus not in TRAIN_ONLY and int(hashlib.sha256(speaker.encode()).hexdigest(), 16) % 5 == 0


def transcript(text: str, lang: str) -> str | None:
    """The corpus's spelling in ours, or None where numerals leave the words unknown."""
    text = unicodedata.normalize("NFKC", text)
    if re.search(r"\d", text):
        return None
    if lang == "ja":
        return re.sub(r"[^぀-ヿ㐀-鿿々〇ー]", "", text) or None
    return " ".join(re.sub(r"[^a-z' ]", " ", text.lower().replace("’", "'")).replace(" '", " ").split()) or None


def load(path: Path) -> np.ndarray:
    """Mono float32 audio at 16 kHz."""
    audio, rate = soundfile.read(path, dtype="float32", always_2d=True)
    mono = audio.mean(axis=1)
    return mono if rate == RATE else soxr.resample(mono, rate, RATE)


@dataclass(frozen=True)
class HumanRecording:
    """One file of a folder, its transcript if that is known, and whether it is kept for tests."""

    file: Path
    text: str | None
    lang: str
    corpus: str
    held_out: bool


def recordings(source: Path) -> Iterator[HumanRecording]:
    """Those of a folder that are not too long."""
    for line in (source / "metadata.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        text, corpus = transcript(row["text"], row["lang"]), row["file"].split("/")[0]
        if row["dur"] <= LONGEST_S:
            yield HumanRecording(source / row["file"], text, row["lang"], corpus, held_out(corpus, row["speaker"]))
