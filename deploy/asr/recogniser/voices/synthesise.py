"""Make training speech: `recogniser speak --lang en --count 20000 --out corpus/en`.

Item i of a seed is always the same sentence, voice and settings. Sound is written in shards of int16 at 16 kHz, which
training distorts anew each time; finished shards are skipped, so that the command can be stopped and run again.
Sentences whose hash falls in the test share are left out.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import re
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from recogniser.texts import reading
from recogniser.voices import engines as voices
from recogniser.voices import pressed, shards
from recogniser.voices.workers import shared

SHARD = 400
"""Utterances of a shard, unless `--shard` says otherwise."""
LONGEST_S = 11.0
TEST_SHARE = 40
CUT_SHARE = 0.06
"""Sentences that end in the middle, as what a caller has said so far does."""
OPUS_SHARE = 0.12
"""Utterances that have been through Opus at 8 to 20 kbit/s, which no GPU can imitate."""
FAULTS = (OSError, RuntimeError, ImportError, KeyError, StopIteration, subprocess.SubprocessError)
"""Of an engine with a text."""


def reserved(text: str) -> bool:
    """True for the sentences kept for tests: one in 40 of those with four words (eight Japanese characters) or more."""
    length = len(text.split()) if " " in text or text.isascii() else len(text) // 2
    return length >= 4 and int(hashlib.sha256(text.encode()).hexdigest(), 16) % TEST_SHARE == 0


_GRAMMARS: dict[str, object] = {}


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
    from recogniser.texts import english as language

    grammar = _GRAMMARS.setdefault("en", language.grammar())
    category, raw = grammar.sample(rng, practice=practice)  # type: ignore[attr-defined]
    words = language.clean(raw).split()
    if len(words) > 3 and rng.random() < CUT_SHARE:
        category, words = "cut", words[: rng.randint(2, len(words) - 1)]
    text = " ".join(words)
    return category, text, reading.spoken_english(text, rng)


def japanese(rng: random.Random, practice: bool) -> tuple[str, str, str]:
    """A sentence of the Japanese grammar; it is cut after a particle."""
    from recogniser.texts import japanese as language

    grammar = _GRAMMARS.setdefault("ja", language.grammar())
    category, raw = grammar.sample(rng, practice=practice)  # type: ignore[attr-defined]
    ends = [m.end() for m in re.finditer("(?:[をにへ]|から)(?![^《]*》)", raw)]
    if ends and rng.random() < CUT_SHARE:
        category, raw = "cut", raw[: rng.choice(ends)]
    return category, *language.finish(raw, rng)


@dataclass(frozen=True)
class Chosen:
    """Which voices speak, by how their names begin: these alone, all but these, or these in every second sentence."""

    only: tuple[str, ...]
    without: tuple[str, ...]
    mostly: str

    def table(self, lang: str, rng: random.Random) -> dict[str, float]:
        """Weights of the voices of one sentence."""
        table = voices.TRAIN_ENGLISH if lang == "en" else voices.TRAIN_JAPANESE
        table = {v: w for v, w in table.items() if v.startswith(self.only) and not v.startswith(self.without)}
        if self.mostly:
            table = {v: w for v, w in table.items() if v.startswith(self.mostly)} if rng.random() < 0.5 else table
        return table


def item(lang: str, seed: int, index: int, chosen: Chosen) -> tuple[str, str, str, voices.VoiceSettings, str]:
    """(category, transcript, spoken, settings, voice) of one training item."""
    rng = random.Random(f"{seed}:{lang}:{index}")
    category, text, spoken = sentence(lang, rng, practice=True)
    table = chosen.table(lang, rng)
    voice = rng.choices(list(table), list(table.values()))[0]
    if lang == "ja" and not voice.startswith("jtalk:"):
        category, text, spoken = in_kana(category, text, spoken, rng)
    return category, text, spoken, voices.draw(rng), voice


@cache
def readings() -> list[tuple[str, str, str]]:
    """Sentences with their kana, by `--readings`, for machines without a reader of kanji; empty where there is none."""
    path = os.environ.get("ASR_READINGS")
    return [tuple(row) for row in json.loads(Path(path).read_text(encoding="utf-8"))] if path else []


def in_kana(category: str, text: str, spoken: str, rng: random.Random) -> tuple[str, str, str]:
    """The sentence for a voice that reads kana alone, or another one whose kana is known."""
    from recogniser.texts import japanese as language

    return rng.choice(readings()) if readings() else (category, text, language.kana(spoken))


def write_readings(path: Path, count: int) -> None:
    """Make `count` Japanese sentences with their kana."""
    from recogniser.texts import japanese as language

    rng = random.Random("readings")
    made = (sentence("ja", rng, practice=True) for _ in range(count))
    rows = [(category, text, language.kana(spoken)) for category, text, spoken in made]
    path.write_text(json.dumps(rows, ensure_ascii=False), encoding="utf-8")


def through_opus(audio: np.ndarray, level: float) -> np.ndarray:
    """The audio after an encoder whose compression `level` is 0 (best) to 1 (worst)."""
    return pressed.of_opus(pressed.to_opus(audio, level), "float32")[: len(audio)]


def spoken_item(lang: str, seed: int, index: int, chosen: Chosen) -> shards.Spoken | None:
    """(int16 sound, transcript, voice and category) of an item; None where the engine fails or is too long."""
    category, text, spoken, settings, voice = item(lang, seed, index, chosen)
    rng = random.Random(f"opus:{seed}:{lang}:{index}")
    try:
        audio = voices.speak(voice, spoken, settings)
        if not 1600 <= len(audio) <= LONGEST_S * voices.RATE:
            return None
        audio *= 0.5 / float(np.abs(audio).max())
        if rng.random() < OPUS_SHARE:
            audio = through_opus(audio, rng.uniform(0.944, 0.992))
    except FAULTS as error:
        # One sentence that an engine can't read must not stop the run.
        print(f"{voice}: {text!r}: {type(error).__name__} {error}", file=sys.stderr)
        return None
    return (audio * 32767).astype(np.int16), text, f"{voice}|{category}"


def shard(job: tuple[str, int, range, Path, Chosen]) -> int:
    """Synthesise one shard; returns the number of utterances kept."""
    lang, seed, items, target, chosen = job
    if target.exists():
        return 0
    made = [row for index in items if (row := spoken_item(lang, seed, index, chosen))]
    if made:
        shards.write(target, made, lang)
    return len(made)


def check(lang: str) -> list[str]:
    """Voices that can't speak here, with why."""
    table = voices.TRAIN_ENGLISH if lang == "en" else voices.TRAIN_JAPANESE
    dumb = []
    for voice in table:
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
    parser.add_argument("--mostly", default="", help="voices that say half of it, by how their names begin")
    parser.add_argument("--only", default="", help="voices that say all of it, likewise, comma-separated")
    parser.add_argument("--without", default="", help="voices that say none of it, likewise")
    parser.add_argument("--readings", type=Path, help="only write COUNT Japanese sentences with their kana here")
    parser.add_argument("--check", action="store_true", help="only say which voices can't speak here")
    args = parser.parse_args()
    if args.check:
        print(", ".join(check(args.lang)) or f"every {args.lang} voice speaks")
        return
    if args.readings:
        write_readings(args.readings, args.count)
        return
    args.out.mkdir(parents=True, exist_ok=True)
    chosen = Chosen(tuple(args.only.split(",")), tuple(filter(None, args.without.split(","))), args.mostly)
    whole = -(-args.count // args.shard) * args.shard  # a file has the same items whatever the count
    plan = shards.planned(args.out, args.seed, range(args.start, args.start + whole), args.shard)
    shared(shard, [(args.lang, args.seed, items, file, chosen) for items, file in plan], args.workers)
