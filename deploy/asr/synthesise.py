"""Make training features: `python synthesise.py --lang en --count 20000 --out corpus/en`.

Item i of a seed is always the same sentence, voice and settings. Features are written in shards; finished shards are
skipped, so that the command can be stopped and run again. Sentences whose hash falls in the test share are left out.
"""

from __future__ import annotations

import argparse
import hashlib
import multiprocessing
import os
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
from tqdm import tqdm

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE / "text")]

import voices  # noqa: E402
from frontend import log_mel  # noqa: E402

SHARD = 400
LONGEST_S = 11.0
TEST_SHARE = 40


def reserved(text: str) -> bool:
    """True for the sentences kept for tests: one in 40 of those with four words (eight Japanese characters) or more."""
    length = len(text.split()) if " " in text or text.isascii() else len(text) // 2
    return length >= 4 and int(hashlib.sha256(text.encode()).hexdigest(), 16) % TEST_SHARE == 0


_GRAMMARS: dict[str, object] = {}


def sentence(lang: str, rng: random.Random, want_reserved: bool = False) -> tuple[str, str, str]:
    """(category, transcript, text for the engine)."""
    if lang == "en":
        import english

        grammar = _GRAMMARS.setdefault("en", english.grammar())
        while True:
            category, raw = grammar.sample(rng)  # type: ignore[attr-defined]
            text = english.clean(raw)
            if text and reserved(text) == want_reserved:
                return category, text, voices.spoken_english(text, rng)
    import japanese

    grammar = _GRAMMARS.setdefault("ja", japanese.grammar())
    while True:
        category, raw = grammar.sample(rng)  # type: ignore[attr-defined]
        text, reading = japanese.finish(raw, rng)
        if text and reserved(text) == want_reserved:
            return category, text, reading


def item(lang: str, seed: int, index: int) -> tuple[str, str, str, voices.Settings, str]:
    """(category, transcript, spoken, settings, voice) of one training item."""
    rng = random.Random(f"{seed}:{lang}:{index}")
    category, text, spoken = sentence(lang, rng)
    table = voices.TRAIN_ENGLISH if lang == "en" else voices.TRAIN_JAPANESE
    voice = rng.choices(list(table), list(table.values()))[0]
    if voice == "espeak:ja":
        import japanese

        spoken = japanese.kana(spoken)
    return category, text, spoken, voices.draw(rng), voice


def shard(job: tuple[str, int, int, Path]) -> int:
    """Synthesise one shard; returns the number of utterances kept."""
    lang, seed, number, out = job
    target = out / f"{seed:03d}-{number:05d}.npz"
    if target.exists():
        return 0
    mels, texts, names = [], [], []
    for index in range(number * SHARD, (number + 1) * SHARD):
        category, text, spoken, settings, voice = item(lang, seed, index)
        try:
            audio = voices.speak(voice, spoken, settings)
        except (
            OSError,
            RuntimeError,
            subprocess.SubprocessError,
            StopIteration,
        ) as error:  # one sentence an engine can't read must not stop the run
            print(f"{voice}: {text!r}: {type(error).__name__}", file=sys.stderr)
            continue
        if 1600 <= len(audio) <= LONGEST_S * voices.RATE:
            peak = float(np.abs(audio).max())
            mels.append(log_mel(audio * (0.5 / peak)).astype(np.float16))
            texts.append(text)
            names.append(f"{voice}|{category}")
    lengths = np.array([len(m) for m in mels])
    partial = target.with_suffix(".tmp.npz")
    np.savez(partial, mel=np.concatenate(mels), length=lengths, text=np.array(texts), voice=np.array(names), lang=lang)
    partial.replace(target)
    return len(texts)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lang", choices=("en", "ja"), required=True)
    parser.add_argument("--count", type=int, required=True)
    parser.add_argument("--start", type=int, default=0, help="first item, a multiple of the shard size")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    first = args.start // SHARD
    jobs = [(args.lang, args.seed, n, args.out) for n in range(first, first + args.count // SHARD)]
    with multiprocessing.Pool(args.workers) as pool:
        for _ in tqdm(pool.imap_unordered(shard, jobs), total=len(jobs), unit="shard"):
            pass


if __name__ == "__main__":
    main()
