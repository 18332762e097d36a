"""Whisper in PyTorch, from CTranslate2's tensors and back to them, for sound of any length."""

from __future__ import annotations

from typing import cast

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from recogniser.train.ears import Ears

HEAD = 64
Tensors = dict[str, np.ndarray]


class Steps:
    """How coarse matrices are while training: 0 is exact; else they lie on steps of so much of a row's deviation."""

    linear = 0.0


class _Rounded(torch.autograd.Function):
    @staticmethod
    def forward(_ctx: object, weight: Tensor, step: float) -> Tensor:
        size = (weight.std(dim=1, keepdim=True, correction=0) * step).clamp(min=1e-12)
        return torch.round(weight / size) * size

    @staticmethod
    def backward(_ctx: object, gradient: Tensor) -> tuple[Tensor, None]:
        return gradient, None


class Linear(nn.Linear):
    """A linear layer whose weights lie on the steps that will be kept of them."""

    def forward(self, x: Tensor) -> Tensor:
        """As the model that ships computes it."""
        weight = self.weight if not Steps.linear else cast("Tensor", _Rounded.apply(self.weight, Steps.linear))
        return functional.linear(x, weight, self.bias)


def tensor(values: np.ndarray) -> Tensor:
    """float32 of an array."""
    return torch.from_numpy(np.ascontiguousarray(values, dtype=np.float32))


def linear(t: Tensors, name: str) -> Linear:
    """A linear layer by its name."""
    weight = tensor(t[name + "/weight"])
    layer = Linear(weight.shape[1], weight.shape[0])
    layer.weight.data, layer.bias.data = weight, tensor(t[name + "/bias"])
    return layer


def norm(t: Tensors, name: str) -> nn.LayerNorm:
    """A layer normalisation by its name."""
    gain = tensor(t[name + "/gamma"])
    layer = nn.LayerNorm(len(gain))
    layer.weight.data, layer.bias.data = gain, tensor(t[name + "/beta"])
    return layer


def heads(x: Tensor) -> Tensor:
    """(batch, heads, time, 64) of (batch, time, width)."""
    return x.view(x.shape[0], x.shape[1], -1, HEAD).transpose(1, 2)


class WhisperAttention(nn.Module):
    """Attention to itself, or to what the encoder says."""

    def __init__(self, t: Tensors, name: str, *, cross: bool) -> None:
        super().__init__()
        self.norm, self.cross = norm(t, name + "/layer_norm"), cross
        self.parts = nn.ModuleList([linear(t, f"{name}/linear_{n}") for n in range(3 if cross else 2)])

    def keys(self, memory: Tensor) -> tuple[Tensor, Tensor]:
        """Keys and values of what the encoder says."""
        k, v = self.parts[1](memory).chunk(2, -1)
        return heads(k), heads(v)

    def forward(self, x: Tensor, memory: tuple[Tensor, Tensor] | None = None, *, causal: bool = False) -> Tensor:
        """X and what it attends to."""
        h = self.norm(x)
        if memory is None:
            q, k, v = (heads(y) for y in self.parts[0](h).chunk(3, -1))
        else:
            q, (k, v) = heads(self.parts[0](h)), memory
        y = functional.scaled_dot_product_attention(q, k, v, is_causal=causal)
        return x + self.parts[-1](y.transpose(1, 2).reshape(x.shape))


class Feed(nn.Module):
    """The feed-forward half of a layer."""

    def __init__(self, t: Tensors, name: str) -> None:
        super().__init__()
        self.norm = norm(t, name + "/layer_norm")
        self.up, self.down = linear(t, name + "/linear_0"), linear(t, name + "/linear_1")

    def forward(self, x: Tensor) -> Tensor:
        """X and what it becomes."""
        return x + self.down(functional.gelu(self.up(self.norm(x))))


def layers(t: Tensors, part: str) -> range:
    """Layers of encoder or decoder."""
    return range(sum(f"{part}/layer_{n}/ffn/layer_norm/beta" in t for n in range(64)))


class WhisperEncoder(nn.Module):
    """Log-mel features (batch, 80, frames) to states (batch, frames / 2, width)."""

    positions: Tensor

    def __init__(self, t: Tensors) -> None:
        super().__init__()
        width = len(t["encoder/conv1/bias"])
        self.conv1 = nn.Conv1d(80, width, 3, padding=1)
        self.conv2 = nn.Conv1d(width, width, 3, stride=2, padding=1)
        for conv, name in ((self.conv1, "conv1"), (self.conv2, "conv2")):
            conv.weight.data = tensor(t[f"encoder/{name}/weight"])
            cast("nn.Parameter", conv.bias).data = tensor(t[f"encoder/{name}/bias"])
        self.register_buffer("positions", tensor(t["encoder/position_encodings/encodings"]))
        names = [f"encoder/layer_{n}" for n in layers(t, "encoder")]
        self.attention = nn.ModuleList([WhisperAttention(t, n + "/self_attention", cross=False) for n in names])
        self.feed = nn.ModuleList([Feed(t, n + "/ffn") for n in names])
        self.norm = norm(t, "encoder/layer_norm")

    def forward(self, mel: Tensor) -> Tensor:
        """Encode a window."""
        x = functional.gelu(self.conv2(functional.gelu(self.conv1(mel)))).transpose(1, 2)
        x = x + self.positions[: x.shape[1]]
        for attention, feed in zip(self.attention, self.feed, strict=True):
            x = feed(attention(x))
        found: Tensor = self.norm(x)
        return found


class WhisperDecoder(nn.Module):
    """Token ids (batch, length) to states (batch, length, width); logits are states times embeddings."""

    def __init__(self, t: Tensors) -> None:
        super().__init__()
        self.positions = nn.Parameter(tensor(t["decoder/position_encodings/encodings"]))
        names = [f"decoder/layer_{n}" for n in layers(t, "decoder")]
        self.own = nn.ModuleList([WhisperAttention(t, n + "/self_attention", cross=False) for n in names])
        self.heard = nn.ModuleList([WhisperAttention(t, n + "/attention", cross=True) for n in names])
        self.feed = nn.ModuleList([Feed(t, n + "/ffn") for n in names])
        self.norm = norm(t, "decoder/layer_norm")

    def forward(self, embedded: Tensor, memory: Tensor) -> Tensor:
        """States of embedded tokens (batch, length, width)."""
        x = embedded + self.positions[: embedded.shape[1]]
        for own, heard, feed in zip(self.own, self.heard, self.feed, strict=True):
            x = feed(heard(own(x, causal=True), heard.keys(memory)))
        found: Tensor = self.norm(x)
        return found


class Whisper(nn.Module):
    """Both, and the embeddings: frozen but for the task token that asks for plain words."""

    embedding: Tensor

    def __init__(self, t: Tensors, task: int, ears: Ears | None = None) -> None:
        super().__init__()
        self.encoder, self.decoder, self.task, self.ears = WhisperEncoder(t), WhisperDecoder(t), task, ears
        self.register_buffer("embedding", tensor(t["decoder/embeddings/weight"]))
        self.asked = nn.Parameter(self.embedding[task].clone())

    def embedded(self, ids: Tensor) -> Tensor:
        """Embeddings of ids."""
        return torch.where((ids == self.task)[..., None], self.asked, functional.embedding(ids, self.embedding))

    def states(self, ids: Tensor, memory: Tensor) -> Tensor:
        """Decoder states of ids."""
        found: Tensor = self.decoder(self.embedded(ids), memory)
        return found

    def tensors(self) -> Tensors:
        """Back to CTranslate2's names, float32."""
        found: Tensors = {}
        _name_encoder(self.encoder, found)
        _name_decoder(self.decoder, found)
        embedding = self.embedding.clone()
        embedding[self.task] = self.asked.detach()
        found["decoder/embeddings/weight"] = _array(embedding)
        return found | (self.ears.tensors() if self.ears else {})


def _array(value: Tensor) -> np.ndarray:
    return value.detach().float().cpu().numpy()


def _name_norm(name: str, layer: nn.LayerNorm, found: Tensors) -> None:
    found[name + "/gamma"], found[name + "/beta"] = _array(layer.weight), _array(layer.bias)


def _name_linear(name: str, layer: nn.Module, found: Tensors) -> None:
    found[name + "/weight"], found[name + "/bias"] = _array(layer.weight), _array(layer.bias)


def _name_attention(name: str, layer: WhisperAttention, found: Tensors) -> None:
    _name_norm(name + "/layer_norm", layer.norm, found)
    for n, part in enumerate(layer.parts):
        _name_linear(f"{name}/linear_{n}", part, found)


def _name_feed(name: str, layer: Feed, found: Tensors) -> None:
    _name_norm(name + "/layer_norm", layer.norm, found)
    _name_linear(name + "/linear_0", layer.up, found)
    _name_linear(name + "/linear_1", layer.down, found)


def _name_encoder(encoder: WhisperEncoder, found: Tensors) -> None:
    _name_linear("encoder/conv1", encoder.conv1, found)
    _name_linear("encoder/conv2", encoder.conv2, found)
    found["encoder/position_encodings/encodings"] = _array(encoder.positions)
    _name_norm("encoder/layer_norm", encoder.norm, found)
    for n, (attention, feed) in enumerate(zip(encoder.attention, encoder.feed, strict=True)):
        _name_attention(f"encoder/layer_{n}/self_attention", cast("WhisperAttention", attention), found)
        _name_feed(f"encoder/layer_{n}/ffn", cast("Feed", feed), found)


def _name_decoder(decoder: WhisperDecoder, found: Tensors) -> None:
    found["decoder/position_encodings/encodings"] = _array(decoder.positions)
    _name_norm("decoder/layer_norm", decoder.norm, found)
    for n, (own, heard, feed) in enumerate(zip(decoder.own, decoder.heard, decoder.feed, strict=True)):
        _name_attention(f"decoder/layer_{n}/self_attention", cast("WhisperAttention", own), found)
        _name_attention(f"decoder/layer_{n}/attention", cast("WhisperAttention", heard), found)
        _name_feed(f"decoder/layer_{n}/ffn", cast("Feed", feed), found)
