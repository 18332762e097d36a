"""How numbers are said in English, in the forms that callers use."""

from __future__ import annotations

import random

from recogniser.texts.grammar import Rule

ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen"
).split()
TENS = ". . twenty thirty forty fifty sixty seventy eighty ninety".split()
ORDINAL = {
    "one": "first", "two": "second", "three": "third", "five": "fifth", "eight": "eighth",
    "nine": "ninth", "twelve": "twelfth",
}  # fmt: skip


def number_words(n: int, rng: random.Random | None = None) -> str:
    """Spell n >= 0; with rng the British "and" and "a hundred" come at random."""
    if n < 20:
        return ONES[n]
    if n < 100:
        return TENS[n // 10] + (f" {ONES[n % 10]}" if n % 10 else "")
    if n < 1000:
        joiner = " and " if rng and rng.random() < 0.5 else " "
        head = "a" if rng and n < 200 and rng.random() < 0.3 else ONES[n // 100]
        return f"{head} hundred" + (joiner + number_words(n % 100) if n % 100 else "")
    size, name = next((s, w) for s, w in ((10**9, "billion"), (10**6, "million"), (1000, "thousand")) if n >= s)
    head = "a" if rng and n // size == 1 and rng.random() < 0.3 else number_words(n // size, rng)
    rest = n % size
    joiner = " and " if rest < 100 and rng and rng.random() < 0.6 else " "
    return f"{head} {name}" + (joiner + number_words(rest, rng) if rest else "")


def ordinal_words(n: int) -> str:
    """Spell n as an ordinal."""
    words = number_words(n).split()
    last = words[-1]
    words[-1] = ORDINAL.get(last) or (last[:-1] + "ieth" if last.endswith("y") else last + "th")
    return " ".join(words)


def magnitude(rng: random.Random) -> int:
    """A whole number; small, round and odd ones alike."""
    kind = rng.random()
    if kind < 0.3:
        return rng.randint(1, 99)
    if kind < 0.55:
        return rng.randint(1, 999)
    if kind < 0.7:
        return rng.randint(1, 99) * rng.choice((10, 100, 1000))
    if kind < 0.85:
        return rng.randint(1000, 9999)
    if kind < 0.95:
        return rng.randint(1, 999) * 1000 + rng.choice((0, 0, rng.randint(1, 999)))
    return rng.randint(1, 9) * 10**6 + rng.choice((0, rng.randint(0, 999) * 1000))


def cardinal(rng: random.Random) -> str:
    """A whole number in one of its spoken forms."""
    n = magnitude(rng)
    if 1000 < n < 10000 and rng.random() < 0.3 and n % 1000 >= 100:
        return hundreds(n, rng)
    if 100 < n < 1000 and n % 100 >= 10 and rng.random() < 0.2:
        return f"{ONES[n // 100]} {number_words(n % 100)}"
    return number_words(n, rng)


def hundreds(n: int, rng: random.Random) -> str:
    """1,250 as "twelve hundred fifty" or "twelve fifty"."""
    head, rest = number_words(n // 100), n % 100
    if not rest:
        return f"{head} hundred"
    if rest >= 10 and rng.random() < 0.5:
        return f"{head} {number_words(rest)}"
    return f"{head} hundred {'and ' if rng.random() < 0.5 else ''}{number_words(rest)}"


def percent(rng: random.Random) -> str:
    """A percentage."""
    tail = " ".join(rng.choice(ONES[:10]) for _ in range(rng.randint(1, 2)))
    return f"{number_words(rng.randint(0, 100))}{f' point {tail}' if rng.random() < 0.6 else ''} percent"


def digits_of(length: int, rng: random.Random) -> str:
    """A digit string with "oh", "double" and "triple" as people say them."""
    zero = rng.choice(("zero", "zero", "oh", "oh", "oh"))
    multiply = rng.random() < 0.35
    digits = [rng.randint(0, 9) for _ in range(length)]
    for i in range(1, length):
        if rng.random() < 0.15:
            digits[i] = digits[i - 1]
    words, i = [], 0
    while i < length:
        run = 1
        while run < 3 and i + run < length and digits[i + run] == digits[i]:
            run += 1
        word = ONES[digits[i]] if digits[i] else zero
        words += [("double", "triple")[run - 2], word] if multiply and run > 1 else [word] * run
        i += run
    return " ".join(words)


def digits(rng: random.Random) -> str:
    """Account, card or reference digits, singly or in pairs."""
    if rng.random() < 0.15:
        return " ".join(number_words(rng.randint(10, 99)) for _ in range(rng.randint(1, 4)))
    return digits_of(rng.choice((2, 3, 3, 4, 4, 4, 5, 6, 6, 7, 8, 8, 9, 10)), rng)


def year(rng: random.Random) -> str:
    """A year as spoken."""
    n = rng.randint(1930, 2039)
    if n < 2000:
        low = n % 100
        return f"nineteen {'oh ' if low < 10 else ''}{number_words(low)}"
    if n < 2010 or rng.random() < 0.3:
        return "two thousand" + (f"{rng.choice((' and', ''))} {number_words(n - 2000)}" if n > 2000 else "")
    return f"twenty {number_words(n - 2000)}"


def between(low: int, high: int) -> Rule:
    """A rule that spells a number of a range."""
    return lambda rng: number_words(rng.randint(low, high))
