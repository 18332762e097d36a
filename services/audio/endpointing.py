"""The rules of turn-taking."""

import math
import re
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from rules.load import RuleFile, load
from schemas.ids import Locale, RuleId, language
from schemas.transcript import Onward
from schemas.turn import Completeness


class Timing(RuleFile):
    """rules/endpointing/timing.yaml: milliseconds of audio, but for what carries another unit in its name."""

    voice_on: float = Field(gt=0, lt=1)
    voice_off: float = Field(gt=0, lt=1)
    onset_ms: int = Field(ge=32, le=500)
    preroll_ms: int = Field(ge=0, le=1000)
    pad_ms: int = Field(ge=0, le=1000)
    pause_after_ms: int = Field(ge=0, le=500)
    pause_before_ms: int = Field(ge=0, le=500)
    eager_after_ms: int = Field(ge=20, le=1000)
    partial_first_ms: int = Field(ge=100, le=2000)
    partial_every_ms: int = Field(ge=100, le=2000)
    partial_share: float = Field(ge=0, le=1)
    voiced_floor_db: float = Field(lt=0, ge=-80)
    noise_margin_db: float = Field(ge=0, le=40)
    min_voiced_ms: int = Field(ge=32, le=1000)
    no_speech_ms: int = Field(ge=100, le=5000)
    no_speech_prob: float = Field(gt=0, le=1)
    doubt_logprob: float = Field(lt=0, ge=-10)
    rival_logprob: float = Field(ge=0, le=10)
    max_turn_ms: int = Field(ge=1000, le=29_000)
    stall_ms: int = Field(ge=100, le=5000)
    unheard_voice_ms: int = Field(ge=50, le=2000)
    stir_probability: float = Field(gt=0, lt=1)
    stir_ms: int = Field(ge=0, le=500)
    merge_ms: int = Field(ge=0, le=5000)
    barge_in_voiced_ms: int = Field(ge=100, le=5000)
    lost_voice_ms: int = Field(ge=200, le=5000)
    idle_ms: int = Field(ge=1000)
    retell_ms: int = Field(ge=300)
    silence_prompt_ms: int = Field(ge=1000)
    keypad_pause_ms: int = Field(ge=500)
    keypad_digits: int = Field(ge=1, le=64)
    speaking_lead_ms: int = Field(ge=0, le=5000)

    def partial_after_ms(self, turn_ms: int, *, words: bool) -> int:
        """From one partial to the next, `turn_ms` into a turn that has `words` already or none."""
        if not words:
            return self.partial_first_ms
        return max(self.partial_every_ms, round(self.partial_share * turn_ms))


_BREATH_MS: Final = 64
"""Of voice beside the words: a vowel held, a breath."""


class OnwardWeights(BaseModel):
    """How what may follow the last word stretches the wait after words of no rule, from `least_ms` to all of it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    least_ms: int = Field(ge=50, le=5000)
    bias: float
    comma: float = Field(ge=0)
    word: float = Field(ge=0)

    def wait_ms(self, most_ms: int, onward: Onward) -> int:
        """The silence, in ms, that ends a turn after words behind which this may follow."""
        odds = self.bias + self.comma * onward.comma + self.word * onward.word
        return min(most_ms, round(self.least_ms + (most_ms - self.least_ms) / (1 + math.exp(-odds))))


class Endpointing(RuleFile):
    """rules/endpointing/<language>.yaml: how long to wait after which words. Words are compared in lower case."""

    silence_ms: dict[Completeness, Annotated[int, Field(ge=50, le=5000)]]
    characters_per_second: float = Field(gt=0, le=50)
    voice_ms: int = Field(gt=0, le=500)
    hesitations: tuple[str, ...]
    trailing: tuple[str, ...]
    unfinished: tuple[str, ...]
    open: tuple[str, ...]
    yes_no: frozenset[str]
    backchannels: frozenset[str]
    closings: tuple[str, ...]
    courtesy: tuple[str, ...]
    courtesies: frozenset[str]
    digits: frozenset[str]
    onward: OnwardWeights | None = None
    binding_ms: dict[str, Annotated[int, Field(ge=500, le=5000)]] = Field(default_factory=dict)
    """Whole answers that bind after another silence than the rest."""

    @model_validator(mode="after")
    def _every_threshold(self) -> "Endpointing":
        if set(self.silence_ms) != set(Completeness):
            raise ValueError("silence_ms needs a threshold for every kind of completeness")
        return self

    @field_validator("unfinished", "courtesy")
    @classmethod
    def _patterns(cls, patterns: tuple[str, ...]) -> tuple[str, ...]:
        try:
            for pattern in patterns:
                re.compile(pattern)
        except re.error as wrong:
            raise ValueError(f"not a pattern: {wrong}") from wrong
        return patterns

    def threshold(self, completeness: Completeness) -> tuple[int, RuleId]:
        """How long to wait, in ms, and the rule's identity: `endpointing.en.complete@4`."""
        return self.silence_ms[completeness], RuleId(f"{self.id}.{completeness.value}@{self.version}")

    def filled_ms(self, text: str) -> int:
        """So much voice the words fill at an unhurried pace; an ideograph stands for two sounds."""
        letters = [char for char in text if char.isalpha()]
        ideographs = sum("\u4e00" <= char <= "\u9fff" for char in letters)
        return (len(letters) + ideographs) * self.voice_ms + _BREATH_MS

    def speaking_ms(self, text: str) -> float:
        """About how long a voice takes to say `text`."""
        return len(text) / self.characters_per_second * 1000


def timing() -> Timing:
    """The timing that all languages share."""
    return load("endpointing/timing.yaml", Timing)


def endpointing(locale: Locale) -> Endpointing:
    """The rules of a locale's language."""
    return load(f"endpointing/{language(locale)}.yaml", Endpointing)
