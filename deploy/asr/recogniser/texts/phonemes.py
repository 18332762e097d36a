"""The phones of an English text, in flite's names: by flite, or by eSpeak, which reads names and accents otherwise."""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path

import yaml

from recogniser.voices.segment import PAUSE

TABLE = Path(__file__).parent / "phones.yaml"
LABELLER = "slt"
MARKS = "',%=|"
"""What eSpeak writes of stress and length beside a phone."""


def told(text: str, what: str, out: str) -> list[str]:
    """What flite prints of a text as it speaks it to `out`."""
    return _printed(["flite", "-voice", LABELLER, "-t", text, what, "-o", out]).split()


def by_flite(text: str) -> list[str]:
    """The phones of a text, with a pause before and behind."""
    return told(text, "-ps", "none")


def by_espeak(text: str, accent: str) -> list[str]:
    """The same, as an accent of eSpeak's (en-gb) has them; KeyError for a sound that the table lacks."""
    phones = [phone for word in words_by_espeak(text, accent) for phone in word]
    return [PAUSE, *(phone for phone, after in zip(phones, [*phones[1:], PAUSE], strict=True) if phone != after), PAUSE]


def words_by_espeak(text: str, accent: str) -> list[list[str]]:
    """The phones of each word, as eSpeak divides them; a pause stands with the word before it."""
    told = _printed(["espeak-ng", "-q", "-x", "--sep=_", "-v", accent, text]).replace("_:", "_:_")
    return [[phone for name in word.split("_") for phone in named(name.strip(MARKS))] for word in told.split()]


def named(name: str) -> tuple[str, ...]:
    """Flite's phones for what eSpeak calls a sound, or for sounds that it prints as one ("nd"); KeyError if unknown."""
    known = table()
    size = next((size for size in range(len(name), 0, -1) if name[:size] in known), 0)
    return known[name[:size] or name] + (named(name[size:]) if name[size:] else ())


@cache
def table() -> dict[str, tuple[str, ...]]:
    """Flite's phones for each of eSpeak's; none for a mark alone."""
    told = yaml.safe_load(TABLE.read_text(encoding="utf-8"))["phones"]
    return {"": ()} | {str(name): tuple(said.split()) for name, said in told.items()}


def _printed(command: list[str]) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout
