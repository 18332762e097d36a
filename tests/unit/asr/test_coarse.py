"""Weights on fewer levels: deploy/asr/coarse.py."""

from typing import Any, Final

import numpy as np
import pytest
from ctranslate2.specs import common_spec, model_spec

from tests.unit.asr._training import training

coarse: Final = training("coarse")


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
        layer.weight = rng.integers(-127, 128, size=(6, 40), dtype=np.int8)
        layer.weight_scale = rng.uniform(50, 500, size=6).astype(np.float32)
        layer.bias = rng.normal(size=6).astype(np.float32)
    made.validate()
    return made


@pytest.mark.parametrize(("bits", "apart"), [(8, 1), (6, 4), (5, 8)])
def test_weights_lie_on_levels_and_nothing_else_moves(spec: Any, bits: int, apart: int) -> None:
    before = {name: value.numpy().copy() for name, value in spec.variables().items()}
    coarse.coarsen(spec, bits)
    after = {name: value.numpy() for name, value in spec.variables().items()}
    assert set(after) == set(before)
    for name, value in after.items():
        if value.dtype != np.int8 or name == "heads":
            assert np.array_equal(value, before[name])
            continue
        inside = np.abs(value) < 127
        assert not (value[inside] % apart).any()
        assert np.abs(value.astype(int) - before[name]).max() <= apart / 2


@pytest.mark.parametrize("bits", [1, 9])
def test_there_are_two_to_eight_bits(spec: Any, bits: int) -> None:
    with pytest.raises(ValueError, match="bits"):
        coarse.coarsen(spec, bits)
