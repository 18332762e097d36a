"""Sound on the device: every utterance in one tensor, batches of like length, distorted anew each time, log-mel."""

from __future__ import annotations

import io
import math
import random
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from itertools import accumulate, pairwise
from pathlib import Path

import numpy as np
import soundfile
import torch
from torch import Tensor
from torch.nn import functional

RATE = 16_000
HOP = 160
POSITION = 320
N_FFT = 400
MELS = 80
FLOOR = 1e-10
HELD_OUT_NOISES = ("office", "webrtc_leak", "sb_noise5")
"""Never trained on, for tests."""
PHONE_HZ = (300.0, 3_400.0)
SPREAD = 0.3
"""How far a line's own band is off, of its lower edge; the upper one is off by a third of that."""
QUIET = 1.3
"""Decades by which speech on a line may be quieter than its coder's range."""
MU = 255.0


@dataclass
class BankedClip:
    """An utterance's place in the bank, and what is known of it."""

    start: int
    length: int
    text: str
    lang: str
    kind: str
    said: list[int] = field(default_factory=list)
    """Ids of the transcript."""
    ear: list[int] | None = None
    """Pieces of it for the CTC head; None where they can't spell it, or nobody knows it."""
    states: tuple[int, int] = (0, 0)
    """Where the teacher's encoder states lie."""
    told: list[int] = field(default_factory=list)
    """What the teacher wrote, end included."""
    hidden: int = -1
    """Where the teacher's decoder states of these lie."""


def decoded(coded: np.ndarray) -> np.ndarray:
    """int16 at 16 kHz of one sound file's bytes."""
    sound, rate = soundfile.read(io.BytesIO(coded.tobytes()), dtype="int16", always_2d=True)
    if rate != RATE:
        raise ValueError(f"{rate} samples a second")
    mono: np.ndarray = sound[:, 0]
    return mono


class Bank:
    """All sound, int16 on the device."""

    def __init__(self, device: str) -> None:
        self.device, self.clips = device, list[BankedClip]()
        self.sound = torch.zeros(RATE, dtype=torch.int16, device=device)

    def add(self, path: Path, most: int = 10**9) -> list[BankedClip]:
        """Take in a part of export/payload.py's, or of it at most so many."""
        with np.load(path) as part:
            pieces = np.split(part["coded"], np.cumsum(part["size"])[:-1])[:most]
            rows = list(zip(part["text"], part["lang"], part["kind"], strict=True))[:most]
        with ThreadPoolExecutor(8) as pool:
            sounds = list(pool.map(decoded, pieces))
        start, new = len(self.sound), list[BankedClip]()
        for sound, (text, lang, kind) in zip(sounds, rows, strict=True):
            new.append(BankedClip(start, len(sound), str(text), str(lang), str(kind)))
            start += len(sound)
        self.sound = torch.cat([self.sound, torch.from_numpy(np.concatenate(sounds)).to(self.device)])
        self.clips += new
        return new

    def take(self, clip: BankedClip) -> Tensor:
        """One utterance, float32."""
        return self.sound[clip.start : clip.start + clip.length].float() / 32768

    def rows(self, clips: list[BankedClip], samples: int) -> Tensor:
        """(batch, samples): each from its beginning, zeros behind it."""
        start = torch.tensor([c.start for c in clips], device=self.device)
        length = torch.tensor([c.length for c in clips], device=self.device)
        at = torch.arange(samples, device=self.device)
        found = self.sound[(start[:, None] + at).clamp(max=len(self.sound) - 1)].float() / 32768
        return torch.where(at < length[:, None], found, 0.0)


@cache
def mel_filters() -> np.ndarray:
    """Slaney-style mel filter bank (80, 201), 0 to 8 kHz, as Whisper uses."""
    freqs = np.fft.rfftfreq(N_FFT, 1 / RATE)
    top = 15 + np.log(8000 / 1000) / (np.log(6.4) / 27)
    mels = np.linspace(0, top, MELS + 2)
    hertz = np.where(mels < 15, mels * 200 / 3, 1000 * np.exp((np.log(6.4) / 27) * (mels - 15)))
    ramps = hertz[:, None] - freqs[None, :]
    width = np.diff(hertz)
    lower = -ramps[:-2] / width[:-1, None]
    upper = ramps[2:] / width[1:, None]
    weights = np.maximum(0, np.minimum(lower, upper))
    weights *= (2.0 / (hertz[2:] - hertz[:-2]))[:, None]
    return weights.astype(np.float32)


@cache
def _constants(device: str) -> tuple[Tensor, Tensor]:
    """(window, filters) on a device."""
    return torch.hann_window(N_FFT, device=device), torch.from_numpy(mel_filters()).to(device)


def features(sound: Tensor) -> Tensor:
    """Whisper's features (batch, 80, frames) of (batch, samples)."""
    hann, filters = _constants(str(sound.device))
    spectrum = torch.stft(sound, N_FFT, HOP, window=hann, return_complex=True)[..., :-1]
    mel = torch.log10((filters @ (spectrum.real**2 + spectrum.imag**2)).clamp(min=FLOOR))
    mel = torch.maximum(mel, mel.amax((1, 2), keepdim=True) - 8.0)
    return (mel + 4.0) / 4.0


def window(samples: int, more_s: float) -> int:
    """Samples of a window: the speech and so much more, whole half seconds, at least two."""
    return max(4, math.ceil(2 * (samples / RATE + more_s))) * RATE // 2


class RowDistortion:
    """Speed, rooms, noise, telephones, lost packets and loudness, drawn for each row anew."""

    def __init__(self, noises: list[Tensor], rooms: list[Tensor], rng: random.Random) -> None:
        self.noises, self.rooms, self.rng = noises, rooms, rng
        self.all_noise = torch.cat(noises)
        ends = [0, *accumulate(len(n) for n in noises)]
        self.recorded = [(at, end - at) for at, end in pairwise(ends)]
        """Place and length of each recording."""

    def noise(self, samples: int) -> Tensor:
        """A stretch of a recording, hiss, or (seldom) tones, at a root mean square of 1."""
        device, kind = self.noises[0].device, self.rng.random()
        if kind < 0.15:
            return torch.randn(samples, device=device)
        if kind < 0.22:
            return self.tones(samples, str(device))
        if kind < 0.35:  # pinkish
            spectrum = torch.fft.rfft(torch.randn(samples, device=device))
            sound = torch.fft.irfft(spectrum / torch.arange(1, len(spectrum) + 1, device=device).sqrt(), samples)
        else:
            whole = self.rng.choice(self.noises)
            at = self.rng.randrange(max(1, len(whole) - samples))
            sound = whole[at : at + samples].repeat(-(-samples // len(whole[at : at + samples])))[:samples]
        return sound / (sound.std() + 1e-5)

    def noises_of(self, rows: int, samples: int) -> Tensor:
        """(rows, samples) of noise as `noise` draws it, most of them at once: alone each takes a dozen operations."""
        device = self.noises[0].device
        hiss = torch.randn(rows, samples, device=device)
        spectrum = torch.fft.rfft(hiss)
        pink = torch.fft.irfft(spectrum / torch.arange(1, spectrum.shape[1] + 1, device=device).sqrt(), samples)
        whole = [self.rng.choice(self.recorded) for _ in range(rows)]
        start = torch.tensor([at + self.rng.randrange(max(1, size - samples)) for at, size in whole], device=device)
        length = torch.tensor([size for _, size in whole], device=device).clamp(max=samples)
        place = start[:, None] + torch.arange(samples, device=device) % length[:, None]
        found = self.all_noise[place]
        draw = [self.rng.random() for _ in range(rows)]
        kind = torch.tensor(draw, device=device)[:, None]
        found = torch.where(kind < 0.13, pink, torch.where(kind < 0.28, hiss, found))
        for row in (i for i, d in enumerate(draw) if d > 0.93):
            found[row] = self.tones(samples, str(device))
        return found / (found.std(1, keepdim=True) + 1e-5)

    def tones(self, samples: int, device: str) -> Tensor:
        """One to four steady or broken tones, or a tune of chords."""
        time = torch.arange(samples, device=device) / RATE
        sound = torch.zeros(samples, device=device)
        beat = self.rng.choice((0.0, 0.0, 1.0, 2.0, 4.0))
        roots = [self.rng.uniform(60, 2500) for _ in range(self.rng.randint(1, 4))]
        step = (time * beat).floor() if beat else torch.zeros_like(time)
        tune = self.rng.random() < 0.5
        for root in roots:
            hertz = root * 2 ** (((step * 7) % 12) / 12) if tune and beat else torch.full_like(time, root)
            phase = torch.cumsum(hertz / RATE, 0) * 2 * math.pi
            sound += torch.sin(phase) + (0.4 * torch.sin(2 * phase) if tune else 0)
        if beat:
            sound *= torch.exp(-4 * (time * beat % 1)) if tune else (step % 2 == 0).float()
        return sound / (sound.std() + 1e-5)

    def empty(self, samples: int) -> Tensor:
        """Sound without speech, or silence."""
        if self.rng.random() < 0.2:
            return torch.zeros(samples, device=self.noises[0].device)
        return self.noise(samples) * 10 ** self.rng.uniform(-4.2, -0.7)

    def speeded(self, sound: Tensor, factor: float) -> Tensor:
        """One row faster by a factor, pitch with it."""
        size = int(len(sound) / factor)
        return functional.interpolate(sound[None, None], size=size, mode="linear", align_corners=False)[0, 0]

    def applied(self, sound: Tensor, lengths: list[int], strength: float) -> Tensor:
        """Rows (batch, samples) as microphones, rooms and lines make them."""
        batch, samples = sound.shape
        chance = [self.rng.random() for _ in range(5 * batch)]
        out = []
        noises = self.noises_of(batch, samples) if strength else sound
        for row in range(batch):
            draw, one = chance[5 * row : 5 * row + 5], sound[row]
            if draw[0] < 0.18 * strength and self.rooms:
                one = self.in_room(one, samples)
            if draw[1] < 0.65 * strength:
                level = one[: lengths[row]].std() * 10 ** (-self.rng.uniform(4, 30) / 20)
                one = one + noises[row] * level
            if draw[2] < 0.15 * strength:
                one = self.with_losses(one, lengths[row])
            out.append(one)
        mixed = torch.stack(out)
        mixed = self.coloured(mixed, strength)
        by_phone = torch.tensor([d < 0.5 * strength for d in chance[3::5]], device=sound.device)
        mixed = torch.where(by_phone[:, None], self.on_a_line(mixed), mixed)
        gain = torch.tensor([10 ** self.rng.uniform(-1.3, 0.2) for _ in range(batch)], device=sound.device)
        return (mixed * gain[:, None]).clamp(-1, 1)

    def on_a_line(self, sound: Tensor) -> Tensor:
        """Each row on a telephone line of its own: its band, and how loud it comes to the coder."""
        rows = len(sound)
        off = torch.rand(2, rows, 1, device=sound.device) * 2 - 1
        low, high = PHONE_HZ[0] * (1 + SPREAD * off[0]), PHONE_HZ[1] * (1 + SPREAD / 3 * off[1])
        loud = 10 ** (-QUIET * torch.rand(rows, 1, device=sound.device))
        return telephone(sound * loud, (low, high)) / loud

    def in_room(self, one: Tensor, samples: int) -> Tensor:
        """Through a room's response, at the loudness that it had."""
        room = self.rng.choice(self.rooms)
        room = room[: RATE // 10 * self.rng.randint(1, 5)]
        size = samples + len(room)
        wet = torch.fft.irfft(torch.fft.rfft(one, size) * torch.fft.rfft(room, size), size)[:samples]
        return wet * (one.std() / (wet.std() + 1e-6))

    def with_losses(self, one: Tensor, length: int) -> Tensor:
        """With one to five packets of 20 to 60 ms missing, or what was before them said again, fainter."""
        one = one.clone()
        for _ in range(self.rng.randint(1, 5)):
            at, size = self.rng.randrange(max(1, length)), RATE // 50 * self.rng.randint(1, 3)
            hole = one[at : at + size]
            before = one[at - size : at][: len(hole)].clone()
            hole[:] = 0.6 * before if len(before) == len(hole) and self.rng.random() < 0.5 else 0
        return one

    def coloured(self, sound: Tensor, strength: float) -> Tensor:
        """Through a microphone: a random smooth curve of up to some 8 dB."""
        spectrum = torch.fft.rfft(sound)
        points = torch.randn(len(sound), 1, 9, device=sound.device) * 3.0 * strength
        curve = functional.interpolate(points, size=spectrum.shape[1], mode="linear", align_corners=True)[:, 0]
        return torch.fft.irfft(spectrum * 10 ** (curve / 20), sound.shape[1])


def telephone(sound: Tensor, band: tuple[Tensor | float, Tensor | float] = PHONE_HZ) -> Tensor:
    """300 to 3,400 Hz, or a band of each row's own, in mu-law's 256 steps."""
    spectrum = torch.fft.rfft(sound)
    hertz = torch.fft.rfftfreq(sound.shape[1], 1 / RATE, device=sound.device)
    inside = (hertz > band[0]) & (hertz < band[1])
    narrow = torch.fft.irfft(torch.where(inside, spectrum, spectrum * 0.003), sound.shape[1]).clamp(-1, 1)
    coded = torch.round(narrow.sign() * torch.log1p(MU * narrow.abs()) / math.log1p(MU) * 127) / 127
    heard = coded.sign() * torch.expm1(coded.abs() * math.log1p(MU)) / MU
    spectrum = torch.fft.rfft(heard)
    return torch.fft.irfft(torch.where(hertz < 4_000, spectrum, 0.0), sound.shape[1])
