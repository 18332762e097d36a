"""The encoder as CUDA graphs, one for each shape that comes often: a replay instead of hundreds of small launches."""

from __future__ import annotations

from collections import Counter
from contextlib import AbstractContextManager

import torch
from torch import Tensor, nn

from recogniser.train.model import Recogniser

OFTEN = 3


class EncoderAlone(nn.Module):
    """The encoder's own parameters and forward pass, apart from the rest of the model."""

    def __init__(self, model: Recogniser) -> None:
        super().__init__()
        self.parts = nn.ModuleList([model.conv1, model.conv2, model.encoder, model.encoder_norm])
        self.encode = model.encode

    def forward(self, mel: Tensor) -> Tensor:
        """(batch, mels x stack, n) -> (batch, n / 2, width)."""
        return self.encode(mel)


class Graphs:
    """`encode` of a model by replay. Graphs share their memory: a step is over before the next one begins."""

    def __init__(self, model: Recogniser, alone: AbstractContextManager[object]) -> None:
        self.model, self.alone = model, alone  # nothing else may use the device while a graph is captured
        self.seen: Counter[torch.Size] = Counter()
        self.captured: dict[torch.Size, EncoderAlone] = {}
        self.pool = torch.cuda.graph_pool_handle()

    def encode(self, mel: Tensor) -> Tensor:
        """As the model's; under autocast without its cache, which would outlive a capture."""
        self.seen[mel.shape] += 1
        if mel.shape not in self.captured and self.seen[mel.shape] >= OFTEN:
            self.captured[mel.shape] = self._capture(mel)
        graph = self.captured.get(mel.shape)
        return self.model.encode(mel) if graph is None else graph(mel)

    def _capture(self, mel: Tensor) -> EncoderAlone:
        with self.alone:
            torch.cuda.synchronize()
            encoder = EncoderAlone(self.model)
            torch.cuda.make_graphed_callables(encoder, (torch.zeros_like(mel),), pool=self.pool)
            torch.cuda.synchronize()
        return encoder
