"""Distortion of sound in batches, on whichever device holds them: from the caller's mouth to the recogniser's ear.

A batch is (batch, samples) float32 at 16 kHz, zero where nothing is. In the order of nature: the speaker's pitch and
pace, a pause inside and silence around, another larynx, the room, background noise, the microphone's level and
clipping, the line (300 to 3,400 Hz, G.711 at 8 kHz) and lost packets. Opus comes when
speech is made (`recogniser speak`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812

from recogniser.distort.drawn import Drawn
from recogniser.distort.larynx import Larynx
from recogniser.distort.transfer import sent, stepped

RATE = 16_000
STEP = 3_840
"""Batches are a smooth multiple of this long: whole encoder positions, quick to transform, in few sizes."""
_ECHO = 9_600
"""Samples behind the sound where a room's end may wrap around."""
_QUIET = 160
_PACKET = 320


@dataclass
class WaveStrength:
    """How often and how far; the defaults are for synthetic voices."""

    pitch: float = 0.12
    pause: float = 0.12
    room: float = 0.35
    noise: float = 0.75
    clip: float = 0.1
    line: float = 0.4
    loss: float = 0.1
    larynx: float = 0.2


@dataclass
class Placed:
    """Where each utterance lies in its row: samples before it, samples of the original a sample, samples of the row."""

    lead: np.ndarray
    speed: np.ndarray
    used: np.ndarray


class Wave(Drawn):
    """Random distortion; what decides sizes and rows is drawn on the host, so that the device never waits."""

    def __init__(self, noise: Tensor, rooms: Tensor, seed: int, device: str = "cpu") -> None:
        super().__init__(torch.Generator(device=device).manual_seed(seed), device)
        self.noise = noise.to(device)  # (samples,) float16 or float32, peaks at 1
        self.rooms = rooms.to(device)
        self.draw = np.random.default_rng(seed)
        self.larynx = Larynx(self.rng, device)
        self.strength = WaveStrength()

    def spread(self, batch: int) -> np.ndarray:
        """Uniform numbers, one in each of `batch` equal strips: shares of a batch then hardly vary, nor do plans."""
        return (self.draw.permutation(batch) + self.draw.random()) / batch

    def rows(self, share: float, batch: int) -> Tensor:
        """Indices of a random share of the rows."""
        return self.where(self.spread(batch) < share)

    def where(self, rows: np.ndarray) -> Tensor:
        """Indices of the rows that are true."""
        return sent(np.flatnonzero(rows), self.device)

    def __call__(self, sound: Tensor, lengths: np.ndarray, silent: np.ndarray) -> tuple[Tensor, Placed]:
        """(batch, samples), lengths and silent flags on the host -> distorted batch, and where the speech lies."""
        quiet = sent(silent, self.device)[:, None]
        x, placed = self.place(sound, lengths)
        x = x * ~quiet
        s, batch = self.strength, len(x)
        self.change(x, self.rows(s.larynx, batch), self.larynx)
        self.change(x, self.rows(s.room, batch), self.room)
        x = self.background(x, quiet, silent)
        self.change(x, self.rows(s.clip, batch), self.clip)
        self.change(x, self.rows(s.line, batch), self.line)
        self.change(x, self.rows(s.loss, batch), self.loss)
        return x, placed

    @staticmethod
    def change(x: Tensor, rows: Tensor, how) -> None:  # noqa: ANN001
        """Distort some rows in place."""
        if len(rows):
            x[rows] = how(x[rows])

    def place(self, sound: Tensor, lengths: np.ndarray) -> tuple[Tensor, Placed]:
        """Resample by a random factor (pitch, formants and pace together), a pause at a quiet spot, silence around."""
        batch, s = len(sound), self.strength
        speed = np.exp(self.draw.uniform(-s.pitch, s.pitch, batch))
        lead = self.draw.uniform(0, 1, batch) ** 2 * 0.6 * RATE
        tail = self.draw.uniform(0, 1, batch) ** 2 * 0.5 * RATE
        pause = np.where(self.draw.random(batch) < s.pause, self.draw.uniform(0.1, 0.8, batch) * RATE, 0.0)
        used = lengths / speed + lead + tail + pause
        size = stepped(int(used.max()), STEP)
        to = lambda a: sent(a.astype(np.float32), self.device)[:, None]  # noqa: E731
        gap, cut = to(pause), self.quietest(sound, to(self.draw.uniform(0.15, 0.85, batch)), to(lengths)) / to(speed)
        t = torch.arange(size, device=self.device, dtype=torch.float32)[None] - to(lead)
        inside = (t > cut) & (t < cut + gap)
        source = (t - torch.where(t >= cut + gap, gap, 0.0)) * to(speed)
        return interpolated(sound, source) * ~inside, Placed(lead, speed, used)

    def quietest(self, sound: Tensor, share: Tensor, lengths: Tensor) -> Tensor:
        """(batch, 1) sample of the quietest 10 ms near a share of each utterance."""
        level = F.avg_pool1d(sound.abs()[:, None], 3 * _QUIET, _QUIET, _QUIET)[:, 0]
        at = torch.arange(level.shape[1], device=self.device)[None] * _QUIET
        far = ((at - share * lengths).abs() / RATE).clamp(max=3.0)
        return (level + 0.05 * far + (at > lengths) * 9.0).argmin(1, keepdim=True).float() * _QUIET

    def room(self, x: Tensor) -> Tensor:
        """Convolution with a room of the bank, more or less of it."""
        response = self.rooms[sent(self.draw.integers(0, len(self.rooms), len(x)), self.device)]
        wet = self.uniform(0.3, 1.0, len(x), 1)
        response = torch.cat([response[:, :40], response[:, 40:] * wet], 1)
        size = stepped(x.shape[1] + _ECHO, STEP)
        spectrum = torch.fft.rfft(x, size) * torch.fft.rfft(response, size)
        return torch.fft.irfft(spectrum, size)[:, : x.shape[1]]

    def background(self, x: Tensor, quiet: Tensor, silent: np.ndarray) -> Tensor:
        """Recorded, made or tonal noise, or the next utterance as babble, 40 to -2 dB below the speech."""
        batch, size = x.shape
        kind = self.spread(batch)
        babble = (kind > 0.88) & ~silent & ~np.roll(silent, 1)
        noise = self.recorded(batch, size)
        for rows, make in ((kind < 0.4, self.coloured), (kind < 0.06, self.tones)):
            if rows.any():
                noise[self.where(rows)] = make(int(rows.sum()), size)
        mixed = sent(babble, self.device)[:, None]
        noise = torch.where(mixed, x.roll(1, 0), noise)
        below = self.uniform(-2, 38, batch, 1) + mixed * 10
        level = power(x) * 10 ** (-below / 20)
        alone = 10 ** self.uniform(-4, -0.7, batch, 1)
        used = self.uniform(0, 1, batch, 1) < self.strength.noise
        gain = torch.where(quiet, alone, torch.where(used, level, 0.0)) / power(noise)
        floor = torch.randn(x.shape, generator=self.rng, device=self.device) * 10 ** self.uniform(-5, -3, batch, 1)
        return x + noise * gain + floor

    def recorded(self, batch: int, size: int) -> Tensor:
        """Stretches of the recordings, each at a random place."""
        start = sent(self.draw.integers(0, len(self.noise), batch), self.device)
        at = (start[:, None] + torch.arange(size, device=self.device)) % len(self.noise)
        return self.noise[at].float()

    def coloured(self, batch: int, size: int) -> Tensor:
        """Stationary noise with a random slope, its level wandering now and then."""
        white = torch.fft.rfft(torch.randn(batch, size, generator=self.rng, device=self.device))
        hertz = torch.linspace(20, RATE / 2, white.shape[1], device=self.device)[None]
        shaped = torch.fft.irfft(white * (hertz / 1000) ** -self.uniform(-0.2, 1.6, batch, 1), size)
        time = torch.arange(size, device=self.device)[None] / RATE
        wander = torch.sin(6.28 * (self.uniform(0.1, 4, batch, 1) * time + self.uniform(0, 1, batch, 1)))
        return shaped * (1 + self.uniform(0, 1, batch, 1) ** 2 * wander)

    def tones(self, batch: int, size: int) -> Tensor:
        """Two tones with overtones, steady or in beats: signals, keypads, hum, a held chord."""
        time = torch.arange(size, device=self.device)[None] / RATE
        out = torch.zeros(batch, size, device=self.device)
        for _ in range(2):
            phase = 6.283 * time * 2 ** self.uniform(5.6, 11.2, batch, 1)
            out += torch.sin(phase) + self.uniform(0, 0.6, batch, 1) * torch.sin(2 * phase)
        beat = torch.sin(6.283 * self.uniform(0.3, 4, batch, 1) * time) > self.uniform(-1.5, 0.9, batch, 1)
        return out * beat

    def clip(self, x: Tensor) -> Tensor:
        """Overdriven by 0 to 14 dB."""
        top = x.abs().amax(1, keepdim=True).clamp(min=1e-5)
        return x.clamp(-top * (limit := 10 ** -self.uniform(0, 0.7, len(x), 1)), top * limit)

    def line(self, x: Tensor) -> Tensor:
        """A telephone: band edges soft or sharp, 8 kHz, noise, mu-law or A-law at a random level, and back."""
        size = x.shape[1]
        spectrum = torch.fft.rfft(x)
        hertz = torch.linspace(0, RATE / 2, spectrum.shape[1], device=self.device)[None]
        low, high = self.uniform(80, 400, len(x), 1), self.uniform(3000, 3900, len(x), 1)
        soft = 10 ** self.uniform(0.3, 1.8, len(x), 1)  # hertz
        band = torch.sigmoid((hertz - low) / soft) * torch.sigmoid((high - hertz) / soft)
        leak = 10 ** self.uniform(-5, -1.5, len(x), 1)  # no filter is deaf outside its band
        heard = spectrum + torch.fft.rfft(self.hiss(x))
        narrow = torch.fft.irfft((heard * (band + leak))[:, : size // 4 + 1], size // 2)
        level = 10 ** self.uniform(-1.6, 0, len(x), 1) / narrow.abs().amax(1, keepdim=True).clamp(min=1e-5)
        law = self.uniform(0, 1, len(x), 1) < 0.5
        narrow = narrow * level
        coded = torch.where(law, mu_law(narrow), a_law(narrow)) / level
        return torch.fft.irfft(F.pad(torch.fft.rfft(coded), (0, size // 4)), size)

    def hiss(self, x: Tensor) -> Tensor:
        """A line's own noise, 5 to 25 dB below the speech, on half of the lines."""
        noise = self.coloured(*x.shape)
        below = 10 ** -self.uniform(0.25, 1.25, len(x), 1)
        noisy = self.uniform(0, 1, len(x), 1) < 0.5
        return torch.where(noisy, noise * below * power(x) / power(noise), 0.0)

    def loss(self, x: Tensor) -> Tensor:
        """Packets of 20 ms lost, singly or two in a row: silence, or the one before repeated more quietly."""
        packets = x.unflatten(1, (-1, _PACKET))
        lost = self.uniform(0, 1, *packets.shape[:2]) < self.uniform(0.005, 0.06, len(x), 1)
        lost = lost | (lost.roll(1, 1) & (self.uniform(0, 1, *lost.shape) < 0.4))
        hidden = packets.roll(1, 1) * 0.7 * (self.uniform(0, 1, len(x), 1, 1) < 0.5)
        return torch.where(lost[..., None], hidden, packets).flatten(1)


def power(x: Tensor) -> Tensor:
    """(batch, 1) root mean square over what is not digital silence."""
    sounding = (x.abs() > 1e-5).sum(1, keepdim=True).clamp(min=1600)
    return ((x**2).sum(1, keepdim=True) / sounding).sqrt().clamp(min=1e-6)


def interpolated(x: Tensor, at: Tensor) -> Tensor:
    """Rows of x at fractional samples (batch, n), by cubic interpolation; zero outside."""
    base = at.floor()
    f, first = at - base, base.long() - 1
    take = lambda k: x.gather(1, (first + k).clamp(0, x.shape[1] - 1))  # noqa: E731
    a, b, c, d = take(0), take(1), take(2), take(3)
    value = b + 0.5 * f * (c - a + f * (2 * a - 5 * b + 4 * c - d + f * (3 * (b - c) + d - a)))
    return torch.where((at >= 0) & (at < x.shape[1] - 1), value, 0.0)


def mu_law(x: Tensor) -> Tensor:
    """Coded and decoded in 8 bits, mu = 255."""
    x = x.clamp(-1, 1)
    code = (torch.sign(x) * torch.log1p(255 * x.abs()) / 5.5452 * 127).round() / 127
    return torch.sign(code) * torch.expm1(code.abs() * 5.5452) / 255


def a_law(x: Tensor) -> Tensor:
    """Coded and decoded in 8 bits, A = 87.6."""
    size, scale = x.clamp(-1, 1).abs(), 5.4729
    code = torch.where(size < 1 / 87.6, 87.6 * size, 1 + torch.log((87.6 * size).clamp(min=1))) / scale
    code = (code * 127).round() / 127 * scale
    return torch.sign(x) * torch.where(code < 1, code, torch.exp(code - 1)) / 87.6
