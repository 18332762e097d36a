"""Folding text until spellings of one name are one string: width, case, accents, variant kanji, kana, romaji."""

import re
import unicodedata
from functools import lru_cache
from typing import Final

from rules.kanji import kanji_variants
from schemas.kana import TO_KATAKANA

_LETTERS: Final = str.maketrans(
    {"đ": "d", "ð": "d", "ł": "l", "ø": "o", "ß": "ss", "æ": "ae", "œ": "oe", "þ": "th", "ı": "i", "ŋ": "ng"}
)
_SILENT: Final = dict.fromkeys(map(ord, "'’ʼ`ʻ"))
_BREAKS: Final = dict.fromkeys(map(ord, '.,-_/\\"“”()[]{}:;!?~*#|<>=@、。，．・‐–—−「」『』（）［］＆＝'), " ")
_NOT_WORD: Final[dict[int, str | int | None]] = {**_SILENT, **_BREAKS, ord("&"): " and ", ord("+"): " and "}
KANJI: Final = r"一-鿿㐀-䶿々〆ヶ𠀀-𪛟"
_KANJI: Final = re.compile(f"[{KANJI}]")
_JAPANESE: Final = re.compile(f"[{KANJI}ぁ-ゖァ-ヺー]")
_MARKS: Final = re.compile("[̀-ͯ]")


def has_kanji(text: str) -> bool:
    """Whether any character is a kanji."""
    return _KANJI.search(text) is not None


def is_japanese(text: str) -> bool:
    """Whether any character is kana or kanji."""
    return not text.isascii() and _JAPANESE.search(text) is not None


@lru_cache(maxsize=2)
def _japanese_table(brackets: bool) -> dict[int, str | int | None]:
    """One table for all that NFKC leaves: variant kanji, hiragana, punctuation (brackets kept where asked)."""
    table: dict[int, str | int | None] = {**_NOT_WORD, **TO_KATAKANA, **kanji_variants()}
    return {key: value for key, value in table.items() if not (brackets and chr(key) in "()")}


def words(text: str) -> list[str]:
    """Latin words, lower case, without accents and punctuation: "O'Brien-Łęcki, J." → obrien lecki j."""
    if not text.isascii():
        text = unicodedata.normalize("NFKD", text.lower().translate(_LETTERS))
        text = _MARKS.sub("", text)
    elif text.replace(" ", "").isalpha():
        return text.lower().split()
    return text.lower().translate(_NOT_WORD).split()


def japanese(text: str, *, brackets: bool = False) -> str:
    """Width and variant kanji folded, hiragana to katakana, punctuation to spaces: "髙﨑 さくら" → "高崎 サクラ"."""
    if not unicodedata.is_normalized("NFKC", text):
        text = unicodedata.normalize("NFKC", text)
    return " ".join(text.translate(_japanese_table(brackets)).split())
