"""What stands around a number: names that must stay names, and phrases that announce a digit string."""

import re
import unicodedata
from typing import Final

from schemas.span import SpanKind
from services.normalization.scan import Match, Scan
from services.normalization.words import UNKNOWN

_MAX_FILLERS: Final = 6
_NAMED_LIKE: Final = frozenset({SpanKind.NUMBER, SpanKind.ORDINAL, SpanKind.DIGITS, SpanKind.DATE})
_TAILS: Final = range(2, 7)
_BEGUN: Final = re.compile("['’‘ʼʹ′`´·•˙_٬٫\u0300-\u036f\u20d0-\u20f0](?=\\d)|[‰‱\u202a-\u202e\u2066-\u2069]")
"""Behind a figure: what groups digits somewhere, and by no rule of ours (1'000), or has them drawn in another order."""


def context_after(scan: Scan, at: int) -> int:
    """Where the digit string announced at a place would start: behind "is", "ends in", commas."""
    at += 1
    for _ in range(_MAX_FILLERS):
        if not (scan.words[at].filler or scan.text(at) in {":", ",", "#"}):
            break
        at += 1
    return at


def tail_announced(scan: Scan, at: int) -> int:
    """Where the digits behind "last four" start; 0 where it announces none ("last four months")."""
    count = scan.words[at + 1].value
    if count is None and (numeral := scan.tokens[at + 1].numeral if at + 1 < len(scan.tokens) else None) is not None:
        count = numeral.whole
    if count not in _TAILS or scan.words[at + 2].scale is not None:
        return 0
    if scan.words[at + 2].of:
        return at + 2
    behind = context_after(scan, at + 2 if scan.words[at + 2].context else at + 1)
    return behind if scan.quantity(behind) or scan.words[behind].repeat is not None else 0


def cut_off(scan: Scan, found: Match) -> bool:
    """Whether a figure touches a sum, and no rule made anything of it: $5⁵⁰, $1'000, $5%. It is then nothing sure."""
    source, tokens = scan.folded.source, scan.tokens
    start, end = scan.folded.starts[tokens[found.start].start], scan.folded.ends[tokens[found.end - 1].end - 1]
    if tokens[found.end - 1].numeral is not None:
        begun = scan.words[found.end].percent is not None or _BEGUN.match(source, end) is not None
        if begun or _figure(source[end : end + 1]):
            return True
    elif _raised(source[end : end + 1]):
        return True
    before = source[start - 1 : start] if start and tokens[found.start].numeral is not None else ""
    goes_on = start > 1 and source[start - 2].isdigit() and _BEGUN.match(source, start - 1) is not None
    return _raised(before) or goes_on


def _figure(char: str) -> bool:
    """Whether a character is a figure, or drawn over the one before it."""
    return bool(char) and (char.isnumeric() or unicodedata.category(char).startswith("M"))


def _raised(char: str) -> bool:
    """Whether a character is a figure that stands in no row with others: ², ①, Ⅳ."""
    return bool(char) and unicodedata.category(char) in {"No", "Nl"}


def is_name(scan: Scan, found: Match) -> bool:
    """Whether what was found is part of a name or an idiom: "Mr Twenty", 鈴木一郎."""
    if scan.style.language.title_before:
        before = found.start - 2 if scan.text(found.start - 1) == "." else found.start - 1
        return scan.words[before].honorific or (found.kind is SpanKind.NUMBER and _capitalised(scan, found))
    if found.kind is SpanKind.MONEY or scan.tokens[found.end - 1].numeral is not None:
        return False
    after = scan.words[found.end]
    named = after.counter and not after.person and scan.words[found.end + 1].honorific
    return after.honorific or named or _inside_a_word(scan, found)


def _capitalised(scan: Scan, found: Match) -> bool:
    """A number word with a capital beside a capital that means nothing to us: Four Seasons, Capital One."""
    if not scan.capital(found.start) or not _mixed_case(scan):
        return False
    behind = scan.capital(found.end) and scan.words[found.end] is UNKNOWN
    before = scan.capital(found.start - 1) and scan.words[found.start - 1] is UNKNOWN and found.start > 1
    return behind or (before and found.end - found.start == 1 and scan.words[found.start].digit is not None)


def _mixed_case(scan: Scan) -> bool:
    """Whether capitals tell anything: not where every word has one."""
    return any(token.text[0].isalpha() and not scan.capital(at) for at, token in enumerate(scan.tokens))


def _inside_a_word(scan: Scan, found: Match) -> bool:
    """Kanji that means nothing to us right behind, or right before a lone numeral: 千田, 六本木, 一ノ瀬, 健三."""
    if found.kind not in _NAMED_LIKE or (found.kind is SpanKind.DATE and not found.rule.endswith("day_alone")):
        return False
    end = found.end
    if scan.glued(end) and (scan.words[end].counter or scan.words[end].name_link):
        end += 1
    if scan.glued(end) and _unknown_ideograph(scan, end):
        scale = scan.words[end - 1].scale if found.end - found.start > 1 else None
        name = scale is not None and scale.big and _unknown_ideograph(scan, end + 1)
        return not name  # 三万花子に, but 一万田さんに
    lone = found.end - found.start == 1 and not scan.words[found.end].counter
    return lone and scan.glued(found.start) and _unknown_ideograph(scan, found.start - 1)


def _unknown_ideograph(scan: Scan, at: int) -> bool:
    return scan.words[at] is UNKNOWN and "\u3400" <= scan.text(at)[:1] <= "\u9fff"
