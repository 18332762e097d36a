"""Random numbers where the sound lies: a distortion has its generator on the device, so that nothing waits for them."""

from __future__ import annotations

import torch
from torch import Tensor


class Drawn:
    """Draws by a generator on `device`."""

    def __init__(self, rng: torch.Generator, device: str) -> None:
        self.rng, self.device = rng, device

    def uniform(self, low: float, high: float, *size: int) -> Tensor:
        """Uniform numbers on the device."""
        return low + (high - low) * torch.rand(*size, generator=self.rng, device=self.device)
