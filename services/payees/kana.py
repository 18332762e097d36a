"""Japanese readings: one strict key that tells people apart, one loose romaji that finds them, and their phones."""

import re
from functools import lru_cache
from typing import Final

from services.payees.phones import code

LONG: Final = "ー"
"""What stands for a long vowel in a strict key."""
_ROWS: Final = {
    "": "アイウエオ",
    "k": "カキクケコ",
    "s": "サ_スセソ",
    "t": "タ__テト",
    "n": "ナニヌネノ",
    "h": "ハヒ_ヘホ",
    "m": "マミムメモ",
    "y": "ヤ_ユ_ヨ",
    "r": "ラリルレロ",
    "w": "ワ___ヲ",
    "g": "ガギグゲゴ",
    "z": "ザ_ズゼゾ",
    "d": "ダ__デド",
    "b": "バビブベボ",
    "p": "パピプペポ",
}
_ROMAJI: Final[dict[str, str]] = {
    kana: row + vowel for row, line in _ROWS.items() for kana, vowel in zip(line, "aiueo", strict=True) if kana != "_"
} | {"シ": "shi", "チ": "chi", "ツ": "tsu", "フ": "fu", "ジ": "ji", "ヂ": "ji", "ヅ": "zu", "ヴ": "vu", "ン": "n"}
_SMALL: Final = {"ャ": "a", "ュ": "u", "ョ": "o", "ァ": "a", "ィ": "i", "ゥ": "u", "ェ": "e", "ォ": "o", "ヮ": "a"}
_LARGE: Final = str.maketrans("ャュョッァィゥェォヮヵヶヂヅヲヰヱ", "ヤユヨツアイウエオワカケジズオイエ")
_LONG: Final = re.compile("([アカサタナハマヤラワガザダバパ])[アー]|([イキシチニヒミリギジビピ])[イー]"
                          "|([ウクスツヌフムユルグズブプヴ])[ウー]|([エケセテネヘメレゲゼデベペ])[イエー]"
                          "|([オコソトノホモヨロゴゾドボポ])[ウオー]")  # fmt: skip

_RESPELL: Final = (
    (re.compile(r"[āâ]"), "aa"),
    (re.compile(r"[īî]"), "ii"),
    (re.compile(r"[ūû]"), "uu"),
    (re.compile(r"[ēê]"), "ee"),
    (re.compile(r"[ōô]"), "ou"),
)
_FOLDS: Final = (
    (re.compile(r"oh(?![aiueo])"), "o"),
    (re.compile(r"(?<![sc])sy|(?<![sc])si(?=[aou])"), "sh"),
    (re.compile(r"jy|zy"), "j"),
    (re.compile(r"ty|cy"), "ch"),
    (re.compile(r"si"), "shi"),
    (re.compile(r"ti"), "chi"),
    (re.compile(r"tu"), "tsu"),
    (re.compile(r"hu"), "fu"),
    (re.compile(r"zi|di"), "ji"),
    (re.compile(r"du|dzu"), "zu"),
    (re.compile(r"m(?=[bpm])"), "n"),
    (re.compile(r"tch|cch"), "ch"),
    (re.compile(r"([kstnhmrgzdbpf])\1"), r"\1"),
    (re.compile(r"ssh"), "sh"),
)
_LONG_VOWELS: Final = re.compile(r"o[uo]+|uu+|e[ie]+|ii+|aa+")
_SYLLABLES: Final = re.compile(r"(?:(?:[kgnhbpmr]y|sh|ch|ts|[kstnhmyrwgzdbpfj])?[aiueo]|n)+")
_SOUNDS: Final = re.compile("sh|ch|ts|[a-z]")
_PHONES_OF: Final = (
    {"sh": "SH", "ch": "CH", "ts": "T S", "j": "JH", "f": "F", "h": "HH", "y": "Y", "r": "R", "w": "W", "v": "B"}
    | {"k": "K", "s": "S", "t": "T", "n": "N", "m": "M", "g": "G", "z": "Z", "d": "D", "b": "B", "p": "P"}
    | {"a": "AA", "i": "IY", "u": "UW", "e": "EH", "o": "OW"}
)


@lru_cache(maxsize=65_536)
def strict(katakana: str) -> str:
    """The key two people share only if they sound the same: サトウ, サトオ and サトー → サトー; オノ stays オノ."""
    return _LONG.sub(
        lambda m: (m[1] or m[2] or m[3] or m[4] or m[5]) + LONG, katakana.replace(" ", "").translate(_LARGE)
    )


def _spell(katakana: str) -> str:
    parts: list[str] = []
    for kana in katakana:
        small = _SMALL.get(kana)
        if small and parts:
            parts[-1] = _contract(parts[-1], kana, small)
        elif kana in _ROMAJI:
            parts.append(_ROMAJI[kana])
    return "".join(parts)


def _contract(before: str, kana: str, vowel: str) -> str:
    """キ + ャ → kya, シ + ャ → sha, フ + ァ → fa, ウ + ィ → wi."""
    stem = before[:-1]
    if kana in "ャュョ" and before.endswith("i"):
        return stem + vowel if stem in {"sh", "ch", "j"} else stem + "y" + vowel
    return ("w" if before == "u" else stem) + vowel


def fold_romaji(word: str) -> str:
    """Every common spelling of a romanised name to one: satou, satoh, sato → sato; hujii → fuji."""
    for pattern, plain in _FOLDS:
        word = pattern.sub(plain, word)
    return _LONG_VOWELS.sub(lambda m: m[0][0], word)


@lru_cache(maxsize=65_536)
def romaji(katakana: str) -> str:
    """The folded romaji of a reading: サトウ → sato, シンイチ → shinichi."""
    return _LONG_VOWELS.sub(lambda m: m[0][0], _spell(katakana))


@lru_cache(maxsize=16_384)
def romaji_of_latin(word: str) -> str:
    """The folded romaji of a Latin word, or "" when it can't be Japanese."""
    for pattern, plain in _RESPELL:
        word = pattern.sub(plain, word)
    folded = fold_romaji(word)
    return folded if _SYLLABLES.fullmatch(folded) else ""


@lru_cache(maxsize=65_536)
def phones(folded: str) -> str:
    """The phones (see `phones.code`) of a folded romaji."""
    return "".join(code(phone) for sound in _SOUNDS.findall(folded) for phone in _PHONES_OF.get(sound, "").split())
