"""Who spoke when in a call of two channels: talk-over, barge-ins, cut-offs and dead air, on one clock."""

from dataclasses import dataclass, field
from typing import Final

from schemas.audio import SAMPLE_RATE
from services.audio.frames import VAD_FRAME

_ON, _OFF = 0.25, 0.1
"""Lower than what begins a turn: of telephone speech every other loud frame has less than 0.5, no silence had 0.2."""
_FRAME_S: Final = VAD_FRAME / SAMPLE_RATE
_GAP_S: Final = 0.4
"""A pause shorter than this is within one stretch of speech."""
_LEAST_S: Final = 0.16
"""Shorter sounds are no speech."""
DEAD_AIR_S: Final = 3.0
"""Nobody speaks for at least so long."""

Stretch = tuple[float, float]


@dataclass(slots=True)
class Spoken:
    """Stretches of speech in one channel, from the probabilities of its frames."""

    stretches: list[Stretch] = field(default_factory=list)
    _at: float = 0.0
    _since: float | None = None

    def feed(self, probability: float) -> None:
        """The next frame."""
        if self._since is None and probability >= _ON:
            self._since = self._at
        elif self._since is not None and probability < _OFF:
            self._add(self._since, self._at)
            self._since = None
        self._at += _FRAME_S

    def all(self) -> list[Stretch]:
        """Every stretch, the one that goes on to the end among them."""
        if self._since is not None:
            self._add(self._since, self._at)
            self._since = None
        return [(start, end) for start, end in self.stretches if end - start >= _LEAST_S]

    def _add(self, start: float, end: float) -> None:
        if self.stretches and start - self.stretches[-1][1] < _GAP_S:
            start = self.stretches.pop()[0]
        self.stretches.append((start, end))

    @property
    def seconds(self) -> float:
        """How long the recording is."""
        return self._at


@dataclass(frozen=True, slots=True)
class Talk:
    """Seconds and counts of a call.

    A barge-in is the caller beginning while the assistant speaks; a cut-off the assistant beginning while the caller
    does. Both speak during `talk_over_s`; `dead_air_s` is the length of all silences of three seconds or more.
    """

    caller_s: float
    assistant_s: float
    talk_over_s: float
    dead_air_s: float
    barge_ins: int
    cut_offs: int


def talk_of(caller: Spoken, assistant: Spoken) -> Talk:
    """What the stretches of both sides say of each other."""
    said, answered = caller.all(), assistant.all()
    over = [(max(a, c), min(b, d)) for a, b in said for c, d in answered if max(a, c) < min(b, d)]
    return Talk(
        caller_s=_length(said),
        assistant_s=_length(answered),
        talk_over_s=_length(over),
        dead_air_s=_dead_air([*said, *answered], caller.seconds),
        barge_ins=sum(any(c < a < d for c, d in answered) for a, _ in said),
        cut_offs=sum(any(a < c < b for a, b in said) for c, _ in answered),
    )


def _length(stretches: list[Stretch]) -> float:
    return round(sum(end - start for start, end in stretches), 3)


def _dead_air(stretches: list[Stretch], until: float) -> float:
    silent, at = 0.0, 0.0
    for start, end in [*sorted(stretches), (until, until)]:
        if start - at >= DEAD_AIR_S:
            silent += start - at
        at = max(at, end)
    return round(silent, 3)
