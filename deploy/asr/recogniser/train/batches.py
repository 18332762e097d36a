"""Batches for fine-tuning: clips of like length, distorted, cut, joined or replaced by noise, and what to learn."""

from __future__ import annotations

import random
from dataclasses import dataclass

import torch
from torch import Tensor

from recogniser.train.ears import Ears
from recogniser.train.sound import POSITION, RATE, Bank, BankedClip, RowDistortion, features, window
from recogniser.train.teacher import MORE, Teacher, TokenWords

IGNORE = -100
SHARES = {"people": 0.2, "en": 0.44, "ja": 0.3}
"""Of what is heard, as weights."""


def group(clip: BankedClip) -> str:
    """Whose share a clip is of."""
    return "people" if clip.kind.startswith("human:") else clip.lang


def prominence(clip: BankedClip) -> float:
    """Weight of a clip in its group."""
    corpus = {"human:commonvoice": 2.0, "human:kathleen": 0.6, "human:ljspeech": 0.6, "kokoro": 2.5}
    known = next((w for name, w in corpus.items() if clip.kind.startswith(name)), 1.0)
    return known * (1.5 if clip.length < 1.2 * RATE else 1.0)


@dataclass
class TaughtBatch:
    """Features, tokens in and out, and what the teacher has of them."""

    mel: Tensor
    inputs: Tensor
    targets: Tensor
    taught: Tensor
    heard: Tensor
    hears: Tensor
    hidden: Tensor
    ears: list[list[int] | None]
    """Pieces of the transcript, or None, of each row."""
    langs: list[str]


class TaughtBatches:
    """Endless batches of like length."""

    def __init__(
        self, bank: Bank, teacher: Teacher, words: TokenWords, ears: Ears, distortion: RowDistortion,
        rng: random.Random, frames: int,
    ) -> None:  # fmt: skip
        self.bank, self.teacher, self.words, self.ears = bank, teacher, words, ears
        self.distortion, self.rng, self.frames = distortion, rng, frames
        self.clips: list[BankedClip] = []
        self.waiting: dict[int, list[BankedClip]] = {}
        self.known: list[float] = []

    def add(self, clips: list[BankedClip]) -> None:
        """Take in clips to train on."""
        for clip in clips:
            clip.said = self.words.ids(clip.text, clip.lang) if clip.text else []
            clip.ear = self.ears.ids(clip.text, clip.lang) if clip.text else None
        self.clips += [c for c in clips if 0.15 * RATE < c.length <= 11 * RATE]

    def weights(self) -> list[float]:
        """How often each clip is drawn: groups by `SHARES`, in them single words and Common Voice more."""
        if len(self.known) != len(self.clips):
            groups = [group(c) for c in self.clips]
            raw = [prominence(c) for c in self.clips]
            total = {g: sum(w for w, of in zip(raw, groups, strict=True) if of == g) for g in set(groups)}
            self.known = [SHARES[g] * w / total[g] for w, g in zip(raw, groups, strict=True)]
        return self.known

    def group(self) -> list[BankedClip]:
        """The next group of clips of like length."""
        while True:
            for clip in self.rng.choices(self.clips, self.weights(), k=256):
                size = window(clip.length, 0.5)
                group = self.waiting.setdefault(size, [])
                group.append(clip)
                if len(group) >= max(8, self.frames * 160 // size // 8 * 8):
                    return self.waiting.pop(size)

    def make(self, clips: list[BankedClip], strength: float, plain: float) -> TaughtBatch:
        """Distorted sound of clips; `plain` is the share of transcripts asked for in plain words."""
        rng, device = self.rng, self.bank.device
        samples = window(
            max(c.length for c in clips), rng.choice((0.2, 0.4, 0.6, 0.6, 1.0)) if rng.random() < 0.85 else 3.0
        )
        sound = self.bank.rows(clips, samples)
        lengths, whole = [c.length for c in clips], [True] * len(clips)
        said: list[list[int] | None] = [c.said or None for c in clips]
        ears: list[list[int] | None] = [c.ear for c in clips]
        for row, clip in enumerate(clips):
            kind = rng.random()
            if kind < 0.04:
                sound[row] = self.distortion.empty(samples)
                said[row], ears[row], lengths[row], whole[row] = [], [], samples, False
            elif kind < 0.10 and clip.length > RATE:
                lengths[row] = int(clip.length * rng.uniform(0.25, 0.9))
                sound[row, lengths[row] :] = 0
                said[row] = ears[row] = None
            elif kind < 0.22:
                self.joined(row, sound, lengths, said, ears, clip)
            elif kind < 0.55:
                self.speeded(row, sound, lengths, whole)
        sound = self.distortion.applied(sound, lengths, strength)
        mel = features(sound)
        if strength > 0.5 and rng.random() < 0.4:
            mel = masked(mel, rng)
        return self.labelled(clips, mel, lengths, whole, said, ears, plain, device)

    def joined(
        self, row: int, sound: Tensor, lengths: list[int], said: list[list[int] | None], ears: list[list[int] | None],
        clip: BankedClip,
    ) -> None:  # fmt: skip
        """Another clip behind it, where there is room and both have transcripts."""
        other = self.rng.choice(self.clips)
        gap = int(self.rng.uniform(0.1, 0.7) * RATE)
        at, end = clip.length + gap, clip.length + gap + other.length
        if end + 2000 <= sound.shape[1] and other.lang == clip.lang and clip.said and other.said:
            sound[row, at:end] = self.bank.take(other)
            lengths[row], said[row] = end, clip.said + other.said
            ears[row] = None if clip.ear is None or other.ear is None else clip.ear + other.ear

    def speeded(self, row: int, sound: Tensor, lengths: list[int], whole: list[bool]) -> None:
        """Faster or slower; what the teacher heard is elsewhere then."""
        factor = self.rng.uniform(0.86, 1.18)
        faster = self.distortion.speeded(sound[row, : lengths[row]], factor)[: sound.shape[1]]
        sound[row] = 0
        sound[row, : len(faster)] = faster
        lengths[row], whole[row] = len(faster), False

    def labelled(
        self, clips: list[BankedClip], mel: Tensor, lengths: list[int], whole: list[bool], said: list[list[int] | None],
        ears: list[list[int] | None], plain: float, device: str,
    ) -> TaughtBatch:  # fmt: skip
        """With tokens and what the teacher has."""
        inputs, targets, hidden, taught = [], [], [], []
        for row, clip in enumerate(clips):
            cut = said[row] is None and clip.said
            can_tell = clip.hidden >= 0 and whole[row] and not cut and lengths[row] == clip.length
            if can_tell and (said[row] is None or self.rng.random() > plain):
                ids, prompt = clip.told[:-1], self.words.own[clip.lang]
                hidden.append(self.teacher.hidden[clip.hidden : clip.hidden + len(clip.told)].float())
                target, is_taught = clip.told, True
            else:
                ids, prompt, is_taught = said[row] or [], self.words.plain[clip.lang], False
                target = [*ids, self.words.end] if said[row] is not None else []
            inputs.append(prompt + ids)
            targets.append([IGNORE] * 3 + (target or [IGNORE]))
            taught.append(is_taught)
        positions = mel.shape[2] // 2
        heard = torch.zeros(len(clips), positions, self.teacher.heard.shape[1], dtype=torch.float16, device=device)
        hears = torch.zeros(len(clips), positions, dtype=torch.bool, device=device)
        for row, clip in enumerate(clips):
            at, size = clip.states
            size = min(size, positions)
            if lengths[row] < clip.length:  # cut
                size = min(size, max(0, lengths[row] // POSITION - MORE))
            elif lengths[row] > clip.length:  # joined
                size = min(size, clip.length // POSITION)
            if whole[row] and size:
                heard[row, :size], hears[row, :size] = self.teacher.heard[at : at + size], True
        return TaughtBatch(mel, padded(inputs, self.words.end, device), padded(targets, IGNORE, device),
                     torch.tensor(taught, device=device), heard, hears,
                     torch.cat(hidden) if hidden else torch.zeros(0, heard.shape[2], device=device),
                     ears, [c.lang for c in clips])  # fmt: skip


def padded(rows: list[list[int]], fill: int, device: str) -> Tensor:
    """Ragged rows as one tensor, a multiple of eight long."""
    size = -(-max(map(len, rows)) // 8) * 8
    return torch.tensor([row + [fill] * (size - len(row)) for row in rows], device=device)


def masked(mel: Tensor, rng: random.Random) -> Tensor:
    """Two bands and two short stretches of each batch at their mean."""
    mel = mel.clone()
    mean = mel.mean((1, 2), keepdim=True)
    for _ in range(2):
        low, wide = rng.randrange(70), rng.randint(2, 10)
        mel[:, low : low + wide] = mean
        at, long = rng.randrange(mel.shape[2]), rng.randint(4, 16)
        mel[:, :, at : at + long] = mean
    return mel
