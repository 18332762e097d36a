"""English that people wrote: words, sayings, and what WordNet tells of words."""

from __future__ import annotations

import random
import re
from functools import cache
from pathlib import Path

DICTIONARY = Path("/usr/share/dict/american-english-small")
SAYINGS = Path("/usr/share/games/fortunes")
CLAUSES = r"[.!?;:\"()\[\]]|--|, (?=and|but|or|which|who|that|when|if)"
"""Where a text is parted into what may be said by itself."""
WORDNET = Path("/usr/share/wordnet")
UNSPEAKABLE = ("ascii", "debian", "linux", "computers", "definitions", "perl")
SHORT_WORDS = frozenset("a i is to of in it on my we he be or do as at by an if me so no up us am go".split())


@cache
def vocabulary() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(common words, the wider dictionary), both lower-case."""
    from faker.providers.lorem.en_US import Provider

    common = sorted({w for w in Provider.word_list if re.fullmatch("[a-z]+", w)})
    wide = [w for w in DICTIONARY.read_text(encoding="utf-8").split("\n") if re.fullmatch("[a-z]{3,11}", w)]
    return tuple(common), tuple(wide)


def word(rng: random.Random) -> str:
    """A word, half of the time a common one."""
    common, wide = vocabulary()
    return rng.choice(common) if rng.random() < 0.5 else rng.choice(wide)


@cache
def known_words() -> frozenset[str]:
    """What a natural sentence may consist of: dictionary words, with their apostrophes."""
    wide = {w for w in DICTIONARY.read_text(encoding="utf-8").lower().split() if "'" in w}
    return frozenset({w for words in vocabulary() for w in words} | SHORT_WORDS | wide)


def sentences_among(parts: list[str]) -> set[str]:
    """Those of 2 to 14 words, without numerals."""
    out: set[str] = set()
    for part in parts:
        words = re.sub(r"[^a-z' ]", " ", part.lower()).replace(" '", " ").replace("' ", " ").split()
        if 2 <= len(words) <= 14 and not re.search(r"\d", part):
            out.add(" ".join(words))
    return out


@cache
def sentences() -> tuple[str, ...]:
    """Natural sentences out of Debian's collection of sayings."""
    out: set[str] = set()
    for path in sorted(SAYINGS.iterdir()):
        if path.suffix or path.name.startswith(UNSPEAKABLE):
            continue
        text = re.sub(r"\s+", " ", path.read_text(encoding="utf-8", errors="ignore").replace("\n%\n", " . "))
        out |= sentences_among(re.split(CLAUSES, text))
    return tuple(sorted(text for text in out if known_words().issuperset(text.split())))


@cache
def glosses() -> tuple[str, ...]:
    """What WordNet says of each meaning: what it is, then examples between quotation marks."""
    texts = [(WORDNET / f"data.{part}").read_text(encoding="utf-8") for part in ("noun", "verb", "adj", "adv")]
    return tuple(line.partition("|")[2] for text in texts for line in text.splitlines() if not line.startswith("  "))


@cache
def examples() -> tuple[str, ...]:
    """Natural sentences out of WordNet's examples of how words are used, without abbreviations and other scripts."""
    found = [part for gloss in glosses() for part in re.findall(r'"([a-zA-Z \',-]+)[.!?]?"', gloss)]
    return tuple(sorted(sentences_among(found)))


@cache
def definitions() -> tuple[str, ...]:
    """Plain English out of WordNet's definitions: nearly every word that there is, among others."""
    told = (re.sub(r'"[^"]*"|\([^)]*\)', "", gloss) for gloss in glosses())
    return tuple(sorted(sentences_among([part for gloss in told for part in re.split(CLAUSES, gloss)])))
