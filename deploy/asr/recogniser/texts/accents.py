"""Accents: who grew up with another language says some phones of English as others (accents.yaml)."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import yaml

TABLE = Path(__file__).parent / "accents.yaml"
WEAKEST = 0.35
"""The least chance with which a speaker has each trait of an accent."""

Phones = tuple[str, ...]


@cache
def table() -> dict[str, dict[Phones, tuple[Phones, ...]]]:
    """By accent: phones in turn, and what they may be said as."""
    told = yaml.safe_load(TABLE.read_text(encoding="utf-8"))["accents"]
    return {
        accent: {
            tuple(heard.split()): tuple(tuple(way.split()) for way in str(said or "").split("|"))
            for heard, said in traits.items()
        }
        for accent, traits in told.items()
    }


def drawn(rng: random.Random) -> Callable[[Sequence[str]], list[str]]:
    """Somebody's accent, light or strong."""
    traits = table()[rng.choice(sorted(table()))]
    chance = rng.uniform(WEAKEST, 1.0)
    kept = {heard: rng.choice(ways) for heard, ways in traits.items() if rng.random() < chance}
    return lambda phones: said(phones, kept)


def said(phones: Sequence[str], traits: dict[Phones, Phones]) -> list[str]:
    """The phones with every trait applied once, longer ones first."""
    longest = max(map(len, traits), default=0)
    out: list[str] = []
    at = 0
    while at < len(phones):
        sizes = (n for n in range(longest, 0, -1) if tuple(phones[at : at + n]) in traits)
        size = next(sizes, 0)
        out += traits[tuple(phones[at : at + size])] if size else [phones[at]]
        at += size or 1
    return out
