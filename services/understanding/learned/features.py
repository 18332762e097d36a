"""What the learned reader sees of an utterance: its words in pieces, values and names masked, each piece hashed."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Final
from zlib import crc32

from schemas.ids import RuleId
from schemas.intent import Annotation
from schemas.span import SpanKind

BUCKETS: Final = 1 << 14
"""Places that pieces are hashed to, in each language."""
MAX_PIECES: Final = 600
"""Pieces of one utterance that are looked at, at most."""
_MASKS: Final = {SpanKind.MONEY: "#", SpanKind.NUMBER: "#", SpanKind.DATE: "@", SpanKind.TIME: "@"}
_OTHER: Final = "%"
_NAME: Final = "&"
_WORD: Final = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?|[#@&%?]")
_SILENT: Final = re.compile(r"[\s、。，．,.!！「」]+")
_LONGEST_JA: Final = 4
_PARTS: Final = (3, 4)
"""Lengths of parts of words, in characters."""


def features(heard: Annotation, vetoes: Iterable[RuleId], *, spaced: bool) -> list[int]:
    """The buckets of the pieces, each once. `vetoes` are those that the rules met."""
    text = masked(heard)
    pieces = set(_words(text) if spaced else _characters(text))
    pieces.update(f"veto {veto}" for veto in vetoes)
    kept = sorted(pieces)[:MAX_PIECES]
    return sorted({crc32(piece.encode(errors="surrogatepass")) % BUCKETS for piece in kept})


def masked(heard: Annotation) -> str:
    """The text in small letters, with a sign in place of every value and of the payee that was found."""
    text, match = heard.transcript.text, heard.payees
    places = [(span.start, span.end, _MASKS.get(span.kind, _OTHER)) for span in heard.spans]
    if match is not None and match.end > match.start:
        places.append((match.start, match.end, _NAME))
    made, at = [], 0
    for start, end, sign in sorted(places):
        if start >= at:
            made.append(f"{text[at:start]} {sign} ")
            at = end
    return unicodedata.normalize("NFKC", "".join(made) + text[at:]).casefold()


def _words(text: str) -> Iterator[str]:
    """One to three words in a row, and parts of words."""
    words = ["^", *_WORD.findall(text.replace("’", "'")), "$"]
    for at in range(len(words)):
        for size in (1, 2, 3):
            if at + size <= len(words):
                yield " ".join(words[at : at + size])
    for word in words:
        padded = f"<{word}>"
        for size in _PARTS:
            yield from (f"~{padded[at : at + size]}" for at in range(len(padded) - size + 1))


def _characters(text: str) -> Iterator[str]:
    """One to four characters in a row."""
    said = f"^{_SILENT.sub('', text)}$"
    for size in range(1, _LONGEST_JA + 1):
        yield from (said[at : at + size] for at in range(len(said) - size + 1))
