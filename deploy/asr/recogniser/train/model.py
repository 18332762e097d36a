"""Whisper's architecture in plain PyTorch, sized for a small vocabulary, with a CTC head on the encoder.

The encoder takes (batch, mels x stack, frames / stack): `stack` neighbouring 10 ms frames side by side, so that with a
stack of two one encoder position lasts 40 ms. Every weight has its place in CTranslate2's Whisper specification.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812


@dataclass(frozen=True)
class Shape:
    """Sizes of a model."""

    vocabulary: int
    width: int = 256
    heads: int = 4
    encoder_layers: int = 6
    decoder_layers: int = 2
    hidden: int = 1024
    stack: int = 2
    mels: int = 80
    positions: int = 750
    tokens: int = 128


def folded(mel: Tensor, stack: int) -> Tensor:
    """(batch, frames, 80) -> (batch, 80 x stack, frames / stack)."""
    return mel.reshape(len(mel), mel.shape[1] // stack, -1).transpose(1, 2)


def sinusoids(length: int, channels: int) -> Tensor:
    """Whisper's fixed positions: (length, channels)."""
    scale = torch.log(torch.tensor(10000.0)) / (channels // 2 - 1)
    inverse = torch.exp(-scale * torch.arange(channels // 2))
    angle = torch.arange(length)[:, None] * inverse[None, :]
    return torch.cat([angle.sin(), angle.cos()], dim=1)


def attend(q: Tensor, k: Tensor, v: Tensor, *, causal: bool) -> Tensor:
    """Scaled dot-product attention: fused on a GPU, spelled out on a CPU, where the fused backward is slow."""
    if q.is_cuda:
        return F.scaled_dot_product_attention(q, k, v, is_causal=causal)
    scores = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5
    if causal:
        scores = scores + torch.full(scores.shape[-2:], float("-inf"), dtype=scores.dtype).triu(1)
    return scores.softmax(-1) @ v


class Attention(nn.Module):
    """Multi-head attention; the key projection has no bias, as in Whisper."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.q = nn.Linear(width, width)
        self.k = nn.Linear(width, width, bias=False)
        self.v = nn.Linear(width, width)
        self.out = nn.Linear(width, width)

    def forward(self, x: Tensor, memory: Tensor | None = None, causal: bool = False) -> Tensor:
        """(batch, n, width) -> (batch, n, width)."""
        source = x if memory is None else memory
        split = lambda t: t.unflatten(-1, (self.heads, -1)).transpose(1, 2)  # noqa: E731
        mixed = attend(split(self.q(x)), split(self.k(source)), split(self.v(source)), causal=causal)
        return self.out(mixed.transpose(1, 2).flatten(2))


class TransformerBlock(nn.Module):
    """Pre-norm transformer layer, with cross-attention when it belongs to the decoder."""

    def __init__(self, shape: Shape, cross: bool, dropout: float) -> None:
        super().__init__()
        self.attention = Attention(shape.width, shape.heads)
        self.attention_norm = nn.LayerNorm(shape.width)
        self.cross = Attention(shape.width, shape.heads) if cross else None
        self.cross_norm = nn.LayerNorm(shape.width) if cross else None
        self.up = nn.Linear(shape.width, shape.hidden)
        self.down = nn.Linear(shape.hidden, shape.width)
        self.ffn_norm = nn.LayerNorm(shape.width)
        self.drop = nn.Dropout(dropout)

    def forward(self, x: Tensor, memory: Tensor | None = None) -> Tensor:
        """(batch, n, width) -> same."""
        x = x + self.drop(self.attention(self.attention_norm(x), causal=self.cross is not None))
        if self.cross is not None and self.cross_norm is not None:
            x = x + self.drop(self.cross(self.cross_norm(x), memory))
        return x + self.drop(self.down(F.gelu(self.up(self.ffn_norm(x)))))


class Recogniser(nn.Module):
    """Encoder with a CTC head, and attention decoder with tied embeddings."""

    positions: Tensor

    def __init__(self, shape: Shape, dropout: float = 0.1) -> None:
        super().__init__()
        self.shape = shape
        self.conv1 = nn.Conv1d(shape.mels * shape.stack, shape.width, 3, padding=1)
        self.conv2 = nn.Conv1d(shape.width, shape.width, 3, stride=2, padding=1)
        self.register_buffer("positions", sinusoids(shape.positions, shape.width))
        self.encoder = nn.ModuleList(TransformerBlock(shape, False, dropout) for _ in range(shape.encoder_layers))
        self.encoder_norm = nn.LayerNorm(shape.width)
        self.ctc = nn.Linear(shape.width, shape.vocabulary)
        self.embedding = nn.Embedding(shape.vocabulary, shape.width)
        self.token_positions = nn.Parameter(torch.randn(shape.tokens, shape.width) * 0.01)
        self.decoder = nn.ModuleList(TransformerBlock(shape, True, dropout) for _ in range(shape.decoder_layers))
        self.decoder_norm = nn.LayerNorm(shape.width)
        nn.init.normal_(self.embedding.weight, std=0.02)

    def encode(self, mel: Tensor) -> Tensor:
        """(batch, mels x stack, n) -> (batch, n / 2, width)."""
        x = F.gelu(self.conv2(F.gelu(self.conv1(mel)))).transpose(1, 2).float()  # the residual stream stays float32
        x = x + self.positions[: x.shape[1]]
        for layer in self.encoder:
            x = layer(x)
        return self.encoder_norm(x)

    def decode(self, tokens: Tensor, memory: Tensor) -> Tensor:
        """(batch, n) tokens -> (batch, n, vocabulary) logits."""
        x = self.embedding(tokens) + self.token_positions[: tokens.shape[1]]
        for layer in self.decoder:
            x = layer(x, memory)
        return F.linear(self.decoder_norm(x), self.embedding.weight)


def deepened(state: dict[str, Tensor], layers: int) -> dict[str, Tensor]:
    """The state with more encoder layers between those it has, each a copy that adds nothing yet: it hears the same.

    ValueError where it has more already, for to leave any out would not.
    """
    had = 1 + max(int(name.split(".")[1]) for name in state if name.startswith("encoder."))
    if layers < had:
        raise ValueError(f"{had} encoder layers can't become {layers}")
    places = [k * layers // had for k in range(had)]
    grown = {name: value for name, value in state.items() if not name.startswith("encoder.")}
    for layer in range(layers):
        source = max(k for k in range(had) if places[k] <= layer)
        for name, value in state.items():
            if name.startswith(f"encoder.{source}."):
                part = name.split(".", 2)[2]
                silent = layer != places[source] and part.startswith(("attention.out.", "down."))
                grown[f"encoder.{layer}.{part}"] = torch.zeros_like(value) if silent else value
    return grown


def weights(run: Path, use: str) -> tuple[Shape, dict[str, Tensor]]:
    """(shape, state) of the run's last checkpoint: its running average, or the raw weights."""
    state = torch.load(run / "last.pt", map_location="cpu", weights_only=True)
    return Shape(**state["shape"]), {name: value.float() for name, value in state[use].items()}
