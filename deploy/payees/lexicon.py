"""Build rules/payees/lexicon.xz from the raw CMU pronouncing dictionary (BSD-2-Clause, cmusphinx/cmudict).

    python deploy/payees/lexicon.py cmudict-en-us.dict

Kept: one pronunciation for each plain word of 2–9 letters that spelling rules get wrong; dropped: what no name and no
fragment of a misheard name looks like (long words, regular inflections).
"""

import lzma
import re
import sys
from pathlib import Path

from services.payees import phones

TARGET = Path(__file__).parents[2] / "rules/payees/lexicon.xz"
INFLECTED = re.compile(r"(ing|ings|ed|ness|ly|tion|tions|ment|ments|able|ists?|isms?)$")
LENGTHS = range(2, 10)
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def entries(lines: list[str]) -> dict[str, list[str]]:
    """Word → phones of its first pronunciation, for the words worth keeping."""
    found: dict[str, list[str]] = {}
    for line in lines:
        head, *sounds = line.split()
        word = re.sub(r"['.\-]", "", head)
        if not (word.isascii() and word.isalpha() and len(word) in LENGTHS) or INFLECTED.search(word):
            continue
        if phones.by_letters(word) != "".join(phones.code(p) for p in sounds):
            found.setdefault(word, sounds)
    return found


def main(source: Path) -> None:
    """Write the lexicon: identity, notice, the letter of each phone, then one word a line."""
    found = entries(source.read_text(encoding="utf-8").splitlines())
    names = sorted({phone for sounds in found.values() for phone in sounds})
    letter = dict(zip(names, LETTERS, strict=False))
    head = [
        "#payees.lexicon@1",
        "# From the CMU Pronouncing Dictionary, (C) 1993-2015 Carnegie Mellon University, BSD-2-Clause: NOTICE.md",
        " ".join(f"{letter[name]}={name}" for name in names),
    ]
    body = [f"{word} {''.join(letter[p] for p in found[word])}" for word in sorted(found)]
    text = "\n".join((*head, *body)).encode()
    TARGET.write_bytes(lzma.compress(text, preset=9 | lzma.PRESET_EXTREME))
    print(f"{len(found)} words, {TARGET.stat().st_size} bytes")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
