"""The rules of turn-taking, and what a caller's words alone say of whether the turn is over."""

import re
from functools import lru_cache
from typing import Annotated, Final

from pydantic import Field, field_validator, model_validator

from rules.load import RuleFile, load
from schemas.ids import Locale, RuleId, language
from schemas.transcript import Transcript
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
    merge_ms: int = Field(ge=0, le=5000)
    barge_in_voiced_ms: int = Field(ge=100, le=5000)
    idle_ms: int = Field(ge=1000)
    silence_prompt_ms: int = Field(ge=1000)
    keypad_pause_ms: int = Field(ge=500)
    keypad_digits: int = Field(ge=1, le=64)
    speaking_lead_ms: int = Field(ge=0, le=5000)

    def partial_after_ms(self, turn_ms: int, *, words: bool) -> int:
        """From one partial to the next, `turn_ms` into a turn that has `words` already or none."""
        if not words:
            return self.partial_first_ms
        return max(self.partial_every_ms, round(self.partial_share * turn_ms))


class Endpointing(RuleFile):
    """rules/endpointing/<language>.yaml: how long to wait after which words. Words are compared in lower case."""

    silence_ms: dict[Completeness, Annotated[int, Field(ge=50, le=5000)]]
    characters_per_second: float = Field(gt=0, le=50)
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

    def speaking_ms(self, text: str) -> float:
        """About how long a voice takes to say `text`."""
        return len(text) / self.characters_per_second * 1000


_PUNCTUATION: Final = re.compile(r"[.,!?;:…。、！？]+")
_LONG_NUMBER: Final = re.compile(r"(?:^|\D)(?:\d[ -]?){3,}$")
_COMMAND_LETTERS: Final = 4
"""Fewer are no command, however they end."""
_UNSPACED: Final = frozenset({"ja"})


_SOON: Final = frozenset({Completeness.COMPLETE, Completeness.YES_NO})
_GOES_ON: Final = frozenset({Completeness.TRAILING, Completeness.HESITATION})


def timing() -> Timing:
    """The timing that all languages share."""
    return load("endpointing/timing.yaml", Timing)


def endpointing(locale: Locale) -> Endpointing:
    """The rules of a locale's language."""
    return load(f"endpointing/{language(locale)}.yaml", Endpointing)


def _plain(text: str) -> str:
    return " ".join(_PUNCTUATION.sub(" ", text).lower().split())


@lru_cache(maxsize=64)
def _endings(words: tuple[str, ...], unspaced: bool) -> re.Pattern[str]:
    """Any of `words` at the end; between spaces where the language has them."""
    longest_first = "|".join(re.escape(w) for w in sorted(words, key=len, reverse=True))
    return re.compile(rf"(?:{longest_first})$" if unspaced else rf"(?:^|\s)(?:{longest_first})$")


def _digits_in_progress(text: str, rules: Endpointing, unspaced: bool) -> bool:
    """Digits one by one at the end, two words of them or three characters: a number that may go on."""
    if _LONG_NUMBER.search(text):
        return True
    if unspaced:
        one = "|".join(re.escape(word) for word in sorted(rules.digits, key=len, reverse=True))
        return re.search(rf"(?:{one}){{3,}}$", text) is not None
    last_two = text.split()[-2:]
    return len(last_two) > 1 and all(word in rules.digits for word in last_two)


def judge_words(text: str, locale: Locale) -> Completeness:
    """What the words alone say: a bare yes, a hesitation, a dangling word, digits in progress, a closing, or nothing.

    The grammar knows more (a whole command, a missing slot); its judgement comes through the turn handler.
    """
    rules, unspaced = endpointing(locale), language(locale) in _UNSPACED
    plain = _plain(text)
    if unspaced:
        plain = plain.replace(" ", "")
    if not plain:
        return Completeness.HESITATION
    signs = (
        (Completeness.YES_NO, plain in rules.yes_no),
        (Completeness.HESITATION, _endings(rules.hesitations, unspaced).search(plain)),
        (Completeness.DIGITS, _digits_in_progress(plain, rules, unspaced)),
        (Completeness.TRAILING, _endings(rules.trailing, unspaced).search(plain)),
        (Completeness.TRAILING, any(re.search(pattern, plain) for pattern in rules.unfinished)),
        (Completeness.OPEN, _endings(rules.open, unspaced).search(plain)),
        (Completeness.COMPLETE, len(plain) > _COMMAND_LETTERS and _endings(rules.closings, unspaced).search(plain)),
    )
    return next((kind for kind, seen in signs if seen), Completeness.UNKNOWN)


def doubted(completeness: Completeness, transcript: Transcript, partial: str) -> Completeness:
    """`completeness`, or DOUBTFUL where words that would end a turn soon may be misheard.

    They are where the recogniser is unsure and the last `partial` was not on the way to them, and where an alternative
    that is about as likely is unfinished: "hundred dollars two", or "to".
    """
    if completeness not in _SOON:
        return completeness
    rules, best = timing(), transcript.avg_logprob
    unsure = best < rules.doubt_logprob and not _agree(_plain(partial), _plain(transcript.text))
    rivals = (h.text for h in transcript.hypotheses[1:] if h.avg_logprob >= best - rules.rival_logprob)
    if unsure or any(judge_words(text, transcript.locale) in _GOES_ON for text in rivals):
        return Completeness.DOUBTFUL
    return completeness


def _agree(partial: str, text: str) -> bool:
    """Whether a partial was on the way to `text`; its last word may still have been cut."""
    settled = partial.rpartition(" ")[0] if " " in partial else partial[:-1]
    return bool(settled) and text.startswith(settled)


def gone_on_politely(completeness: Completeness, transcript: Transcript) -> Completeness:
    """`completeness`, or COURTESY where a whole command ends in a sound that hides how soon "please" follows."""
    if completeness is not Completeness.COMPLETE:
        return completeness
    plain, patterns = _plain(transcript.text), endpointing(transcript.locale).courtesy
    return Completeness.COURTESY if any(re.search(pattern, plain) for pattern in patterns) else completeness


def is_courtesy(text: str, locale: Locale) -> bool:
    """Whether `text` only is polite ("please", 「お願いします」)."""
    plain, courtesies = _plain(text), endpointing(locale).courtesies
    return plain in courtesies or plain.replace(" ", "") in courtesies


def is_backchannel(text: str, locale: Locale) -> bool:
    """Whether `text` only shows that the caller listens ("uh-huh", 「はい」), which stops no reply."""
    plain, backchannels = _plain(text), endpointing(locale).backchannels
    if plain in backchannels or plain.replace(" ", "") in backchannels:
        return True
    return bool(plain) and all(word in backchannels for word in plain.split())
