"""Weights on fewer levels than int8 has: compressed they take less, and what is heard hardly changes."""

from __future__ import annotations

from typing import Any

import numpy as np
from ctranslate2.specs import model_spec

WHOLE = 8
"""Bits of a quantized weight."""


def coarsen(spec: model_spec.LayerSpec, bits: int) -> None:
    """Move quantized weights to the nearest of 2 ** `bits` levels; ValueError where those are not 2 to 8."""
    if not 2 <= bits <= WHOLE:
        raise ValueError(f"{bits} bits are not between 2 and {WHOLE}")
    step = 2 ** (WHOLE - bits)

    def move(layer: Any, name: str, value: Any) -> None:
        key = name.rsplit("/", 1)[-1]
        if isinstance(value, model_spec.Variable) and value.dtype == "int8" and hasattr(layer, f"{key}_scale"):
            levels = np.clip(np.rint(value.numpy() / step) * step, -127, 127)
            setattr(layer, key, model_spec.NumpyVariable(levels.astype(np.int8)))

    model_spec.visit_spec(spec, move)
