"""What a live call needs from outside, in one place."""

from dataclasses import dataclass

from services.audio.vad import SileroVad
from services.ports import Clock, Recognizer, Synthesizer, TurnHandler


@dataclass(frozen=True, slots=True)
class CallPorts:
    """What a call needs from outside."""

    handler: TurnHandler
    recognizer: Recognizer
    vad: SileroVad
    clock: Clock
    synthesizer: Synthesizer | None = None
