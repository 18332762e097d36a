"""Make the folder that ships of what was fine-tuned: `recogniser pack FETCHED/b-next --base BASE --out MODEL`.

FETCHED/b-next.0, .1, … are its pieces; BASE is the folder that its payload began with. `--mix FETCHED/a-next 0.5` puts
so much of another training in. Positions that no window reaches are left out. Take `next`: it is rounded here, and with
`--heard PAY` (parts of `recogniser payload`'s with speech) so that what the layers make of that speech suffers least.
"""

from __future__ import annotations

import argparse
import json
import lzma
import shutil
import zlib
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from recogniser.export import binary, compensate
from recogniser.export.tokens import folded
from recogniser.train.ears import LANGUAGES, NAMES, head_of
from recogniser.train.vocabulary import SPECIAL, TASK

WRITTEN = {"en": " ?[a-z'-]+", "ja": "[^!-~À-ɏ]+"}
"""What a language's tokens are like: its decoder is loaded without all others."""
SHIPPED = {"embedding": 0.46, "linear": 0.257}
"""Steps of what ships, in deviations of a row."""
POSITIONS = {"encoder": 600, "decoder": 192}
"""Windows of 12 s, and more tokens than a piece may have."""


def joined(prefix: Path) -> binary.Binary:
    """A checkpoint out of its pieces."""
    pieces = sorted(prefix.parent.glob(prefix.name + ".[0-9]"))
    return binary.read(zlib.decompress(b"".join(p.read_bytes() for p in pieces)))


def mixed(model: binary.Binary, others: list[tuple[binary.Binary, float]]) -> dict[str, np.ndarray]:
    """The weights of a model and shares of others'; what another one lacks, a CTC head, stays as it is."""
    tensors = model.floats()
    rest = 1 - sum(share for _, share in others)
    added = [(other.floats(), share) for other, share in others]
    for name, value in tensors.items():
        if value.ndim and value.dtype == np.float32:
            tensors[name] = rest * value + sum(share * other.get(name, value) for other, share in added)
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


def head(tensors: dict[str, np.ndarray], lang: str, pieces: Path, out: Path) -> None:
    """Take a language's CTC head out of the tensors; it ships beside them, with its pieces and their language model."""
    table, bias = (tensors.pop(NAMES.format(lang, part)) for part in ("table", "bias"))
    out.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(
        out / "ctc.npz", weight=table.astype(np.float16), bias=bias.astype(np.float16), blank=len(bias) - 1
    )
    for name in ("tokenizer.json", "language.npz.xz"):
        if (pieces / name).exists() and pieces.resolve() != out.resolve():
            shutil.copy(pieces / name, out / name)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("--base", type=Path, required=True)
    parser.add_argument("--pieces", type=Path, required=True, help="folder of en/ and ja/, each with the heads' pieces")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--mix", nargs=2, action="append", default=[], metavar=("CHECKPOINT", "SHARE"))
    parser.add_argument("--head", nargs=2, action="append", default=[], metavar=("LANG", "CHECKPOINT"),
                        help="a language's CTC head as it is there: two do not always mix")  # fmt: skip
    parser.add_argument("--quieter", nargs=2, action="append", default=[], metavar=("LANG", "NATS"),
                        help="how much less likely blank is than trained, where labels are left out")  # fmt: skip
    parser.add_argument("--heard", type=Path, help="folder of speech that rounding is to hurt least")
    parser.add_argument("--embedding", type=float, default=SHIPPED["embedding"], help="step, in a row's deviations")
    parser.add_argument("--linear", type=float, default=SHIPPED["linear"])
    args = parser.parse_args()
    model = joined(args.checkpoint)
    whole = mixed(model, [(joined(Path(other)), float(share)) for other, share in args.mix])
    told = binary.tokenizer(args.base)
    moments = compensate.moments(whole, Tokenizer.from_str(told), args.heard) if args.heard else {}
    tensors = trimmed(whole)
    steps = {"embedding": args.embedding, "linear": args.linear}
    args.out.mkdir(parents=True, exist_ok=True)
    for lang, checkpoint in args.head:
        tensors |= head_of(joined(Path(checkpoint)).floats(), lang)
    for lang, nats in args.quieter:
        tensors[NAMES.format(lang, "bias")][-1] -= float(nats)
    for lang in LANGUAGES:
        head(tensors, lang, args.pieces / lang, args.out / lang)
    coarse = compensate.quantized(tensors, model.aliases, steps, moments)
    (args.out / "model.bin.z").write_bytes(binary.coded(binary.written(coarse)))
    (args.out / "tokenizer.json.xz").write_bytes(lzma.compress(folded(told).encode(), preset=9 | lzma.PRESET_EXTREME))
    (args.out / "config.json").write_text(json.dumps(config(Tokenizer.from_str(told))) + "\n", encoding="utf-8")
    front_end = {"feature_size": 80, "sampling_rate": 16000, "hop_length": 160, "n_fft": 400, "task": TASK}
    front_end["written"] = WRITTEN
    (args.out / "preprocessor_config.json").write_text(
        json.dumps(front_end, indent=2, ensure_ascii=False) + "\n", encoding="utf-8"
    )
    print(f"{args.out}: {sum(p.stat().st_size for p in args.out.iterdir()) / 1e6:.1f} MB")
