"""Speech of diphone voices: `recogniser diphones --source SPEECH/human --phones corpus/units/phones --out spoken`.

Donors are whoever `recogniser units` cuts up, and speakers of Kokoro's; of each some voices are made, with other
pieces. Writes shards as `recogniser speak` does; finished ones are skipped.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
from functools import partial
from pathlib import Path

import torch

from recogniser.voices import prosody, shards, unit_voices
from recogniser.voices.diphones import Diphones, Manner, made, say
from recogniser.voices.pieces import RATE
from recogniser.voices.synthesise import LONGEST_S, sentence
from recogniser.voices.workers import shared

KOKORO = 8
"""Speakers of Kokoro's, each between two of its own."""
DONORS = (
    *unit_voices.PEOPLE,
    *(name for name in unit_voices.SYNTHESISERS if not name.startswith("espeak")),
    *(f"kokoro:en:{number}" for number in range(KOKORO)),
)
MOST = 150
"""Recordings of a donor that pieces are drawn from."""
VOICES = 3
"""Made of each donor."""
ACCENTS = ("en-us", "en-us", "en", "en", "en-gb-x-rp", "en-gb-scotland", "en-029")
"""Voices of eSpeak's whose rules are followed."""


def voices_of(source: Path, kept: Path, name: str) -> list[Diphones]:
    """A donor's."""
    torch.set_num_threads(1)
    recordings = unit_voices.recordings(source, kept, name, MOST)
    return made([(one.sound, one.phones) for one in recordings], [random.Random(f"{name}:{n}") for n in range(VOICES)])


_MADE: dict[str, list[Diphones]] = {}
"""Set before the workers are forked, which then share it."""


def utterance(seed: int, index: int) -> shards.Spoken | None:
    """One utterance; None where a voice lacks a phone of it, or it is too long."""
    rng = random.Random(f"diphones:{seed}:{index}")
    category, text, read = sentence("en", rng, practice=True)
    name = rng.choice(sorted(_MADE))
    try:
        told = prosody.told(read, rng.choice(ACCENTS), rng)
        sound = say(rng.choice(_MADE[name]), told, Manner.drawn(rng))
    except (KeyError, ValueError) as error:
        # One sentence that can't be said must not stop the run.
        print(f"{name}: {text!r}: {type(error).__name__} {error}", file=sys.stderr)
        return None
    if not 1600 <= len(sound) <= LONGEST_S * RATE:
        return None
    return shards.written(sound), text, f"diphones:{name}|{category}"


def shard(job: tuple[int, range, Path]) -> None:
    """One file of utterances, if it is not there yet."""
    seed, items, target = job
    if not target.exists() and (rows := [row for index in items if (row := utterance(seed, index))]):
        shards.write(target, rows, "en")


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--source", type=Path, required=True)
    parser.add_argument(
        "--phones", type=Path, required=True, help="where the phones in recordings are; voices/unit_voices.py"
    )
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--count", type=int, default=6000)
    parser.add_argument("--shard", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    found = shared(partial(voices_of, args.source, args.phones), DONORS, args.workers, "donor")
    _MADE.update(zip(DONORS, found, strict=True))
    plan = shards.planned(args.out, args.seed, range(args.count), args.shard)
    shared(shard, [(args.seed, items, file) for items, file in plan], args.workers)
