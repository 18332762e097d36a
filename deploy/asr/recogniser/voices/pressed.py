"""Speech that is spoken already, small enough to carry to a machine that has a GPU but few cores, and opened there.

`recogniser press press CORPUS/en PRESSED` writes each shard's sound as Ogg Opus, a fifth of its size;
`recogniser press open PRESSED CORPUS/en` makes shards of them again. What is there is not made again.
"""

from __future__ import annotations

import argparse
import io
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from recogniser.voices import shards
from recogniser.voices.workers import shared

RATE = 16_000
LEVEL = 0.82
"""Of compression: 53 kbit/s, an error of 4 % of the sound."""

Code = Callable[[np.ndarray], bytes]
Decode = Callable[[bytes], np.ndarray]


def to_opus(sound: np.ndarray, level: float = LEVEL) -> bytes:
    """Sound as Ogg Opus, at a compression `level` from 0 (best) to 1 (worst)."""
    import soundfile

    coded = io.BytesIO()
    soundfile.write(coded, sound, RATE, format="OGG", subtype="OPUS", compression_level=level)
    return coded.getvalue()


def of_opus(coded: bytes, dtype: str = "int16") -> np.ndarray:
    """Sound of Ogg Opus, up to a packet longer than what was coded."""
    import soundfile

    sound: np.ndarray = soundfile.read(io.BytesIO(coded), dtype=dtype)[0]
    return sound


def press(source: Path, folder: Path, code: Code = to_opus) -> int:
    """A shard's utterances, each coded by itself; how many there are."""
    with np.load(source) as shard:
        ends = np.cumsum(shard["length"])
        coded = [code(sound) for sound in np.split(shard["audio"], ends[:-1])]
        told = {name: shard[name] for name in ("length", "text", "voice", "lang")}
    size = np.array([len(one) for one in coded])
    shards.save(folder / source.name, {"coded": np.frombuffer(b"".join(coded), np.uint8), "size": size} | told)
    return len(coded)


def reopen(source: Path, folder: Path, decode: Decode = of_opus) -> int:
    """The shard again, every utterance as long as it was; how many there are."""
    with np.load(source) as pressed:
        ends = np.cumsum(pressed["size"])
        sounds = [decode(one.tobytes()) for one in np.split(pressed["coded"], ends[:-1])]
        told = {name: pressed[name] for name in ("length", "text", "voice", "lang")}
    whole = [fitted(sound, length) for sound, length in zip(sounds, told["length"], strict=True)]
    shards.save(folder / source.name, {"audio": np.concatenate(whole)} | told)
    return len(whole)


def fitted(sound: np.ndarray, length: int) -> np.ndarray:
    """Cut, or followed by silence, to `length` samples."""
    return np.pad(sound[:length], (0, max(0, length - len(sound))))


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("press", "open"))
    parser.add_argument("source", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    wanted = [p for p in sorted(args.source.glob("*.npz")) if ".tmp" not in p.name and not (args.out / p.name).exists()]
    how = partial(press if args.what == "press" else reopen, folder=args.out)
    print(f"{sum(shared(how, wanted, args.workers))} utterances")
