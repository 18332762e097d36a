"""What training minimises: attention cross-entropy, CTC, and at first a flat start."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from corpus import HOP, Batch
from model import Recogniser, folded
from torch import Tensor
from torch.nn import functional as F  # noqa: N812
from transfer import sent
from wave_distortion import Placed


def even(batch: Batch, positions: int, span: int, placed: Placed, blank: int) -> Tensor:
    """(batch, positions) labels as if speech were even: a flat start that spares CTC its long plateau."""
    middle = (np.arange(positions) + 0.5) * span * HOP
    said = (middle[None] - placed.lead[:, None]) * placed.speed[:, None] / batch.length[:, None]
    share = sent(said.astype(np.float32), str(batch.labels.device))
    index = (share[:, :, None] >= batch.ends[:, None, :]).sum(-1).clamp(max=batch.labels.shape[1] - 1)
    spoken = sent((batch.label_lengths > 0).numpy(), str(share.device))[:, None]
    inside = (share > 0) & (share < 1) & spoken
    return torch.where(inside, batch.labels.gather(1, index), torch.full_like(index, blank))


def losses(
    model: Recogniser,
    encode: Callable[[Tensor], Tensor],
    batch: Batch,
    mel: Tensor,
    blank: int,
    placed: Placed | None = None,
    smoothing: float = 0.1,
) -> tuple[Tensor, Tensor, Tensor]:
    """(attention cross-entropy, CTC loss a label, flat-start loss) of a batch of distorted mel (batch, frames, 80)."""
    memory = encode(folded(mel, model.shape.stack))
    logits = model.decode(batch.inputs, memory)
    attention = F.cross_entropy(
        logits.float().flatten(0, 1), batch.targets.flatten(), ignore_index=-100, label_smoothing=smoothing
    )
    log_probs = model.ctc(memory).float().log_softmax(-1).transpose(0, 1)
    steps = torch.full((len(mel),), memory.shape[1], dtype=torch.long)  # on the host: CTC needs no wait for them
    ctc = F.ctc_loss(
        log_probs, batch.labels, steps, batch.label_lengths, blank=blank, zero_infinity=True, reduction="sum"
    )
    start = torch.zeros((), device=mel.device)
    if placed is not None:
        targets = even(batch, memory.shape[1], 2 * model.shape.stack, placed, blank)
        start = F.nll_loss(log_probs.transpose(0, 1).flatten(0, 1), targets.flatten())
    return attention, ctc / max(1, int(batch.label_lengths.sum())), start
