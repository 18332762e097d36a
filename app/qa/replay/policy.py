"""Policies of rules/qa: the bounds that a run's scores must keep, and what a comparison fails on."""

from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict, Field

from app.qa.replay.diff import FailOn
from app.qa.replay.stats import Ratio
from rules.load import RuleFile, load
from schemas.errors import NotFound


class Policy(BaseModel):
    """Bounds on ratios, by name; `fail_on` is for comparisons."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    at_most: dict[str, float] = Field(default_factory=dict)
    at_least: dict[str, float] = Field(default_factory=dict)
    fail_on: tuple[FailOn, ...] = ()

    def broken(self, ratios: Mapping[str, Ratio]) -> tuple[str, ...]:
        """The bounds that the ratios break, in words."""
        over = [(n, bound, "above", _over) for n, bound in self.at_most.items()]
        under = [(n, bound, "below", _under) for n, bound in self.at_least.items()]
        return tuple(
            f"{name} is {_words(ratios.get(name))}, {side} {bound:g}"
            for name, bound, side, test in over + under
            if test(ratios.get(name), bound)
        )


class Policies(RuleFile):
    """rules/qa/policies.yaml."""

    policies: dict[str, Policy]


def policy(name: str) -> Policy:
    """A policy by name. Raises NotFound."""
    found = load("qa/policies.yaml", Policies).policies
    if name not in found:
        raise NotFound(f"no policy {name!r}: one of {', '.join(sorted(found))}")
    return found[name]


def _over(ratio: Ratio | None, bound: float) -> bool:
    return ratio is None or ratio.value is None or ratio.value > bound


def _under(ratio: Ratio | None, bound: float) -> bool:
    return ratio is None or ratio.value is None or ratio.value < bound


def _words(ratio: Ratio | None) -> str:
    return "not judged" if ratio is None or ratio.value is None else f"{ratio.value:.4f} of {ratio.of:.0f}"
