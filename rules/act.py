"""The money policy: how long a confirmation lives, when a second factor is asked for, how a transfer is settled."""

from datetime import timedelta
from enum import StrEnum
from typing import Annotated, Final
from zoneinfo import ZoneInfo

from pydantic import Field

from rules.load import RuleFile, load
from schemas.banking import PayeeVerification

CLOCKS_APART: Final = timedelta(seconds=5)
"""Gateways' clocks differ by less."""
Seconds = Annotated[float, Field(gt=0, le=7 * 24 * 3600)]


class OnVerification(StrEnum):
    """What a verdict on the payee's name leads to."""

    PROCEED = "proceed"
    STEP_UP = "step_up"
    REFUSE = "refuse"


class MoneyPolicy(RuleFile):
    """Figures of the one door. Durations in seconds."""

    proposal_life_s: Seconds
    verification: dict[PayeeVerification, OnVerification]
    step_up_new_payee: bool
    scheduled_days_ahead: int = Field(ge=0, le=366)
    submit_timeout_s: Seconds
    retry_first_s: Seconds
    retry_factor: float = Field(ge=1, le=10)
    retry_most_s: Seconds
    resend_within_s: Seconds
    code_digits: int = Field(ge=6, le=12)
    code_life_s: Seconds
    code_attempts: int = Field(ge=1, le=10)
    pass_life_s: Seconds
    challenges_per_hour: int = Field(ge=1, le=100)

    @property
    def longest_wait(self) -> timedelta:
        """No attempt at settling is put off for longer, give or take two clocks' difference."""
        return timedelta(seconds=self.retry_most_s + self.submit_timeout_s + self.retry_first_s) + CLOCKS_APART

    @property
    def longest_life(self) -> timedelta:
        """No live proposal expires later than this from now, give or take two clocks' difference."""
        return timedelta(seconds=self.proposal_life_s) + CLOCKS_APART

    def retry_after_s(self, attempts: int) -> float:
        """How long to wait after the n-th attempt at settling a transfer, n ≥ 1."""
        return min(self.retry_first_s * self.retry_factor ** min(attempts - 1, 64), self.retry_most_s)


def money_policy() -> MoneyPolicy:
    """The policy in force. Raises RulesInvalid."""
    return load("act/policy.yaml", MoneyPolicy)


def zone(name: str) -> ZoneInfo:
    """A customer's time zone, in which limits' days begin; KeyError where it is unknown."""
    return ZoneInfo(name)
