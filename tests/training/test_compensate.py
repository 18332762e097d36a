"""Rounding that is made good: recogniser/export/compensate.py."""

import pytest

torch = pytest.importorskip("torch")

from recogniser.export import binary, compensate  # noqa: E402


def test_what_a_layer_says_suffers_less_than_by_plain_rounding() -> None:
    chance = torch.Generator().manual_seed(3)
    mixing = torch.randn(48, 48, generator=chance) / 7
    inputs = torch.randn(2000, 48, generator=chance) @ (mixing + 0.3)  # that vary together, as inputs of layers do
    weight = torch.randn(32, 48, generator=chance)
    whole, scale = compensate.rounded(weight, inputs.T @ inputs, 0.45)
    plain, same = binary.whole(weight.numpy(), 0.45)
    assert abs(scale / same - 1).max() < 1e-5
    assert abs(whole).max() <= 127

    def error(rows: object, of: object) -> float:
        kept = torch.from_numpy(rows).float() / torch.from_numpy(of)[:, None]
        return float((inputs @ (weight - kept).T).square().mean())

    assert error(whole, scale) < 0.5 * error(plain, same)
    assert (whole - plain).any()


def test_matrices_that_nobody_watched_are_rounded_plainly() -> None:
    tensors = {"a/weight": torch.randn(4, 8).numpy(), "b/bias": torch.zeros(4).numpy()}
    found = compensate.quantized(tensors, {}, {"linear": 0.25, "embedding": 0.4}, {})
    assert (found.tensors["a/weight"] == binary.whole(tensors["a/weight"], 0.25)[0]).all()
