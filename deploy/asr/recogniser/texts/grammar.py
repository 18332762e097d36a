"""Expansion of sentence templates: "{slot}" calls a rule or draws from a list, "[a|b|]" chooses one, both may nest."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import yaml

Rule = Callable[[random.Random], str]

_CHOICE = re.compile(r"\[([^\[\]]*)\]")
_SLOT = re.compile(r"\{(\w+)\}")
_MAX_EXPANSIONS = 64


class TextGrammar:
    """Weighted categories of templates over slots; slots are lists of the file or rules in code."""

    def __init__(self, path: Path, rules: Mapping[str, Rule]) -> None:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
        self.templates: dict[str, Sequence[str]] = data["templates"]
        self.weights: dict[str, float] = data["weights"]
        self.practice: dict[str, float] = data.get("practice", {})
        self.lists: dict[str, Sequence[str]] = data["lists"]
        self.words: dict[str, Sequence[str]] = {name: text.split() for name, text in data["words"].items()}
        self.rules = dict(rules)

    def sample(self, rng: random.Random, *, practice: bool = False) -> tuple[str, str]:
        """Draw (category, expanded text): as callers speak, or for training, which practises more of what is hard."""
        weights = self.weights | self.practice if practice else self.weights
        category = rng.choices(list(weights), list(weights.values()))[0]
        return category, self.expand(rng.choice(self.templates[category]), rng)

    def expand(self, template: str, rng: random.Random) -> str:
        """Resolve every choice and slot of one template."""
        text = template
        for _ in range(_MAX_EXPANSIONS):
            match = _CHOICE.search(text)
            if match:
                chosen = rng.choice(match.group(1).split("|"))
            else:
                match = _SLOT.search(text)
                if not match:
                    return text
                chosen = self._slot(match.group(1), rng)
            text = text[: match.start()] + chosen + text[match.end() :]
        raise ValueError(f"template does not end: {template}")

    def _slot(self, name: str, rng: random.Random) -> str:
        if name in self.rules:
            return self.rules[name](rng)
        return rng.choice(self.lists[name] if name in self.lists else self.words[name])
