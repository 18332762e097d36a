"""Trainers of one model on several devices: each has batches of its own, gradients are averaged, one clock leads."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path

import torch
from torch import Tensor, distributed

PATIENCE = timedelta(seconds=90)
"""A trainer whose peer is gone ends after so long, and can be started again alone."""


class Peers:
    """This trainer among `count`, which meet by a file that must not exist before; alone, nothing is sent."""

    def __init__(self, count: int, rank: int, meeting: Path, device: str) -> None:
        self.count, self.rank, self.device = count, rank, device
        if count > 1:
            distributed.init_process_group(
                "nccl" if device.startswith("cuda") else "gloo",
                init_method=f"file://{meeting.absolute()}",
                rank=rank,
                world_size=count,
                timeout=PATIENCE,
            )

    def part(self) -> None:
        """The end of training together."""
        if self.count > 1:
            distributed.destroy_process_group()

    def leads(self) -> bool:
        """Whether this one writes checkpoints."""
        return self.rank == 0

    def agreed(self, value: float) -> float:
        """The leader's value."""
        if self.count == 1:
            return value
        told = torch.tensor([value], dtype=torch.float64, device=self.device)
        distributed.broadcast(told, 0)
        return float(told.item())

    def alike(self, tensors: Iterable[Tensor]) -> None:
        """The leader's weights everywhere."""
        if self.count > 1:
            for tensor in tensors:
                distributed.broadcast(tensor.data, 0)

    def average(self, parameters: Iterable[torch.nn.Parameter]) -> None:
        """The mean of everyone's gradients, in one message."""
        if self.count == 1:
            return
        moved = [p for p in parameters if p.grad is not None]
        whole = torch.cat([p.grad.flatten() for p in moved if p.grad is not None])
        distributed.all_reduce(whole)
        whole /= self.count
        for parameter, part in zip(moved, whole.split([p.numel() for p in moved]), strict=True):
            parameter.grad = part.view_as(parameter)
