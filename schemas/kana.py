"""Kana in its two scripts: what turns one into the other, for `str.translate`."""

from typing import Final

TO_HIRAGANA: Final = {code: code - 0x60 for code in range(ord("ァ"), ord("ヶ") + 1)}
TO_KATAKANA: Final = {hiragana: katakana for katakana, hiragana in TO_HIRAGANA.items()}
