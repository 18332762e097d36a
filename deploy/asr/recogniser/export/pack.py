"""Make the folder that ships of what was fine-tuned: `recogniser pack FETCHED/b-next --base BASE --out MODEL`.

FETCHED/b-next.0, .1, … are its pieces; BASE is train/vocabulary.py's folder. `--mix FETCHED/a-next 0.5` puts so much of
another training in. Positions that no window reaches are left out. Take `next`: it is rounded here.
"""

from __future__ import annotations

import argparse
import json
import lzma
import zlib
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from recogniser.export import binary
from recogniser.train.fine_tune import SHIPPED
from recogniser.train.vocabulary import SPECIAL, TASK

POSITIONS = {"encoder": 600, "decoder": 192}
"""Windows of 12 s, and more tokens than a piece may have."""


def joined(prefix: Path) -> binary.Binary:
    """A checkpoint out of its pieces."""
    pieces = sorted(prefix.parent.glob(prefix.name + ".[0-9]"))
    return binary.read(zlib.decompress(b"".join(p.read_bytes() for p in pieces)))


def mixed(model: binary.Binary, others: list[tuple[binary.Binary, float]]) -> dict[str, np.ndarray]:
    """The weights of a model and shares of others'."""
    tensors = model.floats()
    rest = 1 - sum(share for _, share in others)
    added = [(other.floats(), share) for other, share in others]
    for name, value in tensors.items():
        if value.ndim and value.dtype == np.float32:
            tensors[name] = rest * value + sum(share * other[name] for other, share in added)
    return tensors


def trimmed(tensors: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Without the positions that are never reached."""
    for part, rows in POSITIONS.items():
        name = f"{part}/position_encodings/encodings"
        tensors[name] = tensors[name][:rows]
    return tensors


def config(tokenizer: Tokenizer) -> dict[str, object]:
    """CTranslate2's config.json."""
    one = tokenizer.token_to_id
    return {
        "lang_ids": [one("<|en|>"), one("<|ja|>")],
        "suppress_ids": [i for name in SPECIAL if name != "<|endoftext|>" and (i := one(name)) is not None],
        "suppress_ids_begin": [],
        "alignment_heads": [[5, 0]],
    }


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("--base", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--mix", nargs=2, action="append", default=[], metavar=("CHECKPOINT", "SHARE"))
    parser.add_argument("--embedding", type=float, default=SHIPPED["embedding"], help="step, in a row's deviations")
    parser.add_argument("--linear", type=float, default=SHIPPED["linear"])
    args = parser.parse_args()
    model = joined(args.checkpoint)
    tensors = trimmed(mixed(model, [(joined(Path(other)), float(share)) for other, share in args.mix]))
    steps = {"embedding": args.embedding, "linear": args.linear}
    coarse = binary.quantized(tensors, model.aliases, steps)
    args.out.mkdir(parents=True, exist_ok=True)
    told = (args.base / "tokenizer.json").read_text(encoding="utf-8")
    (args.out / "model.bin.z").write_bytes(binary.coded(binary.written(coarse)))
    (args.out / "tokenizer.json.xz").write_bytes(lzma.compress(told.encode(), preset=9))
    (args.out / "config.json").write_text(json.dumps(config(Tokenizer.from_str(told))) + "\n", encoding="utf-8")
    front_end = {"feature_size": 80, "sampling_rate": 16000, "hop_length": 160, "n_fft": 400, "task": TASK}
    (args.out / "preprocessor_config.json").write_text(json.dumps(front_end, indent=2) + "\n", encoding="utf-8")
    print(f"{args.out}: {sum(p.stat().st_size for p in args.out.iterdir()) / 1e6:.1f} MB")
