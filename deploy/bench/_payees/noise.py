"""A telephone and a recogniser in place of real ones: a name goes in, an n-best list comes out.

English: the phones are garbled by how alike they sound, then written with words of near sound that a recogniser knows
(not all names are among them, and long ones may come out as two words). Japanese: the moras are garbled in the ways
telephones garble them, then perhaps pulled to a known name, and written in katakana, hiragana or kanji of the sound.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
from rapidfuzz import process
from rapidfuzz.distance import Levenshtein

from deploy.bench._payees.dice import Dice
from schemas.kana import TO_HIRAGANA
from services.payees import kanji, phones
from services.payees.forms import keys

_KINDS: Final = ("P1", "P2", "T1", "T2", "K1", "K2", "F1", "F2", "F3", "S1", "S2", "S3", "C1", "C2", "N1", "N2", "N3")
_ALL: Final = (*_KINDS, "L1", "L2", "W1", "Y1", "H1", "Vi", "Vj", "VE", "Ve", "Vv", "Va", "Vo", "Vx", "Vu", "Vy", "Vw")
_MORAS: Final = (
    "カガキギクグケゲコゴサザスズセゼソゾタダテデトドハバヒビヘベホボパバマナミニムヌ"
    "メネモノラダリディレデロドシヒシチチキユヨ"
)
_LOST: Final = "ウッー"
_ADDED: Final = "ウンー"
_KNOWN_WORDS: Final = 7_000
_WORD_LENGTHS: Final = range(3, 9)
_NEAREST: Final = 24
_LONG: Final = 10
"""Characters of sound (two a phone) from which a word may come out as two."""
_ALIKE: Final = 0.7
"""How many wrong phones are of the right class."""
_SPLIT_AGAIN: Final = 0.7
_SPLIT_UNKNOWN: Final = 0.5
_AS_HEARD: Final = 0.45
"""How many Japanese parts are written as heard, rather than as the nearest known name."""
_JOINED: Final = 0.7
_VARIED: Final = 0.5


@dataclass(frozen=True, slots=True)
class LineNoise:
    """How bad a telephone line is. Rates are per phone or mora; `unknown` names are not in the recogniser's words."""

    substitute: float = 0.03
    delete: float = 0.01
    insert: float = 0.006
    unknown: float = 0.09
    sharpness: float = 2.3
    """How strongly the recogniser prefers the nearer word, in nats per wrong phone."""
    split: float = 0.08


DEVELOPMENT: Final = LineNoise()
ACCEPTANCE: Final = LineNoise(substitute=0.036, delete=0.012, insert=0.008, unknown=0.07, sharpness=2.1, split=0.06)


class NoisyRecogniser:
    """Words it knows, by sound."""

    def __init__(self, names: Sequence[str], dice: Dice) -> None:
        lexicon = sorted(word for word in phones.lexicon() if len(word) in _WORD_LENGTHS)
        common = dice.some(lexicon, _KNOWN_WORDS)
        called = dict.fromkeys(names)
        self.words = [*(called | dict.fromkeys(common))]
        self.sounds = [keys(word).sounds[0] for word in self.words]
        self.prior = [0.0 if place < len(called) else -2.5 for place in range(len(self.words))]

    @lru_cache(maxsize=20_000)  # noqa: B019 - lives as long as the benchmark
    def near(self, sound: str) -> tuple[tuple[int, float], ...]:
        """The words nearest to a sound, with their distance in phones."""
        scores = process.cdist([sound], self.sounds, scorer=Levenshtein.distance, score_cutoff=len(sound))[0]
        order = np.argsort(scores, kind="stable")[:_NEAREST]
        return tuple((int(place), float(scores[place]) / 2.0) for place in order)

    def write(self, sound: str, banned: str, line: LineNoise, dice: Dice) -> tuple[str, float]:
        """A word for a sound, drawn by likelihood; its score."""
        best, found = -1e9, ""
        for place, distance in self.near(sound):
            if self.words[place] == banned:
                continue
            score = -line.sharpness * 2 * distance + self.prior[place] + dice.gumbel()
            if score > best:
                best, found = score, self.words[place]
        return found, best


def garble(sound: str, line: LineNoise, dice: Dice) -> str:
    """Phones through the line."""
    heard: list[str] = []
    for at in range(0, len(sound), 2):
        phone, luck = sound[at : at + 2], dice.luck()
        if luck < line.delete:
            continue
        if luck < line.delete + line.substitute:
            alike = [other for other in _ALL if other[0] == phone[0] and other != phone]
            phone = dice.one(alike if alike and dice.chance(_ALIKE) else _ALL)
        heard.append(phone)
        if dice.chance(line.insert):
            heard.append(dice.one(_ALL))
    return "".join(heard) or sound


def english(parts: Sequence[str], recogniser: NoisyRecogniser, line: LineNoise, dice: Dice, size: int = 4) -> list[str]:
    """The n-best list of a Latin name."""
    heard = [garble(dice.one(keys(part).sounds[:2]), line, dice) for part in parts]
    banned = [part if dice.chance(line.unknown) else "" for part in parts]
    splits = [
        len(s) >= _LONG and dice.chance(_SPLIT_UNKNOWN if b else line.split) for s, b in zip(heard, banned, strict=True)
    ]
    drawn: dict[str, float] = {}
    for _ in range(size * 4):
        words, total = [], 0.0
        for sound, ban, split in zip(heard, banned, splits, strict=True):
            cut = 2 * (2 + dice.below(len(sound) // 2 - 3)) if split and dice.chance(_SPLIT_AGAIN) else 0
            for piece in (sound[:cut], sound[cut:]) if cut else (sound,):
                word, score = recogniser.write(piece, ban, line, dice)
                words.append(word)
                total += score
        text = " ".join(words)
        drawn[text] = max(total, drawn.get(text, -1e9))
    return sorted(drawn, key=lambda text: -drawn[text])[:size]


@lru_cache(maxsize=1)
def _kanji_of() -> dict[str, tuple[str, ...]]:
    table: dict[str, list[str]] = {}
    for written, readings in (*kanji.surnames().items(), *kanji.givens().items()):
        for reading in readings:
            table.setdefault(reading, []).append(written)
    return {reading: tuple(forms) for reading, forms in table.items()}


def garble_kana(reading: str, line: LineNoise, dice: Dice) -> str:
    """Moras through the line: voicing, long vowels, doubled consonants, and now and then another mora."""
    heard: list[str] = []
    for kana in reading:
        luck, place = dice.luck(), _MORAS.find(kana)
        wrong = luck < line.delete + line.substitute
        if (luck < line.delete and heard) or (not wrong and luck < line.delete + 2 * line.substitute and kana in _LOST):
            continue
        heard.append(_MORAS[min(place ^ 1, len(_MORAS) - 1)] if wrong and place >= 0 else kana)
        if dice.chance(line.insert):
            heard.append(dice.one(_ADDED))
    return "".join(heard) or reading


def japanese(parts: Sequence[str], known: Sequence[str], line: LineNoise, dice: Dice, size: int = 4) -> list[str]:
    """The n-best list of a Japanese name: katakana, hiragana or kanji."""
    once = [garble_kana(part, line, dice) for part in parts]
    style = dice.weighted(("katakana", "kanji", "hiragana"), (6, 3, 1))
    gap = "" if dice.chance(_JOINED) else " "
    found: dict[str, None] = {}
    for attempt in range(size * 3):
        again = [garble_kana(part, line, dice) if attempt and dice.chance(_VARIED) else part for part in once]
        words = [_pulled(part, known, dice) for part in again]
        found.setdefault(_written(words, style, gap, dice))
        if len(found) == size:
            break
    return list(found)


def _pulled(reading: str, known: Sequence[str], dice: Dice) -> str:
    """The reading itself, or the known name nearest to it."""
    if dice.chance(_AS_HEARD):
        return reading
    near = process.extract(reading, known, scorer=Levenshtein.distance, limit=3)
    return str(dice.one([name for name, distance, _ in near if distance <= near[0][1]]))


def _written(words: Sequence[str], style: str, gap: str, dice: Dice) -> str:
    if style == "kanji":
        return "".join(dice.one(_kanji_of().get(word, (word,))[:6]) for word in words)
    text = gap.join(words)
    return text if style == "katakana" else text.translate(TO_HIRAGANA)
