"""What payee search was fitted to: the weights of evidence, and the thresholds of the decision."""

from functools import lru_cache
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict

from rules.load import RuleFile, load

CANDIDATE: Final = (
    *("first", "best", "mean", "near", "worst_word", "exact_first", "exact_share", "sound_first"),
    *("part", "part_exact", "part_of_more", "words_exact", "rival_words", "rival_name", "unsure_reading"),
    *("edits", "length", "other_order", "nickname", "features_best", "features_mean", "recent"),
)
Script = Literal["latin", "japanese"]
"""In which letters a name is compared."""
NOBODY: Final = ("bias", "one_word", "length", "disagreement", "book")


class Trust(BaseModel):
    """When the likeliest payee is trusted to be the one who is meant."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    weights: dict[str, float]
    accept: float
    """Natural-log odds of being right from which on nobody is asked."""


class Calibration(RuleFile):
    """Fitted weights and the thresholds of the decision, probabilities but for trust."""

    fitted_on: str
    trust_fitted_on: str
    spelled: float
    candidate: dict[str, float]
    nobody: dict[str, float]
    trust: dict[Script, Trust]
    accept_part: float
    lead: float
    near: float
    """What a whole name as near as can be is worth against one that is not at all, of those who share a part."""
    favour: float
    ask: float
    ask_ratio: float
    somebody: float


@lru_cache(maxsize=1)
def calibration() -> Calibration:
    """The calibration in force."""
    return load("payees/calibration.json", Calibration)
