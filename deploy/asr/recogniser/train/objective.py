"""What training minimises: attention cross-entropy, CTC, how far two views disagree, and at first a flat start."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812

from recogniser.distort.transfer import sent
from recogniser.distort.wave import Placed
from recogniser.train.corpus import HOP, Batch
from recogniser.train.model import Recogniser, folded


def even(batch: Batch, positions: int, span: int, placed: Placed, blank: int) -> Tensor:
    """(batch, positions) labels as if speech were even: a flat start that spares CTC its long plateau."""
    middle = (np.arange(positions) + 0.5) * span * HOP
    said = (middle[None] - placed.lead[:, None]) * placed.speed[:, None] / batch.length[:, None]
    share = sent(said.astype(np.float32), str(batch.labels.device))
    index = (share[:, :, None] >= batch.ends[:, None, :]).sum(-1).clamp(max=batch.labels.shape[1] - 1)
    spoken = sent((batch.label_lengths > 0).numpy(), str(share.device))[:, None]
    inside = (share > 0) & (share < 1) & spoken
    return torch.where(inside, batch.labels.gather(1, index), torch.full_like(index, blank))


@dataclass(frozen=True)
class Losses:
    """Of one batch, the last three in nats a label: `apart` is how far CTC heads that hear two views disagree."""

    attention: Tensor
    ctc: Tensor
    apart: Tensor
    flat: Tensor

    def whole(self, ctc_weight: float, apart_weight: float, flat_weight: float) -> Tensor:
        """What is minimised."""
        by_ear = self.ctc + apart_weight * self.apart
        return (1 - ctc_weight) * self.attention + ctc_weight * by_ear + flat_weight * self.flat


def losses(
    model: Recogniser,
    encode: Callable[[Tensor], Tensor],
    batch: Batch,
    mel: Tensor,
    blank: int,
    placed: Placed | None = None,
    smoothing: float = 0.1,
) -> Losses:
    """Losses of a batch of distorted mel (batch x views, frames, 80): all of the first views, then the second ones."""
    views = len(mel) // len(batch.inputs)
    memory = encode(folded(mel, model.shape.stack))
    logits = model.decode(batch.inputs.repeat(views, 1), memory)
    attention = F.cross_entropy(
        logits.float().flatten(0, 1), batch.targets.repeat(views, 1).flatten(), ignore_index=-100,
        label_smoothing=smoothing,
    )  # fmt: skip
    log_probs = model.ctc(memory).float().log_softmax(-1).transpose(0, 1)
    steps = torch.full((len(mel),), memory.shape[1], dtype=torch.long)  # on the host: CTC needs no wait for them
    lengths = batch.label_lengths.repeat(views)
    labels = max(1, int(lengths.sum()))
    ctc = F.ctc_loss(
        log_probs, batch.labels.repeat(views, 1), steps, lengths, blank=blank, zero_infinity=True, reduction="sum"
    )
    apart = start = torch.zeros((), device=mel.device)
    if views == 2:
        apart = disagreement(*log_probs.chunk(2, dim=1))
    if placed is not None:
        targets = even(batch, memory.shape[1], 2 * model.shape.stack, placed, blank).repeat(views, 1)
        start = F.nll_loss(log_probs.transpose(0, 1).flatten(0, 1), targets.flatten())
    return Losses(attention, ctc / labels, apart / labels, start)


def disagreement(one: Tensor, other: Tensor) -> Tensor:
    """Nats by which each of two heads' log-probabilities misses the other, which is held still meanwhile."""
    misses = [F.kl_div(a, b.detach(), log_target=True, reduction="sum") for a, b in ((one, other), (other, one))]
    return misses[0] + misses[1]
