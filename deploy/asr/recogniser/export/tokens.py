"""A tokenizer.json in short: each token that a merge makes is told by the merge alone, which is half of the file."""

from __future__ import annotations

import json
from itertools import chain


def folded(tokenizer: str) -> str:
    """It in short. Raises ValueError where its vocabulary is not single pieces, then what merges make, then others."""
    whole = json.loads(tokenizer)
    vocabulary, merges = list(whole["model"]["vocab"]), whole["model"]["merges"]
    first = vocabulary.index("".join(merges[0])) if merges else len(vocabulary)
    model = {
        "vocab": [vocabulary[:first], vocabulary[first + len(merges) :]],
        "merges": [" ".join(pair) for pair in merges],
    }
    short = json.dumps(whole | {"model": whole["model"] | model}, ensure_ascii=False, separators=(",", ":"))
    if json.loads(unfolded(short)) != whole:
        raise ValueError("this vocabulary does not follow from its merges")
    return short


def unfolded(short: str) -> str:
    """What was `folded`; services/asr/packed.py does the same."""
    whole = json.loads(short)
    model = whole["model"]
    merges = [pair.split(" ") for pair in model["merges"]]
    first, last = model["vocab"]
    tokens = chain(first, map("".join, merges), last)
    model |= {"vocab": {token: at for at, token in enumerate(tokens)}, "merges": merges}
    return json.dumps(whole, ensure_ascii=False)
