"""Thresholds and phrases that keep a recogniser from hearing words where there are none, per language."""

from pydantic import BaseModel, ConfigDict

from rules.load import RuleFile, load


class NameOdds(BaseModel):
    """When a name that may be meant is the one that was said, by its sound alone."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    odds: float
    """Natural-log odds against the words heard, from which on it is,"""
    lead: float
    """where no other one comes as near as this to it."""


class AsrRules(RuleFile):
    """Log-probabilities are natural and per token."""

    inaudible_peak: float
    """Below this sample peak nothing is decoded."""
    tone_share: float
    """Sound with more of its energy than this in nine narrow bands is a tone."""
    no_speech_prob: float
    no_speech_logprob: float
    """Above the first and below the second together, it was silence."""
    certain_no_speech_prob: float
    """Above this it was silence whatever the words' probability."""
    floor_logprob: float
    """Words less probable than this are noise."""
    floor_joint_logprob: float
    """The same, where a CTC head judges beside the decoder."""
    floor_partial_logprob: float
    """The same for partials, which have less sound behind them: higher, so that noise shows no words."""
    least_surest: float
    """Sound in which a CTC head is less sure than this of every label is no speech."""
    least_over_silence: float
    """Words whose natural-log odds against silence are lower than this by a CTC head are made up."""
    least_partial_over_silence: float
    """The same for partials: lower, since a caller's first word is only half said then."""
    most_unwritten: float
    """Where a CTC head hears more labels than this beyond each one written, the words miss what was said."""
    respelt: tuple[tuple[str, str], ...] = ()
    """Patterns of what is written for other words of the same sound, and how these are written."""
    names: NameOdds | None = None
    """Where names are told by their sound."""
    loop_repeats: tuple[int, ...]
    """How often in a row one word, two words, … may come; the last number holds for all longer runs."""
    phantom_logprob: float
    """A phantom phrase stands only when more probable than this."""
    phantom_phrases: tuple[str, ...]


def asr_rules(lang: str) -> AsrRules:
    """The rules of a language. Raises RulesInvalid."""
    return load(f"asr/{lang}.yaml", AsrRules)
