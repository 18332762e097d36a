"""Speech made on the machine that trains: `recogniser aloud write ITEMS --lang en --count 60000`, and there `speak`.

`write` draws the sentences, voices and settings where the word lists are; `speak ITEMS FOLDER` has them spoken on all
cores and leaves files that train/fine_tune.py takes in while it trains.
"""

from __future__ import annotations

import argparse
import io
import json
import lzma
import os
import sys
from pathlib import Path

import numpy as np
import soundfile

from recogniser.voices import engines as voices
from recogniser.voices import synthesise
from recogniser.voices.workers import shared

FILE = 500
"""Utterances of a file."""
LONGEST_S = 10.5
Item = tuple[str, str, str, str, list]


def drawn(lang: str, count: int, seed: int, only: tuple[str, ...]) -> list[Item]:
    """(category, transcript, text for the engine, voice, settings) of each; `only` is how names of voices begin."""
    found = []
    for index in range(count):
        category, text, spoken, settings, voice = synthesise.item(lang, seed, index, only)
        found.append((category, text, spoken, voice, [settings.rate, settings.pitch, settings.tract, settings.accent]))
    return found


def said(item: Item) -> bytes | None:
    """One utterance as a WAV file's bytes; None where the engine fails or it is too long."""
    _, _, spoken, voice, settings = item
    try:
        audio = voices.speak(voice, spoken, voices.VoiceSettings(*settings))
        if not 1600 <= len(audio) <= LONGEST_S * voices.RATE:
            return None
    except synthesise.FAULTS:
        return None
    data = io.BytesIO()
    soundfile.write(data, audio * (0.5 / float(np.abs(audio).max())), voices.RATE, format="WAV", subtype="PCM_16")
    return data.getvalue()


def speak(items: list[Item], lang: str, folder: Path, workers: int) -> None:
    """Files of utterances, each in one move."""
    for number, at in enumerate(range(0, len(items), FILE)):
        part = items[at : at + FILE]
        rows = [(data, item) for data, item in zip(shared(said, part, workers), part, strict=True) if data]
        if not rows:
            continue
        coded, told = zip(*rows, strict=True)
        partial = folder / f".aloud-{lang}-{number:04d}.npz"
        np.savez(partial, coded=np.frombuffer(b"".join(coded), np.uint8), size=np.array([len(c) for c in coded]),
                 text=np.array([i[1] for i in told]), lang=np.array([lang] * len(told)),
                 kind=np.array([f"{i[3]}|{i[0]}" for i in told]))  # fmt: skip
        partial.rename(folder / partial.name[1:])


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("write", "speak"))
    parser.add_argument("items", type=Path)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--lang", choices=("en", "ja"), required=True)
    parser.add_argument("--count", type=int, default=60_000)
    parser.add_argument("--seed", type=int, default=301)
    parser.add_argument("--only", nargs="+", default=[""], help="voices, by how their names begin")
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    args = parser.parse_args()
    if args.what == "write":
        data = json.dumps(drawn(args.lang, args.count, args.seed, tuple(args.only)), ensure_ascii=False).encode()
        args.items.write_bytes(lzma.compress(data, preset=6))
        print(f"{args.items}: {args.items.stat().st_size / 1e6:.1f} MB", file=sys.stderr)
        return
    speak(json.loads(lzma.decompress(args.items.read_bytes())), args.lang, args.folder, args.workers)
