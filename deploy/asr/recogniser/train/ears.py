"""CTC heads on Whisper's encoder: what is heard, by the pieces of PIECES, beside what the decoder writes."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import Tensor, nn
from torch.nn import functional

PIECES = "pieces-{}.json"
"""A tokenizer for each language, in the payload; its last piece stands for blank."""
LANGUAGES = ("en", "ja")
NAMES = "ears/{}/{}"
"""Of the tensors of a language's head: `table` (pieces, width) and `bias`."""


def head_of(tensors: dict[str, np.ndarray], lang: str) -> dict[str, np.ndarray]:
    """A language's head among a checkpoint's tensors."""
    return {name: tensors[name] for part in ("table", "bias") if (name := NAMES.format(lang, part))}


class Ears(nn.Module):
    """A linear head for each language: states (batch, positions, width) to log-probabilities of its pieces."""

    def __init__(self, folder: Path, begun: dict[str, np.ndarray], width: int) -> None:
        super().__init__()
        self.pieces = {lang: Tokenizer.from_file(str(folder / PIECES.format(lang))) for lang in LANGUAGES}
        generator = torch.Generator().manual_seed(1)  # several trainings that are mixed begin with the same heads
        self.heads = nn.ModuleDict()
        for lang, pieces in self.pieces.items():
            head = nn.Linear(width, pieces.get_vocab_size())
            head.weight.data = torch.randn(head.weight.shape, generator=generator) * 0.02
            head.bias.data.zero_()
            if (table := begun.get(NAMES.format(lang, "table"))) is not None:
                head.weight.data = torch.from_numpy(table.astype(np.float32))
                head.bias.data = torch.from_numpy(begun[NAMES.format(lang, "bias")].astype(np.float32))
            self.heads[lang] = head

    def blank(self, lang: str) -> int:
        """The piece that stands for none."""
        return int(self.pieces[lang].get_vocab_size()) - 1

    def ids(self, text: str, lang: str) -> list[int] | None:
        """Pieces of a transcript; None where they can't spell it."""
        found: list[int] = self.pieces[lang].encode(text, add_special_tokens=False).ids
        return found if self.text(found, lang) == text else None

    def text(self, ids: list[int], lang: str) -> str:
        """What pieces spell."""
        return str(self.pieces[lang].decode(ids)).strip()

    def log_probs(self, states: Tensor, lang: str) -> Tensor:
        """Of every position, float32."""
        return cast("Tensor", self.heads[lang](states)).float().log_softmax(-1)

    def loss(self, states: Tensor, said: list[list[int] | None], langs: list[str]) -> Tensor | None:
        """CTC loss in nats a label, of the rows whose transcript is known; None where none is."""
        total, labels = torch.zeros((), device=states.device), 0
        for lang in LANGUAGES:
            rows = [i for i, (of, ids) in enumerate(zip(langs, said, strict=True)) if of == lang and ids is not None]
            known = [cast("list[int]", said[i]) for i in rows]
            if not rows:
                continue
            lengths = torch.tensor([len(ids) for ids in known])
            total = total + functional.ctc_loss(
                self.log_probs(states[rows], lang).transpose(0, 1),
                torch.tensor([i for ids in known for i in ids], dtype=torch.long, device=states.device),
                torch.full((len(rows),), states.shape[1], dtype=torch.long),
                lengths, blank=self.blank(lang), zero_infinity=True, reduction="sum",
            )  # fmt: skip
            labels += int(lengths.sum()) + len(rows)
        return total / labels if labels else None

    @torch.inference_mode()
    def greedy(self, states: Tensor, lang: str) -> list[str]:
        """What is heard in each row."""
        best = self.log_probs(states, lang).argmax(-1)
        found = []
        for row in best.tolist():
            kept = [i for i, before in zip(row, [-1, *row], strict=False) if i != before and i != self.blank(lang)]
            found.append(self.text(kept, lang))
        return found

    def tensors(self) -> dict[str, np.ndarray]:
        """By `NAMES`, float32."""
        found = {}
        for lang, head in self.heads.items():
            layer = cast("nn.Linear", head)
            found[NAMES.format(lang, "table")] = layer.weight.detach().float().cpu().numpy()
            found[NAMES.format(lang, "bias")] = layer.bias.detach().float().cpu().numpy()
        return found
