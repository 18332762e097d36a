"""A name that is told in two places: 「健くんに三千円送って、佐藤のほう」, 「伊藤さんに一万円、北斗の」.

Where a name may be several people's, what stands alone in a later clause tells which of them, if it makes a whole name
with the first, or is one. Anybody who was not a candidate for the name alone is asked about as before.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from schemas.ids import language
from schemas.intent import Annotation, Understood
from schemas.payee import MatchOutcome, PayeeMatch
from services.understanding.correction.merging import said_in
from services.understanding.fast.ruleset.accounts import COUNTED
from services.understanding.fast.ruleset.grammar import grammar

_HONORIFIC: Final = "(?:さん|様|さま|くん|君|ちゃん|氏)?"
_LATER: Final = re.compile(
    "[、。,]\\s*(?:(?:あ|あの|えっと|えーと|その|ええ)[、,])?(?:あ|あっ)?"
    f"(?P<name>[一-鿿ァ-ヺー々]{{1,6}}?(?:の[一-鿿ァ-ヺー々]{{1,4}}?)?|[ぁ-ん]{{2,6}}?|[ぁ-んァ-ヺー一-鿿々]{{1,6}}?(?:銀行|信用金庫|信用組合|信金|バンク|農協)){_HONORIFIC}(?:の?(?:ほう|方|人|子|やつ)|の)?"
    "(?:なんです|なんだ|です|だ|や|じゃ|っす|で|に|な)*(?:けど|よ|ね|な|わ|さ|ねえ)*(?=[、。,]|$)"
)
_TITLE: Final = re.compile(f"{_HONORIFIC}$")
_MOST: Final = 3
"""Clauses that are looked at."""

Find = Callable[[str], PayeeMatch | None]
"""Who is meant by a text of its own."""
Told = Callable[[str, PayeeMatch], Understood]
"""What another text means, in which that payee is named."""


def called_in_two(heard: Annotation, found: Understood, find: Find, told: Told) -> Understood | None:
    """The order for the one whom both parts of the name tell; None where nothing is told of an open name."""
    match, text = heard.payees, heard.transcript.text
    if grammar(language(heard.transcript.locale)).spaced or match is None or match.outcome is not MatchOutcome.ASK:
        return None
    if found.consent is not None:
        return None
    first = _TITLE.sub("", match.heard, count=1)
    for later in list(_LATER.finditer(text, match.end))[:_MOST]:
        said = later["name"]
        place, _, given = said.partition("の")
        whole = said if first in said else f"{place}の{first}{given}"
        meant = find(f"{whole}さんに")
        if meant is None or meant.outcome is not MatchOutcome.CLEAR or meant.choice is None:
            continue
        if meant.choice not in {each.id for each in match.candidates}:
            continue
        start, end = later.span()
        plain = text[:start] + "、" * (end - start) + text[end:]
        named = replace(meant, start=match.start, end=match.end, heard=match.heard)
        order = said_in(told(plain, named), text)
        if order.intent in COUNTED and order.rule is not None and order.slots.payee is not None:
            return order
    return None
