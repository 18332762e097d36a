"""Digit strings: account and card numbers, phones, codes, as spoken ("double oh seven") or written in groups."""

from dataclasses import dataclass
from typing import Final

from schemas.span import Ambiguity, SpanKind
from services.normalization.cardinals import HUNDRED, spoken_pair
from services.normalization.scan import Match, Scan

MAX_DIGITS: Final = 40
"""Digits in one string; a longer one is no number anybody has."""

_LONG: Final = 9
"""A written run of at least this many digits is a string, not a quantity."""

_GROUPED: Final = 7
"""Digits that groups joined by hyphens or dots need in order to be one string."""

_LISTED: Final = 4
"""Digits that commas may separate only within a string of at least this many."""


_SEPARATORS: Final = frozenset({",", "-", "、"})

_SIDE_BY_SIDE: Final = 3
"""Groups of digits with spaces between them that make a string even without a phrase that announces one."""


@dataclass(slots=True)
class _Run:
    """The string so far."""

    digits: str = ""
    end: int = 0
    words: int = 0  # tokens that were spoken digits
    pairs: int = 0  # groups said as one number (forty one)
    commas: int = 0
    groups: int = 0  # written groups

    def add(self, digits: str, end: int, *, words: int = 0, pairs: int = 0) -> None:
        """Append a group that ends before the token `end`."""
        self.digits += digits
        self.end = end
        self.words += words
        self.pairs += pairs


def find_digits(scan: Scan, at: int) -> Match | None:
    """The digit string at a place."""
    context = scan.in_context == at
    token = scan.tokens[at]
    written = token.numeral is not None or token.text in "+("
    run = _written(scan, at, context) if written else _spoken(scan, at, context)
    if run is None or not run.digits:
        return None
    if len(run.digits) > MAX_DIGITS:
        return Match(SpanKind.DIGITS, "", at, run.end, "digits.too_long", silent=True)
    loose = run.pairs and not context
    return Match(
        SpanKind.DIGITS, run.digits, at, run.end, "digits.written" if written else "digits.spoken",
        Ambiguity.GROUPING if loose else None,
    )  # fmt: skip


def _spoken(scan: Scan, at: int, context: bool) -> _Run | None:
    run = _Run(end=at)
    while _step(scan, run, context):
        pass
    if run.commas and len(run.digits) < _LISTED and not context:
        return None
    if run.pairs and not context and run.pairs + run.words < _SIDE_BY_SIDE:
        return None
    one_group = run.pairs == 1 and run.words == 0
    return run if len(run.digits) > 1 and not one_group else None


def _step(scan: Scan, run: _Run, context: bool) -> bool:
    """Take the next group, over a comma if a group follows it."""
    at = run.end
    comma = bool(run.digits) and (scan.text(at) in _SEPARATORS or (context and scan.words[at].of))
    at += comma
    if not _take(scan, run, at, context):
        return False
    run.commas += comma
    return True


def _take(scan: Scan, run: _Run, at: int, context: bool) -> bool:
    """Take the group at a place: a digit, a repeated one, a number below a hundred, written digits."""
    word, language = scan.words[at], scan.style.language
    if word.repeat is not None and (digit := scan.words[at + 1].digit) is not None:
        run.add(digit * word.repeat, at + 2, words=word.repeat)
        return True
    loose = language.joins_digits or context or scan.glued(at) or not run.digits
    if word.digit is not None and loose and scan.words[at + 1].scale is None:
        run.add(word.digit, at + 1, words=1)
        return True
    if language.pairs and (_group(scan, run, at) or _round(scan, run, at)):
        return True
    numeral = scan.tokens[at].numeral if at < len(scan.tokens) else None
    if numeral is None or not context or not run.digits or not numeral.text.isdigit():
        return False
    run.add(numeral.text, at + 1)
    return True


def _group(scan: Scan, run: _Run, at: int) -> bool:
    """A group said as a number below a hundred: "forty one eleven"."""
    pair = spoken_pair(scan, at)
    if pair is None or scan.words[pair[1]].scale is not None:
        return False
    run.add(str(pair[0]), pair[1], pairs=1)
    return True


def _round(scan: Scan, run: _Run, at: int) -> bool:
    """A round hundred that more digits follow: "one eight hundred five five five …"."""
    digit, scale = scan.words[at].digit, scan.words[at + 1].scale
    if digit is None or scale is None or scale.value != HUNDRED:
        return False
    if any(scan.words[at + 2 + k].digit is None and scan.words[at + 2 + k].repeat is None for k in range(_LISTED)):
        return False
    run.add(digit + "00", at + 2, words=1)
    return True


def _written(scan: Scan, at: int, context: bool) -> _Run | None:
    """Groups of written digits: "+45 12 34 56 78", "650-701-8887", "(+1) 650-701-8887"."""
    run = _Run(end=at)
    opened = scan.text(at) == "("
    plus = scan.text(at + 1 if opened else at) == "+"
    start = at + opened + plus
    token = scan.tokens[start] if start < len(scan.tokens) else None
    if token is None or token.numeral is None or scan.labelled(start):
        return None
    spaces = context or plus or token.text.startswith("0") or _several(scan, start)
    if not _groups(scan, run, start, spaces=spaces, close=opened):
        return None
    if plus or context or token.numeral.shape == "string":
        return run if len(run.digits) > 1 else None
    if run.groups == 1:
        leading = len(run.digits) > 1 and run.digits[0] == "0" and "." not in token.text
        return run if leading or (len(run.digits) >= _LONG and token.text.isdigit()) else None
    return run if len(run.digits) >= _GROUPED else None


def _several(scan: Scan, at: int) -> bool:
    """Whether three groups of plain digits stand side by side: "4111 1111 1111 1111"."""
    groups = [scan.tokens[k].numeral for k in range(at, min(at + _SIDE_BY_SIDE, len(scan.tokens)))]
    return len(groups) == _SIDE_BY_SIDE and all(g is not None and g.text.isdigit() for g in groups)


def _groups(scan: Scan, run: _Run, at: int, *, spaces: bool, close: bool) -> bool:
    while at < len(scan.tokens):
        token = scan.tokens[at]
        numeral = token.numeral
        if (
            numeral is None
            or numeral.shape in {"clock", "grouped"}
            or (numeral.whole is None and numeral.shape == "plain")
        ):
            break
        run.digits += numeral.digits
        run.groups += 1
        at = run.end = at + 1
        if close and scan.text(at) == ")":
            run.end = at = at + 1
            close, spaces = False, True
            at += scan.text(at) == "-"
            continue
        if spaces and scan.text(at) == "(" and scan.text(at + 2) == ")":
            at, close = at + 1, True
            continue
        if scan.text(at) == "-" and scan.glued(at) and scan.glued(at + 1):
            at += 1
        elif not spaces or scan.glued(at):
            break
    return run.groups > 0
