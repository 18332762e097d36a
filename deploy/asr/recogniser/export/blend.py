"""Begin again from a mixture of trainings, to train its CTC heads: `recogniser blend FOLDER/out/{a,b}/next --out NEXT`.

NEXT is a folder that `recogniser fine-tune` begins with: the mixture's weights, and by links what else FOLDER holds.
The heads are the first checkpoint's: two that put labels in other places make one that hears nothing, and stays so.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from recogniser.export import binary
from recogniser.export.pack import joined, mixed
from recogniser.export.payload import STEPS
from recogniser.train.ears import LANGUAGES, head_of


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkpoints", type=Path, nargs="+")
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    first, *others = (joined(checkpoint) for checkpoint in args.checkpoints)
    tensors = mixed(first, [(other, 1 / len(args.checkpoints)) for other in others])
    own = first.floats()
    for lang in LANGUAGES:
        tensors |= head_of(own, lang)
    args.out.mkdir(parents=True, exist_ok=True)
    data = binary.coded(binary.written(binary.quantized(tensors, first.aliases, STEPS)))
    for number, part in enumerate((data[: len(data) // 2], data[len(data) // 2 :]), 1):
        (args.out / f"weights.{number}").write_bytes(part)
    for path in args.checkpoints[0].parents[2].glob("*"):
        if path.suffix in {".json", ".npz"}:
            (args.out / path.name).symlink_to(path.resolve())
