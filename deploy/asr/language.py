"""Count what callers say: `python language.py --lang en --tokenizer TOKENIZER --out model/en/language.npz`.

An n-gram model of word pieces over sentences of the grammar, none of which is a test sentence: the recogniser ranks its
candidates by it too. services/asr/ngrams.py reads the file and says what is in it.
"""

from __future__ import annotations

import argparse
import random
import sys
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer
from tqdm import trange

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE / "text")]

import ngram_counts  # noqa: E402
from synthesise import sentence  # noqa: E402

CHUNK = 10_000
PRACTISED = 1 / 3
"""Of the sentences are drawn as for training, where names, sayings and random words are commoner."""


def tokens(lang: str, tokenizer: Tokenizer, count: int, seed: int, order: int) -> tuple[np.ndarray, np.ndarray]:
    """Tokens + 1 of `count` sentences, each between zeros, and which of them are to be foretold."""
    rng = random.Random(f"language:{seed}:{lang}")
    rows, foretold = [], []
    for _ in trange(0, count, CHUNK, unit="chunk"):
        texts = [sentence(lang, rng, practice=rng.random() < PRACTISED)[1] for _ in range(CHUNK)]
        for found in tokenizer.encode_batch(texts):
            rows += [*[0] * (order - 1), *(i + 1 for i in found.ids), 0]
            foretold += [*[False] * (order - 1), *[True] * (len(found.ids) + 1)]
    return np.array(rows, dtype=np.int64), np.array(foretold)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lang", choices=("en", "ja"), required=True)
    parser.add_argument("--tokenizer", type=Path, required=True)
    parser.add_argument("--count", type=int, default=1_800_000, help="sentences")
    parser.add_argument("--least", type=int, nargs="+", default=[1, 1, 2, 4, 8], help="counts kept, by order")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    tokenizer, order = Tokenizer.from_file(str(args.tokenizer)), len(args.least)
    text, foretold = tokens(args.lang, tokenizer, args.count, args.seed, order)
    arrays = ngram_counts.model(text, foretold, tokenizer.get_vocab_size() + 1, args.least)
    np.savez_compressed(args.out, **arrays)
    sizes = [arrays[f"cost{n}"].size for n in range(1, order + 1)]
    print(f"{args.out}: {args.out.stat().st_size / 1e6:.2f} MB, {sizes} n-grams")


if __name__ == "__main__":
    main()
