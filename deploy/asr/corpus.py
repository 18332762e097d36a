"""Training features in memory: every shard as one float16 array, and batches of similar length drawn from it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import Tensor

IGNORE = -100
FLOOR = -10.0
SHORTEST = 12
"""Utterances of fewer 10 ms frames are left out."""
CHUNK = 4096
"""Utterances drawn and sorted at a time."""


@dataclass
class Corpus:
    """mel: (all frames, 80) float16; one row of the rest per utterance."""

    mel: np.ndarray
    start: np.ndarray
    length: np.ndarray
    text: list[str]
    lang: list[str]
    voice: list[str]

    @property
    def hours(self) -> float:
        """Hours of audio."""
        return float(self.length.sum()) / 360_000


def read(folder: Path, langs_wanted: list[str]) -> Corpus:
    """Load every finished shard below the folder, keeping the languages wanted."""
    mels, lengths, texts, langs, voices = [], [], [], [], []
    for path in sorted(p for p in folder.glob("**/*.npz") if ".tmp" not in p.name):
        with np.load(path) as shard:
            length = shard["length"]
            lang = np.broadcast_to(shard["lang"], length.shape)
            kept = np.isin(lang, langs_wanted)
            if not kept.any():
                continue
            mels.append(shard["mel"][np.repeat(kept, length)])
            lengths.append(length[kept])
            texts += shard["text"][kept].tolist()
            voices += shard["voice"][kept].tolist()
            langs += lang[kept].tolist()
    length = np.concatenate(lengths)
    return Corpus(np.concatenate(mels), np.concatenate([[0], np.cumsum(length)[:-1]]), length, texts, langs, voices)


@dataclass
class Batch:
    """mel (batch, frames, 80) padded with the floor; labels for CTC; decoder inputs and targets."""

    mel: Tensor
    frames: Tensor
    labels: Tensor
    label_lengths: Tensor
    inputs: Tensor
    targets: Tensor
    silent: Tensor
    ends: Tensor
    """(batch, labels): where each label would end if speech were even, as a share of the utterance."""


def length_of(token: str) -> float:
    """Roughly how long a piece takes to say, in letters or kana."""
    plain = token.replace("\u2581", "")
    return 0.3 + sum(
        0.3 if c in "ャュョァィゥェォゃゅょっッ" else 2.0 if c >= "\u3400" or c in "々〇" else 1.0 for c in plain
    )


@dataclass(frozen=True)
class Limits:
    """Bounds of a batch: 10 ms frames, utterances, frames of one encoder position, and the share made silent."""

    frames: int = 6_000
    most: int = 48
    position: int = 6
    silent: float = 0.04


class Batches:
    """Endless batches: weighted draws, sorted by length in chunks. All features lie on the device."""

    def __init__(
        self,
        corpus: Corpus,
        tokenizer: Tokenizer,
        weights: dict[str, float],
        seed: int,
        limits: Limits,
        device: str = "cpu",
    ) -> None:
        self.corpus, self.tokenizer, self.limits, self.device = corpus, tokenizer, limits, device
        self.mel = torch.from_numpy(corpus.mel).to(device)
        self.rng = np.random.default_rng(seed)
        self.ids = [tokenizer.encode(t).ids for t in corpus.text]
        roomy = [len(i) * limits.position * 1.2 < n for i, n in zip(self.ids, corpus.length, strict=True)]
        weight = [max((w for k, w in weights.items() if v.startswith(k)), default=1.0) for v in corpus.voice]
        self.weight = np.where(np.array(roomy) & (corpus.length > SHORTEST), np.array(weight), 0.0)
        special = tokenizer.token_to_id
        self.share = np.array([length_of(tokenizer.id_to_token(i)) for i in range(tokenizer.get_vocab_size())])
        begin, task, plain = (special(f"<|{t}|>") for t in ("startoftranscript", "transcribe", "notimestamps"))
        self.prompt = {lang: [begin, special(f"<|{lang}|>"), task, plain] for lang in ("en", "ja")}
        self.end, self.nothing = special("<|endoftext|>"), special("<|nospeech|>")

    def endless(self, longest: int | None = None) -> Iterator[Batch]:
        """Batches for ever, of utterances of at most `longest` frames."""
        weight = self.weight if longest is None else np.where(self.corpus.length <= longest, self.weight, 0.0)
        odds = weight / weight.sum()
        while True:
            chosen = self.rng.choice(len(odds), size=CHUNK, p=odds)
            chosen = chosen[np.argsort(self.corpus.length[chosen] + self.rng.uniform(0, 20, len(chosen)))]
            groups = self.grouped([int(i) for i in chosen])
            for n in self.rng.permutation(len(groups)):
                yield self.make(groups[n])

    def grouped(self, ordered: list[int]) -> list[list[int]]:
        """Neighbours of similar length together, within the limits."""
        groups: list[list[int]] = [[]]
        for i in ordered:
            group, room = groups[-1], self.corpus.length[i] + 60
            if group and ((len(group) + 1) * room > self.limits.frames or len(group) >= self.limits.most):
                groups.append([])
            groups[-1].append(i)
        return groups

    def make(self, rows: list[int]) -> Batch:
        """Pad one group into tensors."""
        silent = self.rng.random(len(rows)) < self.limits.silent
        labels, inputs, targets, ends = [], [], [], []
        for quiet, i in zip(silent, rows, strict=True):
            ids = [] if quiet else self.ids[i]
            prompt = self.prompt[self.corpus.lang[i]]
            said = np.cumsum(self.share[ids]) if ids else np.zeros(0)
            labels.append(ids)
            ends.append((said / said[-1]).tolist() if ids else [])
            inputs.append(prompt + ids)
            targets.append([self.nothing if quiet else prompt[1], IGNORE, IGNORE, *ids, self.end])
        mel, frames = self.features(rows)
        counts = torch.tensor([len(x) for x in labels], device=self.device)
        return Batch(
            mel=mel,
            frames=frames,
            labels=self.padded(labels, 0),
            label_lengths=counts,
            inputs=self.padded(inputs, self.end),
            targets=self.padded(targets, IGNORE),
            silent=torch.from_numpy(silent).to(self.device),
            ends=self.padded(ends, 2.0),
        )

    def features(self, rows: list[int]) -> tuple[Tensor, Tensor]:
        """(batch, frames, 80) with the floor after each end, and the lengths."""
        frames = torch.from_numpy(self.corpus.length[rows].astype(np.int64)).to(self.device)
        start = torch.from_numpy(self.corpus.start[rows].astype(np.int64)).to(self.device)
        steps = torch.arange(int(frames.max()), device=self.device)
        at = (start[:, None] + steps).clamp(max=len(self.mel) - 1)
        inside = (steps[None] < frames[:, None])[..., None]
        return torch.where(inside, self.mel[at].float(), FLOOR), frames

    def padded(self, rows: list[list[int]] | list[list[float]], fill: float) -> Tensor:
        """Ragged rows as one tensor."""
        width = max(1, *map(len, rows)) if len(rows) > 1 else max(1, len(rows[0]))
        return torch.tensor([row + [fill] * (width - len(row)) for row in rows], device=self.device)
