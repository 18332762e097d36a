"""Shrink a checkpoint to travel: `recogniser bundle RUNS OUT LANG` writes LANG.pt.0, LANG.pt.1 … of at most 15 MiB.

`recogniser bundle --join OUT RUNS LANG` makes RUNS/LANG/last.pt and tokenizer.json of them again, for
`recogniser export` or a further round; a torn piece is an error there.
"""

from __future__ import annotations

import io
import sys
from pathlib import Path

import torch

PIECE = 15 << 20


def split(runs: Path, out: Path, lang: str) -> None:
    """The averaged weights in half precision and the vocabulary, in pieces."""
    state = torch.load(runs / lang / "last.pt", map_location="cpu", weights_only=True)
    kept = {k: state[k] for k in ("shape", "step", "spent")}
    kept["average"] = {k: v.half() for k, v in state["average"].items()}
    kept["tokenizer"] = (runs / lang / "tokenizer.json").read_text(encoding="utf-8")
    whole = io.BytesIO()
    torch.save(kept, whole)
    data = whole.getvalue()
    for number, at in enumerate(range(0, len(data), PIECE)):
        partial = out / f"{lang}.tmp"
        partial.write_bytes(data[at : at + PIECE])
        partial.replace(out / f"{lang}.pt.{number}")


def join(out: Path, runs: Path, lang: str) -> None:
    """The other way."""
    pieces = sorted(out.glob(f"{lang}.pt.*"))
    state = torch.load(io.BytesIO(b"".join(p.read_bytes() for p in pieces)), weights_only=True)
    (runs / lang).mkdir(parents=True, exist_ok=True)
    (runs / lang / "tokenizer.json").write_text(state.pop("tokenizer"), encoding="utf-8")
    torch.save(state, runs / lang / "last.pt")


def main() -> None:
    """Command line."""
    *flag, first, second, language = sys.argv[1:]
    (join if flag else split)(Path(first), Path(second), language)
