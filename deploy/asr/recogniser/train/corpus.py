"""Training speech in memory: every shard's int16 sound on the device, and batches of like length drawn from it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import Tensor

from recogniser.distort.transfer import sent, stepped
from recogniser.distort.wave import STEP

IGNORE = -100
HOP = 160
SHORTEST = 12 * HOP
"""Utterances of fewer samples are left out."""
CHUNK = 4096
"""Utterances drawn at a time."""
ROOM = 60
"""10 ms frames that distortion adds to an utterance."""


@dataclass
class Corpus:
    """audio: (all samples) int16; one row of the rest per utterance, lengths in samples."""

    audio: np.ndarray
    length: np.ndarray
    text: list[str]
    lang: list[str]
    voice: list[str]

    @property
    def hours(self) -> float:
        """Hours of audio."""
        return float(self.length.sum()) / 16_000 / 3600


def finished(folder: Path) -> list[Path]:
    """Shards that are complete."""
    return sorted(p for p in folder.glob("**/*.npz") if ".tmp" not in p.name)


def read(paths: list[Path], langs_wanted: list[str]) -> Corpus:
    """Load shards, keeping the languages wanted."""
    sounds, lengths, texts, langs, voices = [np.zeros(0, np.int16)], [np.zeros(0, np.int64)], [], [], []
    for path in paths:
        with np.load(path) as shard:
            length = shard["length"].astype(np.int64)
            lang = np.broadcast_to(shard["lang"], length.shape)
            kept = np.isin(lang, langs_wanted)
            if not kept.any():
                continue
            sounds.append(shard["audio"] if kept.all() else shard["audio"][np.repeat(kept, length)])
            lengths.append(length[kept])
            texts += shard["text"][kept].tolist()
            voices += shard["voice"][kept].tolist()
            langs += lang[kept].tolist()
    return Corpus(np.concatenate(sounds), np.concatenate(lengths), texts, langs, voices)


@dataclass
class Batch:
    """audio (batch, samples), zeros after each end; labels for CTC; decoder inputs and targets; lengths on the host."""

    audio: Tensor
    length: np.ndarray
    labels: Tensor
    label_lengths: Tensor
    inputs: Tensor
    targets: Tensor
    silent: np.ndarray
    ends: Tensor
    """(batch, labels): where each label would end if speech were even, as a share of the utterance."""


def length_of(token: str) -> float:
    """Roughly how long a piece takes to say, in letters or kana."""
    plain = token.replace("\u2581", "")
    return 0.3 + sum(
        0.3 if c in "ャュョァィゥェォゃゅょっッ" else 2.0 if c >= "\u3400" or c in "々〇" else 1.0 for c in plain
    )


@dataclass(frozen=True)
class BatchLimits:
    """Bounds of a batch: 10 ms frames, utterances, frames of one encoder position, and the share made silent."""

    frames: int = 6_000
    most: int = 48
    position: int = 6
    silent: float = 0.04


class Batches:
    """Endless batches: weighted draws, in bins of like length. All sound lies on the device."""

    def __init__(
        self, tokenizer: Tokenizer, weights: dict[str, float], seed: int, limits: BatchLimits, device: str = "cpu"
    ) -> None:
        self.tokenizer, self.limits, self.device, self.weights = tokenizer, limits, device, weights
        self.rng = np.random.default_rng(seed)
        special = tokenizer.token_to_id
        self.share = np.array([length_of(tokenizer.id_to_token(i)) for i in range(tokenizer.get_vocab_size())])
        begin, task, plain = (special(f"<|{t}|>") for t in ("startoftranscript", "transcribe", "notimestamps"))
        self.prompt = {lang: [begin, special(f"<|{lang}|>"), task, plain] for lang in ("en", "ja")}
        self.end, self.nothing = special("<|endoftext|>"), special("<|nospeech|>")
        self.audio = torch.zeros(0, dtype=torch.int16, device=device)
        self.start, self.length = np.zeros(0, np.int64), np.zeros(0, np.int64)
        self.weight = np.zeros(0)
        self.ids: list[list[int]] = []
        self.lang: list[str] = []
        self.bins: defaultdict[int, list[int]] = defaultdict(list)

    def add(self, corpus: Corpus) -> None:
        """Take in more speech."""
        ids = [e.ids for e in self.tokenizer.encode_batch(corpus.text)]
        roomy = [len(i) * self.limits.position * HOP * 1.2 < n for i, n in zip(ids, corpus.length, strict=True)]
        weight = [max((w for k, w in self.weights.items() if v.startswith(k)), default=1.0) for v in corpus.voice]
        usable = np.array(roomy, dtype=bool) & (corpus.length > SHORTEST)
        self.weight = np.concatenate([self.weight, np.where(usable, np.array(weight), 0.0)])
        start = len(self.audio) + np.cumsum(corpus.length) - corpus.length
        self.start, self.length = np.concatenate([self.start, start]), np.concatenate([self.length, corpus.length])
        if self.audio.is_cuda:  # begun on the trainer's stream, read on the one that makes batches
            self.audio.record_stream(torch.cuda.current_stream())
        self.audio = torch.cat([self.audio, torch.from_numpy(corpus.audio).to(self.device)])
        self.ids += ids
        self.lang += corpus.lang

    def chunk(self, longest: int | None = None) -> Iterator[Batch]:
        """CHUNK utterances of at most `longest` samples, in batches; what fills no bin is kept for the next chunk."""
        weight = self.weight if longest is None else np.where(self.length <= longest, self.weight, 0.0)
        for i in self.rng.choice(len(weight), size=CHUNK, p=weight / weight.sum()).tolist():
            frames = stepped(int(self.length[i]) // HOP + ROOM, STEP // HOP)
            self.bins[frames].append(i)
            if len(self.bins[frames]) >= self.rows(frames):
                yield self.make(self.bins.pop(frames))

    def rows(self, frames: int) -> int:
        """Utterances of a batch of so many frames: always as many, so that plans made for its shape are used again."""
        most = min(self.limits.frames // frames, self.limits.most)
        return max(1, most - most % 8 if most > 8 else most)

    def make(self, rows: list[int]) -> Batch:
        """Pad one group into tensors."""
        silent = self.rng.random(len(rows)) < self.limits.silent
        labels, inputs, targets, ends = [], [], [], []
        for quiet, i in zip(silent, rows, strict=True):
            ids = [] if quiet else self.ids[i]
            prompt = self.prompt[self.lang[i]]
            said = np.cumsum(self.share[ids]) if ids else np.zeros(0)
            labels.append(ids)
            ends.append((said / said[-1]).tolist() if ids else [])
            inputs.append(prompt + ids)
            targets.append([self.nothing if quiet else prompt[1], IGNORE, IGNORE, *ids, self.end])
        return Batch(
            audio=self.sound(rows),
            length=self.length[rows],
            labels=self.padded(labels, 0),
            label_lengths=torch.tensor([len(x) for x in labels]),
            inputs=self.padded(inputs, self.end),
            targets=self.padded(targets, IGNORE),
            silent=silent,
            ends=self.padded(ends, 2.0, np.float32),
        )

    def sound(self, rows: list[int]) -> Tensor:
        """(batch, samples) in -1..1 with zeros after each end."""
        length, start = sent(self.length[rows], self.device), sent(self.start[rows], self.device)
        steps = torch.arange(int(self.length[rows].max()), device=self.device)
        at = (start[:, None] + steps).clamp(max=len(self.audio) - 1)
        return torch.where(steps[None] < length[:, None], self.audio[at] / 32768.0, 0.0)

    def padded(self, rows: list[list[int]] | list[list[float]], fill: float, kind: type = np.int64) -> Tensor:
        """Ragged rows as one tensor."""
        table = np.full((len(rows), max(1, *map(len, rows))), fill, kind)
        for line, row in zip(table, rows, strict=True):
            line[: len(row)] = row
        return sent(table, self.device)
