"""Whisper's vocabulary without other scripts: `recogniser vocabulary --model BASE --out FOLDER`.

BASE holds model.bin, tokenizer.json and vocabulary.txt as published. Every token that is plain ASCII, Japanese or part
of a Japanese character stays; time stamps and other languages go. `<|startoflm|>` becomes the task "plain words".
"""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path

import numpy as np

from recogniser.export import binary

TASK = "<|startoflm|>"
"""In the place of <|transcribe|> it asks for words as they are said, without capitals, numerals and marks."""
SPECIAL = ("<|endoftext|>", "<|startoftranscript|>", "<|en|>", "<|ja|>", "<|transcribe|>", TASK, "<|nospeech|>",
           "<|nocaptions|>", "<|notimestamps|>")  # fmt: skip
FIRST_MERGE = ["Ġ", "t"]
FIRST_SPECIAL = 50_257


def alphabet() -> dict[str, int]:
    """The byte that each character of GPT-2's spelling stands for."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    found = {chr(b): b for b in plain}
    rest = [b for b in range(256) if b not in plain]
    return found | {chr(256 + n): b for n, b in enumerate(rest)}


def wanted(raw: bytes) -> bool:
    """Whether a token may be needed in English or Japanese."""
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        return len(raw) == 1 or 0xE3 <= raw.lstrip()[:1][0] <= 0xEF
    return text.isascii() or re.fullmatch(r"[　-ヿ㐀-鿿＀-￯・々〇 ]+", text) is not None


def kept(vocabulary: dict[str, int], merges: list[list[str]]) -> list[int]:
    """Old ids of the tokens that stay, in their order: with every token that another one is merged of."""
    spelling = alphabet()
    made = {vocabulary[a + b]: (vocabulary[a], vocabulary[b]) for a, b in reversed(merges) if a + b in vocabulary}
    chosen = {i for token, i in vocabulary.items() if i < FIRST_SPECIAL and wanted(bytes(spelling[c] for c in token))}
    waiting = list(chosen)
    while waiting:
        for part in made.get(waiting.pop(), ()):
            if part not in chosen:
                chosen.add(part)
                waiting.append(part)
    return sorted(chosen)


def pruned(tokenizer: dict, names: list[str]) -> tuple[dict, list[int]]:
    """(tokenizer.json with new ids, old ids in their new order); mends the first merge, which the package lacks."""
    model = tokenizer["model"]
    merges = [m.split(" ") if isinstance(m, str) else m for m in model["merges"]]
    if FIRST_MERGE not in merges:
        merges.insert(0, FIRST_MERGE)
    vocabulary = model["vocab"]
    order = kept(vocabulary, merges) + [i for i, name in enumerate(names) if i >= FIRST_SPECIAL and name in SPECIAL]
    new = {old: place for place, old in enumerate(order)}
    there = {token for token, i in vocabulary.items() if i in new}
    model["vocab"] = {token: new[i] for token, i in vocabulary.items() if i in new}
    model["merges"] = [[a, b] for a, b in merges if {a, b, a + b} <= there]
    tokenizer["added_tokens"] = [t | {"id": new[t["id"]]} for t in tokenizer["added_tokens"] if t["id"] in new]
    return tokenizer, order


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    names = (args.model / "vocabulary.txt").read_text(encoding="utf-8").split("\n")[:51_865]
    tokenizer, order = pruned(json.loads((args.model / "tokenizer.json").read_text(encoding="utf-8")), names)
    model = binary.load(args.model)
    embeddings = "decoder/embeddings/weight"
    table = model.tensors[embeddings][order]
    task, transcribe = (order.index(names.index(name)) for name in (TASK, "<|transcribe|>"))
    table[task] = table[transcribe]
    model.tensors[embeddings] = table
    args.out.mkdir(parents=True, exist_ok=True)
    (args.out / "model.bin").write_bytes(binary.written(model))
    (args.out / "tokenizer.json").write_text(json.dumps(tokenizer, ensure_ascii=False), encoding="utf-8")
    (args.out / "vocabulary.json").write_text(
        json.dumps([names[i] for i in order], ensure_ascii=False), encoding="utf-8"
    )
    np.save(args.out / "kept.npy", np.array(order, np.int32))
    print(f"{len(order)} tokens")
