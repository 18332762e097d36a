"""Which rules a run reached, and which no recording does: templates, answers, vetoes, ways to read values."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Final

import services.normalization
from app.qa.replay.judging.verdicts import rules_of
from app.qa.replay.records.record import TurnRecord
from rules.load import load
from services.understanding.fast.consent.consent_file import ConsentFile
from services.understanding.fast.ruleset.grammar import intent_files
from services.understanding.fast.ruleset.rules import VetoFile

TEMPLATES, ANSWERS, VETOES, VALUES = "templates", "answers", "vetoes", "values"
FAMILIES: Final = ("numbers", "money", "digits", "dates", "times", "context")
_PRODUCTION: Final = re.compile(rf'"((?:{"|".join(FAMILIES)})\.[a-z_.]+)"')
"""How the grammars name what they read: their names are in the code alone."""
_COMPOSED: Final = (
    *(f"money.{name}" for name in ("colloquial", "digits", "fraction", "major", "major_minor", "minor", "range")),
    *(f"numbers.{name}" for name in ("cardinal", "decimal", "fraction", "heard", "numeral", "pair", "scaled")),
    *(f"times.{name}" for name in ("clock", "clock_word", "half_named", "part_first", "related", "suffixed")),
)
"""Names that the grammars put together of two words; a test holds them to all that reads the labelled cases."""


@dataclass(frozen=True, slots=True)
class RuleCoverage:
    """Rules of one kind in one language: how many turns each had a part in. Rules are named without their version."""

    language: str
    kind: str
    turns: Mapping[str, int]

    @property
    def reached(self) -> int:
        """How many had a part in a turn."""
        return sum(count > 0 for count in self.turns.values())

    @property
    def unreached(self) -> tuple[str, ...]:
        """Those that no turn reaches."""
        return tuple(rule for rule, count in self.turns.items() if not count)


def coverage(turns: Iterable[TurnRecord]) -> tuple[RuleCoverage, ...]:
    """Of every language of a run its rules, and what of them was reached."""
    counts: dict[str, dict[str, int]] = {}
    for turn in turns:
        own = counts.setdefault(turn.locale[:2], {})
        for rule in {unversioned(rule) for rule in rules_of(turn)}:
            own[rule] = own.get(rule, 0) + 1
    return tuple(
        RuleCoverage(language, kind, {rule: own.get(rule, 0) for rule in rules})
        for language, own in sorted(counts.items())
        for kind, rules in inventory(language).items()
    )


def unversioned(rule: str) -> str:
    """A rule's name: a new version of a file is not another rule."""
    return rule.partition("@")[0]


@lru_cache(maxsize=8)
def inventory(language: str) -> dict[str, tuple[str, ...]]:
    """Every rule of a language, by kind: as the files name them, none compiled. Raises RulesInvalid."""
    files = intent_files(language)
    vetoes = load(f"intents/{language}/vetoes.yaml", VetoFile)
    consent = load(f"consent/{language}.yaml", ConsentFile)
    return {
        TEMPLATES: tuple(sorted({f"{file.id}.{template.id}" for file in files for template in file.templates})),
        ANSWERS: tuple(sorted(f"{consent.id}.{act.id}" for act in consent.acts)),
        VETOES: tuple(sorted(f"veto.{name}" for name in vetoes.vetoes)),
        VALUES: tuple(sorted(f"normalize.{language}.{production}" for production in _productions())),
    }


@lru_cache(maxsize=1)
def _productions() -> frozenset[str]:
    folder = files(services.normalization)
    sources = [path.read_text(encoding="utf-8") for path in folder.iterdir() if path.name.endswith(".py")]
    return frozenset({*_COMPOSED, *(found for text in sources for found in _PRODUCTION.findall(text))})
