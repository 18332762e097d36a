"""Coarse steps that hurt least: what rounding does to a layer's output is made good by weights not yet rounded.

After GPTQ (Frantar and others, 2022): the inputs of every layer are watched while real speech passes, and each row is
rounded column by column, the error of each going into those behind it, as the inputs vary together.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import Tensor, nn
from tqdm import tqdm

from recogniser.export import binary
from recogniser.train.sound import Bank, BankedClip, features, window
from recogniser.train.teacher import TokenWords
from recogniser.train.whisper import Whisper

DAMPING = 0.03
"""Share of the inputs' mean square that is added to each: few utterances are not to be believed too far."""
BATCH = 12
EMBEDDINGS = "decoder/embeddings/weight"
Moments = dict[str, Tensor]


def rounded(weight: Tensor, moments: Tensor, step: float) -> tuple[np.ndarray, np.ndarray]:
    """(int8 rows, float32 scales) as `binary.whole` makes them, of (rows, columns) and (columns, columns) of inputs."""
    size = torch.maximum(weight.std(1, correction=0) * step, weight.abs().amax(1) / 127).clamp(min=1e-12)[:, None]
    order = moments.diagonal().argsort(descending=True)  # the loudest inputs first, while much is left to make good
    left, seen = weight[:, order].clone(), moments[order][:, order]
    seen = seen + torch.eye(len(seen)) * DAMPING * seen.diagonal().mean()
    follow = torch.linalg.cholesky(torch.cholesky_inverse(torch.linalg.cholesky(seen)), upper=True)
    whole = torch.zeros_like(left)
    for at in range(left.shape[1]):
        column = left[:, at : at + 1]
        whole[:, at : at + 1] = (column / size).round().clamp(-127, 127)
        error = (column - whole[:, at : at + 1] * size) / follow[at, at]
        left[:, at + 1 :] -= error * follow[at, at + 1 :]
    back = torch.empty_like(whole)
    back[:, order] = whole
    return back.to(torch.int8).numpy(), (1 / size[:, 0]).numpy()


def layers(model: Whisper) -> Iterator[tuple[str, nn.Module]]:
    """Every matrix but the heads', by CTranslate2's name."""
    attending = (
        ("encoder", "self_attention", model.encoder.attention),
        ("decoder", "self_attention", model.decoder.own),
        ("decoder", "attention", model.decoder.heard),
    )
    for part, name, found in attending:
        for n, attention in enumerate(found):
            for k, layer in enumerate(attention.parts):
                yield f"{part}/layer_{n}/{name}/linear_{k}/weight", layer
    for part, feeds in (("encoder", model.encoder.feed), ("decoder", model.decoder.feed)):
        for n, feed in enumerate(feeds):
            yield f"{part}/layer_{n}/ffn/linear_0/weight", feed.up
            yield f"{part}/layer_{n}/ffn/linear_1/weight", feed.down


@torch.inference_mode()
def watched(model: Whisper, words: TokenWords, bank: Bank, clips: list[BankedClip]) -> Moments:
    """Inputs' second moments of every matrix, and of the embeddings, while clips are heard and written."""
    found: Moments = {}

    def add(name: str, x: Tensor) -> None:
        rows = x.reshape(-1, x.shape[-1])
        found[name] = found.get(name, torch.zeros(rows.shape[1], rows.shape[1])) + rows.T @ rows

    hooks = [
        layer.register_forward_pre_hook(lambda _, given, name=name: add(name, given[0]))
        for name, layer in layers(model)
    ]
    clips = sorted(clips, key=lambda c: c.length)
    for at in tqdm(range(0, len(clips), BATCH), unit="batch"):
        some = clips[at : at + BATCH]
        states = model.encoder(features(bank.rows(some, window(some[-1].length, 0.5))))
        for row, clip in enumerate(some):
            ids = torch.tensor([words.plain[clip.lang] + words.ids(clip.text, clip.lang)])
            add(EMBEDDINGS, model.states(ids, states[row : row + 1])[:, 3:])
    for hook in hooks:
        hook.remove()
    return found


def calibration(folder: Path, bank: Bank, count: int) -> list[BankedClip]:
    """Utterances with transcripts out of a payload's parts, in both languages, people and voices."""
    clips = [c for path in sorted(folder.rglob("*.npz")) for c in bank.add(path)]
    usable = [c for c in clips if c.text and not c.kind.startswith(("noise:", "room:", "test:"))]
    chosen = random.Random(7)
    kinds: dict[tuple[str, bool], list[BankedClip]] = {}
    for clip in usable:
        kinds.setdefault((clip.lang, clip.kind.startswith("human:")), []).append(clip)
    return [c for some in kinds.values() for c in chosen.sample(some, min(count // len(kinds), len(some)))]


def moments(tensors: dict[str, np.ndarray], tokenizer: Tokenizer, heard: Path, count: int = 480) -> Moments:
    """`watched` while a checkpoint of these weights hears at most `count` utterances of a folder."""
    words = TokenWords.of(tokenizer)
    bank = Bank("cpu")
    model = Whisper({k: v.astype(np.float32) if v.ndim else v for k, v in tensors.items()}, words.task).eval()
    return watched(model, words, bank, calibration(heard, bank, count))


def quantized(
    tensors: dict[str, np.ndarray], aliases: dict[str, str], steps: dict[str, float], seen: Moments
) -> binary.Binary:
    """As `binary.quantized`, each matrix whose inputs were seen rounded by `rounded`."""
    found = binary.quantized(tensors, aliases, steps)
    for name in tqdm(sorted(seen), unit="matrix"):
        step = steps["embedding" if "embeddings" in name else "linear"]
        whole, scale = rounded(torch.from_numpy(tensors[name]), seen[name], step)
        found.tensors[name], found.tensors[name + binary.SCALE] = whole, scale
    return found
