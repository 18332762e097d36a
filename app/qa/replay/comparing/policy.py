"""Policies of rules/qa: the bounds that a run's scores must keep, and what a comparison fails on."""

from collections.abc import Iterator
from typing import Annotated, Final, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from app.qa.replay.comparing.diff import FailOn
from app.qa.replay.judging.score import Scores
from app.qa.replay.judging.stats import Ratio
from app.qa.replay.judging.words import spaceless
from app.qa.replay.manifests.manifest import CaseTurn, Manifest, by_people
from rules.load import RuleFile, load
from schemas.errors import BadInput, NotFound

AT_MOST: Final = ("errors", "money_false_accepts", "money_wrong_read_backs", "wer_normalized", "cer_normalized")
DEFAULTS: Final = {"money_unjudged": 0.0}
"""Bounds that a policy keeps which does not name them."""
AT_LEAST: Final = ("right",)
LATENCY: Final = ("total_p95", "understanding_p95")
"""One of them at least; the second where what was heard is kept."""
UNTIMED: Final = ("total", "asr")
"""Stages that no kept transcript measures."""
UNITS: Final = ("wer", "cer")
_LABELS: Final = {
    "intent_match": "intent",
    "decision_match": "decision",
    "outcome_match": "outcome",
    "reply_match": "reply",
    "route_match": "route",
}
"""Ratios that need a label of one name; those of payees, slots and spans are told by how they begin."""

Share = Annotated[float, Field(ge=0, lt=1, allow_inf_nan=False)]
"""A bound of 1 and more, or none that is a number, would bound nothing."""
Milliseconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class Policy(BaseModel):
    """Bounds on ratios, by name, and on `latency_ms`, by STAGE_pPERCENT; `fail_on` is for comparisons.

    `unreached` is how many changed rules there may be that no turn uses.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    judged: int = Field(default=1, ge=1)
    at_most: dict[str, Share]
    at_least: dict[str, Share]
    latency_ms: dict[str, Milliseconds]
    fail_on: tuple[FailOn, ...]
    unreached: int = Field(default=0, ge=0)

    @field_validator("at_most")
    @classmethod
    def _bounded(cls, given: dict[str, float]) -> dict[str, float]:
        return DEFAULTS | given

    @model_validator(mode="after")
    def _whole(self) -> Self:
        absent = [name for name in AT_MOST if name not in self.at_most]
        absent += [name for name in AT_LEAST if name not in self.at_least]
        absent += [] if {*LATENCY} & {*self.latency_ms} else [" or ".join(LATENCY)]
        if absent:
            raise ValueError(f"every policy bounds {', '.join(absent)}")
        if not {FailOn.MONEY, FailOn.MISSING} <= {*self.fail_on}:
            raise ValueError("every policy fails on money and missing")
        return self

    @property
    def slack(self) -> dict[str, float]:
        """How much it allows, by name: what is more is looser, and so is what is gone."""
        found = {f"{name} at most": bound for name, bound in (self.at_most | self.latency_ms).items()}
        found |= {f"{name} at least": -bound for name, bound in self.at_least.items()}
        found["unreached at most"] = self.unreached
        return found | {"judged at least": -self.judged} | {f"fails on {name}": 0 for name in self.fail_on}

    def lacks(self, manifest: Manifest) -> tuple[str, ...]:
        """What a set must have to be judged by this policy and has not, in words."""
        turns = [turn for case in manifest.cases for turn in case.turns]
        judged = sum(1 for turn in turns if (expect := by_people(turn.expect)) and expect.behaviour)
        lacking = []
        if judged < self.judged:
            lacking.append(f"{self.judged} turns in which people say what should happen, and there are {judged}")
        lacking += [
            f"what was said (`transcript`) in a recording, for {name}"
            for unit, name in zip(UNITS, ("languages of words", "Japanese"), strict=True)
            if (heard := _recorded(manifest, unit)) and not any(_says(turn, "transcript") for turn in heard)
        ]
        for ratio in (*self.at_least, *self.at_most):
            label = _LABELS.get(ratio) or next((n for n in ("payee", "slot", "span") if ratio.startswith(n)), None)
            name = {"slot": "slots", "span": "spans"}.get(label or "", label)
            if name is not None and not any(_says(turn, name) for turn in turns):
                lacking.append(f"a turn in which people say its `{name}`, for {ratio}")
        return tuple(lacking)

    def broken(self, scores: Scores, manifest: Manifest) -> tuple[str, ...]:
        """The bounds that a run's scores break, in words."""
        units = tuple(unit for unit in UNITS if not _recorded(manifest, unit))
        found = [*self._over(scores, units), *self._under(scores), *self._late(scores)]
        turns = sum(len(case.turns) for case in manifest.cases)
        if scores.turns != turns:
            found.insert(0, f"{scores.turns} turns were played of the {turns} that the manifest names")
        return tuple(found)

    def unmeasured(self, scores: Scores) -> str:
        """Which bounds on latency can't be judged, for what was heard was kept of earlier runs; empty where all can."""
        names = [name for name in self.latency_ms if scores.kept and name.rpartition("_")[0] in UNTIMED]
        why = f"{scores.kept} recordings were heard by earlier runs: --fresh --hear-anew, or the policy rules"
        return f"{', '.join(names)} can't be judged, {why}" if names else ""

    def _over(self, scores: Scores, deaf: tuple[str, ...]) -> Iterator[str]:
        for name, bound in self.at_most.items():
            ratio = scores.ratios.get(name)
            if name.startswith(deaf) and deaf:
                continue  # nothing was recorded in such a language: there is no hearing to bound
            if ratio is None or ratio.value is None or ratio.value > bound:
                why = "".join(f"; {count}× {reason}" for reason, count in scores.reasons.items())
                yield f"{name} is {_words(ratio)}, above {bound:g}{why if name == 'errors' else ''}"

    def _under(self, scores: Scores) -> Iterator[str]:
        for name, bound in self.at_least.items():
            ratio = scores.ratios.get(name)
            if ratio is None or ratio.value is None or ratio.value < bound:
                yield f"{name} is {_words(ratio)}, below {bound:g}"

    def _late(self, scores: Scores) -> Iterator[str]:
        if unmeasured := self.unmeasured(scores):
            yield unmeasured
        for name, bound in self.latency_ms.items():
            stage, _, percentile = name.rpartition("_")
            if scores.kept and stage in UNTIMED:
                continue
            found = scores.latency.get(stage)
            ms = getattr(found, f"{percentile}_ms", None)
            if ms is None or ms > bound:
                yield f"{name} is {'not measured' if ms is None else f'{ms:.0f} ms'}, above {bound:g} ms"


class Policies(RuleFile):
    """rules/qa/policies.yaml."""

    policies: dict[str, Policy]


def policy(name: str) -> Policy:
    """A policy by name. Raises NotFound."""
    found = load("qa/policies.yaml", Policies).policies
    if name not in found:
        raise NotFound(f"no policy {name!r}: one of {', '.join(sorted(found))}")
    return found[name]


def slack() -> dict[str, float]:
    """How much each policy allows, by its name and the bound's."""
    found = load("qa/policies.yaml", Policies).policies
    return {f"{name}: {bound}": allowed for name, each in found.items() for bound, allowed in each.slack.items()}


def policy_for(name: str, manifest: Manifest) -> Policy:
    """A policy by name that a set can be judged by. Raises NotFound, BadInput with what the set lacks."""
    found = policy(name)
    lacking = found.lacks(manifest)
    if lacking:
        raise BadInput(f"policy {name} needs {'; '.join(lacking)}")
    return found


def _recorded(manifest: Manifest, unit: str) -> list[CaseTurn]:
    """The recorded turns whose hearing is counted in `unit`; in which nothing was said there is nothing to count."""
    return [
        turn
        for case in manifest.cases
        if spaceless(case.locale) == (unit == "cer")
        for turn in case.turns
        if turn.audio is not None and not ((expect := by_people(turn.expect)) and expect.transcript == "")
    ]


def _says(turn: CaseTurn, label: str) -> bool:
    expect = by_people(turn.expect)
    return expect is not None and label in expect.named


def _words(ratio: Ratio | None) -> str:
    return "not judged" if ratio is None or ratio.value is None else f"{ratio.value:.4f} of {ratio.of:.0f}"
