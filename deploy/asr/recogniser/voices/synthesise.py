"""Make training speech: `recogniser speak --lang en --count 20000 --out corpus/en`.

Item i of a seed is always the same sentence, voice and settings. Sound is written in shards of int16 at 16 kHz, which
training distorts anew each time; finished shards are skipped, so that the command can be stopped and run again.
Sentences whose hash falls in the test share are left out.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import re
import subprocess
import sys
from pathlib import Path

import numpy as np

from recogniser.texts import english as english_texts
from recogniser.texts import japanese as japanese_texts
from recogniser.texts import reading
from recogniser.voices import engines as voices
from recogniser.voices import shards
from recogniser.voices.workers import shared

SHARD = 400
"""Utterances of a shard, unless `--shard` says otherwise."""
LONGEST_S = 11.0
TEST_SHARE = 40
CUT_SHARE = 0.06
"""Sentences that end in the middle, as what a caller has said so far does."""
OPUS_SHARE = 0.12
"""Utterances that have been through Opus at 8 to 20 kbit/s, which no GPU can imitate."""
FAULTS = (OSError, RuntimeError, StopIteration, subprocess.SubprocessError)
"""Of an engine with a text."""


def reserved(text: str) -> bool:
    """True for the sentences kept for tests: one in 40 of those with four words (eight Japanese characters) or more."""
    length = len(text.split()) if " " in text or text.isascii() else len(text) // 2
    return length >= 4 and int(hashlib.sha256(text.encode()).hexdigest(), 16) % TEST_SHARE == 0


def sentence(
    lang: str, rng: random.Random, want_reserved: bool = False, *, practice: bool = False
) -> tuple[str, str, str]:
    """(category, transcript, text for the engine)."""
    made = english if lang == "en" else japanese
    while True:
        category, text, spoken = made(rng, practice)
        if text and reserved(text) == want_reserved:
            return category, text, spoken


def english(rng: random.Random, practice: bool) -> tuple[str, str, str]:
    """A sentence of the English grammar."""
    category, raw = english_texts.grammar().sample(rng, practice=practice)
    words = english_texts.clean(raw).split()
    if len(words) > 3 and rng.random() < CUT_SHARE:
        category, words = "cut", words[: rng.randint(2, len(words) - 1)]
    text = " ".join(words)
    return category, text, reading.spoken_english(text, rng)


def japanese(rng: random.Random, practice: bool) -> tuple[str, str, str]:
    """A sentence of the Japanese grammar; it is cut after a particle."""
    category, raw = japanese_texts.grammar().sample(rng, practice=practice)
    ends = [m.end() for m in re.finditer("(?:[をにへ]|から)(?![^《]*》)", raw)]
    if ends and rng.random() < CUT_SHARE:
        category, raw = "cut", raw[: rng.choice(ends)]
    return category, *japanese_texts.finish(raw, rng)


def item(lang: str, seed: int, index: int, only: tuple[str, ...]) -> tuple[str, str, str, voices.VoiceSettings, str]:
    """(category, transcript, spoken, settings, voice) of one training item; `only` is how names of voices begin."""
    rng = random.Random(f"{seed}:{lang}:{index}")
    category, text, spoken = sentence(lang, rng, practice=True)
    table = {voice: weight for voice, weight in voices.TRAIN[lang].items() if voice.startswith(only)}
    voice = rng.choices(list(table), list(table.values()))[0]
    if voice == "kokoro:ja":
        spoken = japanese_texts.kana(spoken)
    return category, text, spoken, voices.draw(rng), voice


def spoken_item(lang: str, seed: int, index: int, only: tuple[str, ...]) -> shards.Spoken | None:
    """(int16 sound, transcript, voice and category) of an item; None where the engine fails or is too long."""
    category, text, spoken, settings, voice = item(lang, seed, index, only)
    rng = random.Random(f"opus:{seed}:{lang}:{index}")
    try:
        audio = voices.speak(voice, spoken, settings)
        if not 1600 <= len(audio) <= LONGEST_S * voices.RATE:
            return None
        audio *= 0.5 / float(np.abs(audio).max())
        if rng.random() < OPUS_SHARE:
            audio = shards.through_opus(audio, rng.uniform(0.944, 0.992))
    except FAULTS as error:
        # One sentence that an engine can't read must not stop the run.
        print(f"{voice}: {text!r}: {type(error).__name__} {error}", file=sys.stderr)
        return None
    return (audio * 32767).astype(np.int16), text, f"{voice}|{category}"


def shard(job: tuple[str, int, range, Path, tuple[str, ...]]) -> int:
    """Synthesise one shard; returns the number of utterances kept."""
    lang, seed, items, target, only = job
    if target.exists():
        return 0
    made = [row for index in items if (row := spoken_item(lang, seed, index, only))]
    if made:
        shards.write(target, made, lang)
    return len(made)


def check(lang: str) -> list[str]:
    """Voices that can't speak here, with why."""
    dumb = []
    for voice in voices.TRAIN[lang]:
        try:
            said = voices.speak(voice, "one two three." if lang == "en" else "イチ ニ サン", voices.VoiceSettings())
            if len(said) < 1600:
                dumb.append(f"{voice}: silence")
        except FAULTS as error:
            dumb.append(f"{voice}: {type(error).__name__}")
    return dumb


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lang", choices=("en", "ja"), required=True)
    parser.add_argument("--count", type=int, default=SHARD)
    parser.add_argument("--start", type=int, default=0, help="first item, a multiple of the shard size")
    parser.add_argument("--shard", type=int, default=SHARD)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("corpus"))
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--only", nargs="+", default=[""], help="voices, by how their names begin")
    parser.add_argument("--check", action="store_true", help="only say which voices can't speak here")
    args = parser.parse_args()
    if args.check:
        print(", ".join(check(args.lang)) or f"every {args.lang} voice speaks")
        return
    args.out.mkdir(parents=True, exist_ok=True)
    whole = -(-args.count // args.shard) * args.shard  # a file has the same items whatever the count
    plan = shards.planned(args.out, args.seed, range(args.start, args.start + whole), args.shard)
    shared(shard, [(args.lang, args.seed, items, file, tuple(args.only)) for items, file in plan], args.workers)
