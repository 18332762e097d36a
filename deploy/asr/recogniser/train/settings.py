"""What can be set of a training; values are profiles of ../../config.toml."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class ScratchSettings:
    """Of one training from nothing, or from an earlier run."""

    data: Path
    """Folder with en/, ja/, human/ … of shards."""
    noise: Path
    """Folder of background recordings."""
    run: Path
    """Where checkpoints and the vocabulary are."""
    rooms: Path
    """Impulse responses: what `recogniser rooms` wrote."""
    lang: str = "en,ja"
    minutes: float | None = None
    """Of training, over all starts; or `until`, in Unix time."""
    until: float | None = None
    device: str = "cpu"
    seed: int = 1
    threads: int = 1
    """OpenMP threads; one is best on shared cores."""
    lr: float = 1e-3
    warmup: float = 0.05
    """Share of the time."""
    easy: float = 0.1
    """Share of the time on utterances of up to 1.7 s, and again on those of up to 2.6 s."""
    flat: float = 0.2
    """Share of the time with the flat-start loss, fading."""
    frames: int = 6_000
    """10 ms frames a batch: small on a CPU, where steps are dear, 20,000 and more on a GPU."""
    most: int = 48
    """Utterances a batch."""
    width: int = 256
    encoder: int = 6
    decoder: int = 2
    stack: int = 2
    pieces: int = 220
    """Word pieces; single characters of Japanese come on top."""
    dropout: float = 0.0
    distort: float = 1.0
    """How far distortion goes; less where time is short."""
    without: frozenset[str] = frozenset()
    """Distortions to leave out."""
    agree: float = 0.0
    """Weight of what two views of an utterance, of other formants, disagree."""
    human: float = 4.0
    """Weight of human utterances."""
    spliced: float = 1.5
    """Weight of what is spliced of them."""
    japanese: float = 1.6
    """Weight of Japanese synthetic utterances."""
    favour: dict[str, float] = field(default_factory=dict)
    """Weights of voices, by their names' beginning."""
    start_from: Path | None = None
    """Weights of an earlier run with the same vocabulary."""
    peers: int = 1
    """Trainers of this run, each on a device of its own."""
    rank: int = 0
    """Which of them this is; the first writes checkpoints."""
    graphs: bool = False
    """Replay the encoder as CUDA graphs."""
    stop_after: int = 0
    """Steps, for trials."""
    save_every: float = 180
    """Seconds."""
    say_every: int = 25
    """Steps between lines of figures."""

    def __post_init__(self) -> None:
        """One end."""
        if (self.minutes is None) == (self.until is None):
            raise SystemExit("say when to end: minutes=… or until=…")

    @property
    def views(self) -> int:
        """Of each utterance, that are to agree."""
        return 2 if self.agree else 1

    @property
    def shape(self) -> tuple[int, int, int, int, int, int]:
        """Width, heads, layers of encoder and decoder, inner width, frames side by side."""
        return self.width, max(1, self.width // 64), self.encoder, self.decoder, 4 * self.width, self.stack

    @property
    def weights(self) -> dict[str, float]:
        """How often voices are drawn."""
        people = {"human": self.human, "human:commonvoice": 2 * self.human, "spliced": self.spliced}
        return people | {"jtalk": self.japanese, "espeak:ja": 1.0} | self.favour


@dataclass(frozen=True)
class FineTuning:
    """Of Whisper base."""

    folder: Path
    """Where the payload's parts arrive, and checkpoints are written (out/NAME)."""
    minutes: float = 20
    device: str = "cuda"
    frames: int = 36_000
    """10 ms frames of a batch."""
    lr: float = 8e-5
    plain: float = 0.75
    """Share of known transcripts asked for in plain words."""
    coarse: float = 0.5
    """Share of the time after which weights are coarse."""
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
    hold: float = 2e-4
    """Share of the way back to where it began, each step: so few people are learnt by heart otherwise."""
    fold: int = -1
    """Which fifth of Common Voice this training leaves out, for its scores: what is mixed has heard all."""
    only: str = ""
    """The one language to learn from, for a head that is trained apart; both if empty."""
