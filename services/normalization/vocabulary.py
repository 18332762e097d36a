"""The vocabulary files: words and their meanings per language, validated, compiled into a lexicon."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Final

from pydantic import Field

from rules.load import RuleFile, exists, load
from schemas.errors import RulesInvalid
from schemas.ids import RuleId
from services.normalization.readings import ReadingRules, Readings
from services.normalization.tokens import Lexicon, combine
from services.normalization.words import Currency, DayPart, Period, Scale, Word, make

FAMILIES: Final = ("numbers", "money", "digits", "dates", "times", "context")
"""Each language has a file for each family of grammars."""
_APART: Final = frozenset({"id", "version", "flags"})
"""Fields that are no meaning with something to carry."""


class Vocabulary(RuleFile):
    """One file. Each field is a meaning of `Word`: a map from surface to what it carries, or a list of surfaces."""

    value: dict[str, int] = Field(default_factory=dict)
    digit: dict[str, str] = Field(default_factory=dict)
    scale: dict[str, Scale] = Field(default_factory=dict)
    repeat: dict[str, int] = Field(default_factory=dict)
    ordinal: dict[str, int] = Field(default_factory=dict)
    fraction: dict[str, Decimal] = Field(default_factory=dict)
    sign: dict[str, int] = Field(default_factory=dict)
    currency: dict[str, Currency] = Field(default_factory=dict)
    percent: dict[str, Decimal] = Field(default_factory=dict)
    month: dict[str, int] = Field(default_factory=dict)
    weekday: dict[str, int] = Field(default_factory=dict)
    day: dict[str, int] = Field(default_factory=dict)
    day_of_month: dict[str, int] = Field(default_factory=dict)
    period: dict[str, Period] = Field(default_factory=dict)
    boundary: dict[str, str] = Field(default_factory=dict)
    unit: dict[str, str] = Field(default_factory=dict)
    suffix: dict[str, str] = Field(default_factory=dict)
    relative: dict[str, int] = Field(default_factory=dict)
    direction: dict[str, int] = Field(default_factory=dict)
    era: dict[str, int] = Field(default_factory=dict)
    half: dict[str, str] = Field(default_factory=dict)
    day_part: dict[str, DayPart] = Field(default_factory=dict)
    clock: dict[str, str] = Field(default_factory=dict)
    past: dict[str, int] = Field(default_factory=dict)
    flags: dict[str, list[str]] = Field(default_factory=dict)
    """Meanings that carry nothing: article, joiner, closer, …"""

    def entries(self) -> Iterator[tuple[str, Word]]:
        """Every surface with one of its meanings."""
        for name in type(self).model_fields:
            if name in _APART:
                continue
            for surface, payload in getattr(self, name).items():
                yield surface, make({name: payload})
        for name, surfaces in self.flags.items():
            for surface in surfaces:
                yield surface, make({name: True})


class Language:
    """A language's lexicon and the identities of its rules."""

    def __init__(self, name: str, *, spaced: bool) -> None:
        files = {family: load(f"normalize/{name}/{family}.yaml", Vocabulary) for family in FAMILIES}
        kana = f"normalize/{name}/kana.yaml"
        readings = Readings(load(kana, ReadingRules)) if exists(kana) else None
        try:
            entries = combine(entry for file in files.values() for entry in file.entries())
            self.lexicon = Lexicon(entries, spaced=spaced, readings=readings)
        except ValueError as error:
            raise RulesInvalid(f"normalize/{name}: {error}") from error
        self._files = files
        self._rules: dict[str, RuleId] = {}

    @property
    def words(self) -> tuple[tuple[str, str], ...]:
        """Every surface that carries something, as `(meaning, surface)`, in order."""
        carried = ((name, file) for file in self._files.values() for name in sorted(type(file).model_fields.keys()))
        return tuple(
            (name, word) for name, file in carried if name not in _APART for word in sorted(getattr(file, name))
        )

    def rule(self, production: str) -> RuleId:
        """The identity of `family.production` in this language, `normalize.en.money.major@1`."""
        known = self._rules.get(production)
        if known is None:
            family, _, rest = production.partition(".")
            file = self._files[family]
            known = self._rules[production] = RuleId(f"{file.id}.{rest}@{file.version}")
        return known
