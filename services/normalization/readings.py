"""Numbers spelled by sound in a script without word spaces: ごせんえん, ニマンゴセン. What is a name must stay one."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from rules.load import RuleFile
from schemas.kana import TO_HIRAGANA
from services.normalization.numerals import Numeral

_LEAST_DIGITS: Final = 4
_LEAST_BARE: Final = 100
"""A number without a currency counts from here on; below, too many words sound like it."""


class ReadingRules(RuleFile):
    """rules/normalize/<language>/kana.yaml. `groups` are the places below the scales, the highest first."""

    units: dict[str, int]
    groups: list[dict[str, int]]
    scales: dict[str, int]
    digits: dict[str, str]
    currencies: dict[str, str]
    behind_figures: dict[str, str]


@dataclass(frozen=True, slots=True)
class SoundedNumber:
    """A number read from sounds at `start:end`. `other` is its value if the first sound is a particle."""

    numeral: Numeral
    end: int
    unit: str | None  # the currency word right behind, and where it ends
    unit_end: int


class Readings:
    """Compiled readings of one language."""

    def __init__(self, rules: ReadingRules) -> None:
        self._values = {sound: value for group in (*rules.groups, rules.units) for sound, value in group.items()}
        self._scales, self._digits, self._currencies = rules.scales, rules.digits, rules.currencies
        places = "".join(f"(?:{_any(group)})?" for group in (*rules.groups, rules.units))
        scaled = "".join(f"(?:{places}{scale})?" for scale in rules.scales)
        self._number = re.compile(scaled + places)
        self._parts = re.compile(_any((*self._values, *rules.scales)))
        self._unit = re.compile(_any(rules.currencies))
        self._string = re.compile(rf"(?:{_any(rules.digits)})(?: ?(?:{_any(rules.digits)})){{{_LEAST_DIGITS - 1},39}}")
        self._digit = re.compile(_any(rules.digits))
        self._written = {**rules.behind_figures, **rules.currencies}
        self._behind = re.compile(_any(self._written))
        kana = [unit for unit in rules.currencies if unit != rules.currencies[unit]]
        scaled_sounds = [sound for group in rules.groups for sound in group]
        written = f"(?:{_any(rules.units)})(?:{_any(rules.currencies)})"
        self._anchor = re.compile(f"{_any((*kana, *scaled_sounds, *rules.scales))}|{written}|{self._string.pattern}")
        self._roots = frozenset(min(group, key=len) for group in rules.groups)
        self.firsts = frozenset(sound[0] for sound in (*self._values, *rules.digits, *self._written))

    @staticmethod
    def sounds(text: str) -> str:
        """The text with one script for its sounds; lengths stay."""
        return text.translate(TO_HIRAGANA)

    def anchored(self, sounds: str) -> bool:
        """Whether a text holds anything that a spelled number must: a scale, a currency, a run of digits."""
        return self._anchor.search(sounds) is not None

    def hear(self, sounds: str, at: int, *, particle: bool, bounded: Callable[[int], bool]) -> SoundedNumber | None:
        """The number at a place; `particle` says that its first sound may close the word before."""
        return self._amount(sounds, at, particle, bounded) or self._spelled(sounds, at, bounded)

    def behind_figures(self, sounds: str, at: int, bounded: Callable[[int], bool]) -> tuple[str, int] | None:
        """The scale or currency that is spelled behind written figures, as it is written, and where it ends: 9まん."""
        found = self._behind.match(sounds, at)
        if found is None:
            return None
        goes_on = self._unit.match(sounds, found.end()) or self._behind.match(sounds, found.end())
        if not goes_on and not bounded(found.end()):
            return None
        return self._written[found.group()], found.end()

    def _amount(self, sounds: str, at: int, particle: bool, bounded: Callable[[int], bool]) -> SoundedNumber | None:
        found = self._number.match(sounds, at)
        if found is None or found.end() == at:
            return None
        value = self._value(found.group())
        unit = self._unit.match(sounds, found.end())
        if unit is not None and bounded(unit.end()):
            other = self._without_particle(sounds, at, unit.start()) if particle else None
            name = self._currencies[unit.group()]
            return SoundedNumber(_numeral(value, other), found.end(), name, unit.end())
        if value < _LEAST_BARE or found.group() in self._roots or not bounded(found.end()):
            return None
        other = self._without_particle(sounds, at, found.end()) if particle else None
        return SoundedNumber(_numeral(value, other), found.end(), None, found.end())

    def _without_particle(self, sounds: str, at: int, end: int) -> int | None:
        rest = self._number.fullmatch(sounds, at + 1, end)
        return self._value(rest.group()) if rest is not None and end > at + 1 else None

    def _spelled(self, sounds: str, at: int, bounded: Callable[[int], bool]) -> SoundedNumber | None:
        """Digits said one by one."""
        found = self._string.match(sounds, at)
        if found is None or not bounded(found.end()):
            return None
        digits = "".join(self._digits[part] for part in self._digit.findall(found.group()))
        return SoundedNumber(Numeral("string", digits, None, None, digits), found.end(), None, found.end())

    def _value(self, sounds: str) -> int:
        total = group = 0
        for part in self._parts.findall(sounds):
            scale = self._scales.get(part)
            if scale is None:
                group += self._values[part]
            else:
                total, group = total + max(group, 1) * scale, 0
        return total + group


def _any(sounds: Iterable[str] | Mapping[str, object]) -> str:
    return "|".join(sorted(sounds, key=len, reverse=True))


def _numeral(value: int, other: int | None) -> Numeral:
    return Numeral(
        "heard", str(value), Decimal(value), value, str(value), Decimal(other) if other is not None else None
    )
