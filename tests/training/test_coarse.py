"""Weights on fewer levels: recogniser/export/coarse.py."""

from typing import Any

import numpy as np
import pytest
from ctranslate2.specs import common_spec, model_spec

from recogniser.export import coarse


class Two(model_spec.LayerSpec):  # type: ignore[misc]
    """Two layers, one inside the other's list."""

    def __init__(self) -> None:
        self.heads = np.int8(5)
        self.first = common_spec.LinearSpec()
        self.rest = [common_spec.LinearSpec()]


@pytest.fixture
def spec() -> Any:
    made, rng = Two(), np.random.default_rng(1)
    for layer in (made.first, made.rest[0]):
        layer.weight = rng.normal(size=(6, 40)).astype(np.float32)
        layer.weight[2] = 0
        layer.bias = rng.normal(size=6).astype(np.float32)
    made.validate()
    return made


def whole(spec: Any) -> dict[str, Any]:
    """What a spec holds, in numpy."""
    return {name: value.numpy().copy() for name, value in spec.variables().items()}


@pytest.mark.parametrize("levels", [127, 63, 54, 15])
def test_weights_lie_on_levels_and_nothing_else_moves(spec: Any, levels: int) -> None:
    before = whole(spec)
    coarse.coarsen(spec, levels)
    after = whole(spec)
    assert set(after) == set(before)
    for name, value in after.items():
        if not name.endswith("weight"):
            assert np.array_equal(value, before[name])
            continue
        step = np.abs(before[name]).max(axis=1, keepdims=True) / levels
        assert (np.abs(value - before[name]) <= step * 0.501).all()
        assert all(len(np.unique(row)) <= 2 * levels + 1 for row in value)


@pytest.mark.parametrize("levels", [63, 54, 31])
def test_quantized_there_are_no_more_levels_and_the_largest_stay(spec: Any, levels: int) -> None:
    coarse.coarsen(spec, levels)
    spec.optimize(quantization="int8")
    for name, value in whole(spec).items():
        if name.endswith("weight"):
            assert value.dtype == np.int8
            assert all(len(np.unique(row)) <= 2 * levels + 1 for row in value)
            assert np.abs(value).max(axis=1).tolist() == [127, 127, 0, 127, 127, 127]


@pytest.mark.parametrize("levels", [0, 128])
def test_int8_has_no_more_levels(spec: Any, levels: int) -> None:
    with pytest.raises(ValueError, match="levels"):
        coarse.coarsen(spec, levels)
