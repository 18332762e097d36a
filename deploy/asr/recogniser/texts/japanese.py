"""Japanese training text: kanji numerals, katakana names, readings where a synthesiser would guess wrong."""

from __future__ import annotations

import random
import re
from functools import cache
from pathlib import Path

from recogniser.texts.grammar import Rule, TextGrammar

HERE = Path(__file__).parent
DIGITS = "〇一二三四五六七八九"
READINGS = (
    ("ゼロ", "ゼロ", "レイ", "マル"), ("イチ",), ("ニ", "ニイ"), ("サン",), ("ヨン", "ヨン", "シ"), ("ゴ", "ゴー"),
    ("ロク",), ("ナナ", "ナナ", "シチ"), ("ハチ",), ("キュウ", "キュウ", "ク"),
)  # fmt: skip
LETTER_NAMES = (
    "エー ビー シー ディー イー エフ ジー エイチ アイ ジェー ケー エル エム エヌ オー ピー キュー アール エス "
    "ティー ユー ブイ ダブリュー エックス ワイ ゼット"
).split()
WORD_LISTS = (
    "food", "thing", "place", "animal", "subject", "weather", "timeword", "city", "product", "memo", "account",
    "merchant", "relation", "card", "bank",
)  # fmt: skip
HONORIFICS = ("", "さん", "さん", "様", "君", "ちゃん")
FOREIGN_UNITS = ("ドル", "ユーロ", "ポンド", "元", "ウォン", "米ドル")
_RUBY = re.compile("《([^:》]*):([^》]*)》")


def kanji_number(n: int) -> str:
    """Spell n >= 0 in kanji numerals with units: 12500 is 一万二千五百."""
    if n == 0:
        return "〇"
    out = ""
    for size, unit in ((10**8, "億"), (10**4, "万"), (1, "")):
        part, n = divmod(n, size)
        if part:
            out += below_myriad(part, grouped=bool(unit)) + unit
    return out


def below_myriad(n: int, *, grouped: bool) -> str:
    """1 to 9999; before 万 and 億 a thousand is 一千."""
    out = ""
    for size, unit in ((1000, "千"), (100, "百"), (10, "十")):
        part, n = divmod(n, size)
        if part:
            out += ("" if part == 1 and not (grouped and size == 1000) else DIGITS[part]) + unit
    return out + (DIGITS[n] if n else "")


def magnitude(rng: random.Random) -> int:
    """A whole number; small, round and odd ones alike."""
    kind = rng.random()
    if kind < 0.15:
        return rng.randint(1, 99)
    if kind < 0.3:
        return rng.randint(1, 9) * rng.choice((100, 1000, 10000, 100000))
    if kind < 0.45:
        return rng.randint(1, 99) * rng.choice((100, 1000, 10000))
    if kind < 0.6:
        return rng.randint(100, 999) * rng.choice((1, 10, 1000))
    return rng.randint(1000, 99999) if kind < 0.85 else rng.randint(10000, 9999999)


def num(rng: random.Random) -> str:
    """A whole number."""
    return kanji_number(magnitude(rng))


def between(low: int, high: int) -> Rule:
    """A rule that writes a number of a range."""
    return lambda rng: kanji_number(rng.randint(low, high))


def yen(rng: random.Random) -> str:
    """An amount in yen."""
    return rng.choice(("千円", "一万円", "半額", "全額")) if rng.random() < 0.04 else num(rng) + "円"


def fx(rng: random.Random) -> str:
    """An amount in another currency."""
    unit = rng.choice(FOREIGN_UNITS)
    if rng.random() < 0.2:
        return f"{kanji_number(rng.randint(1, 99))}点《五:ご》{unit}"
    return num(rng) + unit


def digits_of(length: int, rng: random.Random) -> str:
    """A digit string, read digit by digit."""
    style = [rng.choice(r) for r in READINGS]
    found = [rng.randint(0, 9) for _ in range(length)]
    cut = rng.choice((0, 0, 3, 4))
    pause = [cut and i % cut == cut - 1 and i < length - 1 for i in range(length)]
    spoken = "".join(style[d] + ("、" if stop else "") for d, stop in zip(found, pause, strict=True))
    return f"《{''.join(DIGITS[d] for d in found)}:{spoken}》"


def digits(rng: random.Random) -> str:
    """Digits of accounts, branches, cards."""
    return digits_of(rng.choice((2, 3, 3, 4, 4, 4, 5, 6, 7, 7, 8)), rng)


def letters(rng: random.Random) -> str:
    """Names of Latin letters in katakana."""
    return "".join(rng.choice(LETTER_NAMES) for _ in range(rng.randint(1, 4)))


def pseudo(rng: random.Random) -> str:
    """An invented word of two to five morae."""
    morae = grammar().words["morae"]
    out = rng.choice(morae)
    for _ in range(rng.randint(1, 4)):
        out += rng.choice(morae) if out[-1] in "ッンー" else rng.choice(("ン", "ッ", "ー", *morae[:70], *morae))
    return out.rstrip("ッ")


def full(rng: random.Random) -> str:
    """Family and given name."""
    return grammar().expand("{foreign}" if rng.random() < 0.15 else "{surnames}{given}", rng)


def company(rng: random.Random) -> str:
    """A company."""
    form = rng.choices(
        ("{companykanji}", "株式会社{stem}", "{stem}{company_end}"),
        (0.25, 0.15, 0.6),
    )[0]
    return grammar().expand(form, rng)


def person(rng: random.Random) -> str:
    """A person with or without an honorific."""
    form = rng.choice(("{surnames}", "{full}", "{surnames}", "{given}", "{pseudo}"))
    return grammar().expand(form, rng) + rng.choice(HONORIFICS)


def payee(rng: random.Random) -> str:
    """Whom money goes to."""
    kind = rng.random()
    return person(rng) if kind < 0.65 else company(rng) if kind < 0.85 else grammar().expand("{relation}", rng)


def fulldate(rng: random.Random) -> str:
    """A date with its year, Western or Japanese."""
    era = rng.choice(("昭和", "平成", "令和"))
    year = rng.choice((kanji_number(rng.randint(1940, 2035)), era + kanji_number(rng.randint(2, 63))))
    return f"{year}年{kanji_number(rng.randint(1, 12))}月{kanji_number(rng.randint(1, 31))}日"


@cache
def words() -> tuple[str, ...]:
    """Single words of all lists."""
    return tuple(w for name in WORD_LISTS for w in grammar().lists[name])


def word(rng: random.Random) -> str:
    """A word of any list, or an invented one."""
    return rng.choice(words()) if rng.random() < 0.8 else pseudo(rng)


def opener(rng: random.Random) -> str:
    """What comes before a command, a quarter of the time."""
    return rng.choice(grammar().lists["opener"]) if rng.random() < 0.25 else ""


@cache
def grammar() -> TextGrammar:
    """The Japanese grammar with all its rules."""
    named = (num, yen, fx, digits, letters, pseudo, full, company, person, payee, fulldate, word)
    rules: dict[str, Rule] = {rule.__name__: rule for rule in named} | {
        "op": opener,
        "surname": lambda rng: grammar().expand("{surnames}", rng),
        "digit1": lambda rng: digits_of(1, rng),
        "monthno": between(1, 12),
        "dayno": between(1, 31),
        "payday": between(1, 28),
        "some": between(1, 12),
        "minutes": between(1, 59),
        "count": between(1, 10),
        "age": between(1, 110),
        "floor": between(1, 60),
    }
    return TextGrammar(HERE / "ja.yaml", rules)


def finish(raw: str, rng: random.Random) -> tuple[str, str]:
    """(transcript without marks, text for the synthesiser with readings put in)."""
    spoken = _RUBY.sub(r"\2", raw).replace("〇", "ゼロ") + rng.choice(("", "", "。", "？"))
    return _RUBY.sub(r"\1", raw), spoken


def kana(spoken: str) -> str:
    """Katakana of a text, a space between phrases, for voices that read kana alone."""
    import pyopenjtalk

    read = pyopenjtalk.run_frontend(spoken)
    return "".join(
        " " * (word["chain_flag"] == 0 and word["pron"] not in "、？！") + word["pron"] for word in read
    ).strip()
