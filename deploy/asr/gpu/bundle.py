"""Shrink a checkpoint to travel: `bundle.py RUNS OUT LANG` writes LANG.pt.0, LANG.pt.1 … and LANG-tokenizer.json.

`bundle.py --join OUT RUNS LANG` puts them together again as RUNS/LANG/last.pt, for export.py or for a further round.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import torch

PIECE = 15 << 20


def split(runs: Path, out: Path, lang: str) -> None:
    """The averaged weights in half precision, in pieces."""
    state = torch.load(runs / lang / "last.pt", map_location="cpu", weights_only=True)
    kept = {k: state[k] for k in ("shape", "step", "spent")}
    kept["average"] = {k: v.half() for k, v in state["average"].items()}
    whole = out / f"{lang}.whole"
    torch.save(kept, whole)
    data = whole.read_bytes()
    whole.unlink()
    for number, at in enumerate(range(0, len(data), PIECE)):
        (out / f"{lang}.pt.{number}").write_bytes(data[at : at + PIECE])
    shutil.copyfile(runs / lang / "tokenizer.json", out / f"{lang}-tokenizer.json")


def join(out: Path, runs: Path, lang: str) -> None:
    """The other way."""
    (runs / lang).mkdir(parents=True, exist_ok=True)
    pieces = sorted(out.glob(f"{lang}.pt.*"))
    (runs / lang / "last.pt").write_bytes(b"".join(p.read_bytes() for p in pieces))
    shutil.copyfile(out / f"{lang}-tokenizer.json", runs / lang / "tokenizer.json")


if __name__ == "__main__":
    *flag, first, second, lang = sys.argv[1:]
    (join if flag else split)(Path(first), Path(second), lang)
