"""Count what callers say: `recogniser language --lang en --tokenizer TOKENIZER --out model/en/language.npz.xz`.

An n-gram model of word pieces over sentences of the grammar, none of which is a test sentence: the recogniser ranks its
candidates by it too. services/asr/ngrams.py reads the file and says what is in it. Natural sentences count once or
twice, not as often as they would be drawn: what is met again and again leaves no room for what was never met.
"""

from __future__ import annotations

import argparse
import io
import lzma
import random
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer
from tqdm import trange

from recogniser.export import ngram_counts
from recogniser.texts import english_sentences
from recogniser.voices.synthesise import reserved, sentence

CHUNK = 10_000
PRACTISED = 1 / 3
"""Of the sentences are drawn as for training, where names, sayings and random words are commoner."""
NATURAL = frozenset({"sentence", "written"})
"""Categories of natural sentences."""
SMALLEST = {"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "lc": 4, "lp": 0, "pb": 0}
"""How a file is packed: its arrays are of bytes."""


def texts(lang: str, count: int, seed: int) -> Iterator[list[str]]:
    """What is counted: of `count` sentences drawn those that are not natural, then the natural ones, in parts."""
    rng = random.Random(f"language:{seed}:{lang}")
    for _ in trange(0, count, CHUNK, unit="chunk"):
        drawn = [sentence(lang, rng, practice=rng.random() < PRACTISED)[:2] for _ in range(CHUNK)]
        yield [text for category, text in drawn if category not in NATURAL]
    if lang == "en":
        said = [*english_sentences.sentences(), *english_sentences.examples()]
        yield [text for text in (*said, *said, *english_sentences.definitions()) if not reserved(text)]


def tokens(parts: Iterable[list[str]], tokenizer: Tokenizer, order: int) -> tuple[np.ndarray, np.ndarray]:
    """Tokens + 1 of every sentence, each between zeros, and which of them are to be foretold."""
    rows, foretold = [], []
    for part in parts:
        for found in tokenizer.encode_batch(part):
            rows += [*[0] * (order - 1), *(i + 1 for i in found.ids), 0]
            foretold += [*[False] * (order - 1), *[True] * (len(found.ids) + 1)]
    return np.array(rows, dtype=np.int64), np.array(foretold)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lang", choices=("en", "ja"), required=True)
    parser.add_argument("--tokenizer", type=Path, required=True)
    parser.add_argument("--count", type=int, default=1_800_000, help="sentences")
    parser.add_argument("--least", type=int, nargs="+", default=[1, 1, 2, 3, 5], help="counts kept, by order")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    tokenizer, order = Tokenizer.from_file(str(args.tokenizer)), len(args.least)
    text, foretold = tokens(texts(args.lang, args.count, args.seed), tokenizer, order)
    arrays = ngram_counts.model(text, foretold, tokenizer.get_vocab_size() + 1, args.least)
    whole = io.BytesIO()
    np.savez(whole, **arrays)
    args.out.write_bytes(lzma.compress(whole.getvalue(), filters=[SMALLEST]))
    sizes = [arrays[f"cost{n}"].size for n in range(1, order + 1)]
    print(f"{args.out}: {args.out.stat().st_size / 1e6:.2f} MB, {sizes} n-grams")
