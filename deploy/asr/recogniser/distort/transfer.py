"""From the host to the device without a wait: drawn sizes and padded rows travel while the device still works."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

SMOOTH = tuple(k for k in range(1, 257) if 2**8 * 3**5 * 5**3 * 7**2 % k == 0)
"""Numbers without a prime factor above 7: sizes that are quick to transform."""


def sent(array: np.ndarray, device: str) -> Tensor:
    """The array on the device. Pinned first, for a copy from common memory stops until the device has caught up."""
    tensor = torch.from_numpy(array)
    return tensor.pin_memory().to(device, non_blocking=True) if device.startswith("cuda") else tensor.to(device)


def stepped(size: int, step: int) -> int:
    """The least smooth multiple of `step` that is not below `size`: plans of FFT and convolution are kept by size."""
    needed = -(-size // step)
    return step * next((k for k in SMOOTH if k >= needed), needed)
