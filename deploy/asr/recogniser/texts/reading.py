"""English text as engines should read it: letters by name, pauses and a closing mark here and there."""

from __future__ import annotations

import random

PAUSE_SHARE = 0.06
LETTER_A = "eigh"
"""Read as the letter's name by every engine; "ay" is "i" to two of them."""
DIGITS = frozenset(("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "oh"))


def read(words: list[str], i: int) -> str:
    """Word i as an engine should read it: spelled letters by name, "a" as a letter only among letters and digits."""
    word = words[i]
    beside = words[max(0, i - 1) : i] + words[i + 1 : i + 2]
    spelled = any(len(w) == 1 for w in beside) or (i > 0 and all(w in DIGITS for w in beside))
    if word == "a" and spelled:
        return LETTER_A
    return word.upper() if len(word) == 1 and word not in "ai" else word


def spoken_english(text: str, rng: random.Random) -> str:
    """Text as engines should read it: letters by name, pauses and a closing mark here and there."""
    words = text.split()
    out = [
        read(words, i) + ("," if i < len(words) - 1 and rng.random() < PAUSE_SHARE else "") for i in range(len(words))
    ]
    return " ".join(out) + rng.choice((".", ".", "", "?", "!"))
