"""What can be set of a training; values are profiles of ../../config.toml."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class FineTuning:
    """Of Whisper base."""

    folder: Path
    """Where the payload's parts arrive, and checkpoints are written (out/NAME)."""
    minutes: float
    lr: float
    hold: float
    """Share of the way back to where it began, each step: so few people are learnt by heart otherwise."""
    coarse: float
    """Share of the time after which weights are coarse."""
    plain: float
    """Share of known transcripts asked for in plain words."""
    device: str = "cuda"
    frames: int = 36_000
    """10 ms frames of a batch."""
    score: float = 75
    """Seconds between two scores."""
    keep: float = 120
    """Seconds between two checkpoints."""
    steps: int = 10**9
    most: int = 10**9
    """Utterances of a part, for a rehearsal."""
    name: str = "a"
    """Of this training, where several run side by side."""
    seed: int = 0
    ears: float = 0.35
    """Weight of what the CTC heads miss, in nats a label."""
    ear_lr: float = 1.5e-3
    fold: int = -1
    """Which fifth of Common Voice this training leaves out, for its scores: what is mixed has heard all."""
    only: str = ""
    """The one language to learn from, for a head that is trained apart; both if empty."""
