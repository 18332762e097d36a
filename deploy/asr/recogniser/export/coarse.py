"""Weights on fewer levels than int8 has: compressed they take less, and what is heard hardly changes."""

from __future__ import annotations

from typing import Any

import numpy as np
from ctranslate2.specs import model_spec

WHOLE = 127
"""Levels of an int8 weight on either side of nothing."""


def coarsen(spec: model_spec.LayerSpec, levels: int) -> None:
    """Move the weights that are to be quantized to the nearest of so many levels on either side, even in each row.

    Before they are: a weight that is rounded twice ends half as far off again. ValueError where int8 has fewer levels.
    """
    if not 1 <= levels <= WHOLE:
        raise ValueError(f"{levels} levels are not between 1 and {WHOLE}")

    def move(layer: Any, name: str, value: Any) -> None:
        key = name.rsplit("/", 1)[-1]
        if isinstance(value, model_spec.Variable) and value.dtype == "float32" and hasattr(layer, f"{key}_scale"):
            weights = value.numpy()
            largest = np.abs(weights).max(axis=tuple(range(1, weights.ndim)), keepdims=True)
            step = np.where(largest > 0, largest, 1) / levels
            setattr(layer, key, model_spec.NumpyVariable((np.rint(weights / step) * step).astype(np.float32)))

    model_spec.visit_spec(spec, move)
