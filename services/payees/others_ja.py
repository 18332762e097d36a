"""Somebody else's relation in Japanese: 「妹の弟」, 「田中さんの息子」 are nobody of the caller's."""

import re
from functools import lru_cache
from typing import Final

from services.payees import kanji
from services.payees.data import fold_word, japanese_finder, relations_written, relationship_words
from services.payees.fold import KANJI, has_kanji

_OF: Final = "の"
_OWNER: Final = re.compile(f"(?:(?P<name>[{KANJI}ァ-ヺー]{{2,8}})|(?:^|[、。 ])(?P<kana>[ぁ-ゖー]{{3,6}})){_OF}$")
"""A name in hiragana is one only where an utterance, or a part of it, begins: else no one knows where it begins."""
_NAME: Final = re.compile(f"[{KANJI}ァ-ヺー]+$")
_FURTHER: Final = 2
"""Owners that one after the other tell whose a named one is: 「友達の妹の花子」."""
_LONGEST: Final = 40
"""Characters before a name in which its owners stand."""


def others(text: str, start: int, end: int) -> tuple[int, int] | None:
    """Where somebody else's relation is named around `start` … `end`, the owners with it; None if it is no such.

    A relation that somebody has is not the caller's, and a name behind two owners is not the first one's relation.
    """
    before, behind = _patterns()
    ahead = behind.match(text, end)
    end = ahead.end("relation") if ahead is not None else end
    last = begin = max(start, text.rfind(_OF, start, end - 1) + 1)
    owners = 0
    while (found := before.search(text, max(0, begin - _LONGEST), begin)) is not None:
        owners, begin = owners + 1, found.start()
        if found["honorific"] and (named := _NAME.search(text, max(0, begin - _LONGEST), begin)) is not None:
            begin = named.start()
    named = None if owners else _OWNER.search(text, max(0, begin - _LONGEST), begin)
    if named is not None and _anybody(named["name"] or named["kana"]):
        owners, begin = 1, named.start()
    enough = 1 if fold_word(text[last:end]) in relationship_words() else _FURTHER
    return (min(start, begin), end) if ahead is not None or owners >= enough else None


def _anybody(name: str) -> bool:
    """Whether a word may be a person's name, and is none of the caller's own words for themselves."""
    rules = japanese_finder()
    if f"{name}{_OF}" in rules.own or name in rules.no_owners or name in rules.own_kana:
        return False
    if _fillers().fullmatch(f"{name}{_OF}"):  # 「えーとあの妹」
        return False
    return not has_kanji(name) or bool(kanji.readings(name, {}))


@lru_cache(maxsize=1)
def _fillers() -> re.Pattern[str]:
    """Words that belong to no name."""
    return re.compile(f"(?:{'|'.join(map(re.escape, japanese_finder().carriers))})+")


@lru_cache(maxsize=1)
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Whoever has a relation, with the の behind (「鈴木さんとこの」), and a relation that is paid, behind a name."""
    rules = japanese_finder()
    related = {*relations_written(), *rules.owners} - {*rules.no_owners}
    owner, honorific, place, paid = (
        "|".join(map(re.escape, sorted(each, key=len, reverse=True)))
        for each in (related, rules.honorifics, rules.owners_places, rules.payee_particles)
    )
    before = f"(?:(?:{owner})(?:{honorific})?|(?P<honorific>{honorific}))(?:{place})?{_OF}$"
    behind = f"(?:{honorific})?(?:{place})?{_OF}(?P<relation>{owner})(?=(?:{honorific})?(?:{paid}))"
    return re.compile(before), re.compile(behind)
