"""Digit strings: account and card numbers, phones, codes, as spoken ("double oh seven") or written in groups."""

from dataclasses import dataclass
from typing import Final

from schemas.span import Ambiguity, SpanKind
from services.normalize.cardinals import spoken_pair
from services.normalize.scan import Match, Scan

MAX_DIGITS: Final = 40
"""Digits in one string; a longer one is no number anybody has."""

_LONG: Final = 9
"""A written run of at least this many digits is a string, not a quantity."""

_GROUPED: Final = 7
"""Digits that groups joined by hyphens or dots need in order to be one string."""

_LISTED: Final = 4
"""Digits that commas may separate only within a string of at least this many."""


@dataclass(slots=True)
class _Run:
    """The string so far."""

    digits: str = ""
    end: int = 0
    words: int = 0  # tokens that were spoken digits
    pairs: int = 0  # groups said as one number (forty one)
    commas: int = 0
    groups: int = 0  # written groups


def find_digits(scan: Scan, at: int) -> Match | None:
    """The digit string at a place."""
    context = scan.in_context == at
    token = scan.tokens[at]
    written = token.numeral is not None or token.text in "+("
    run = _written(scan, at, context) if written else _spoken(scan, at, context)
    if run is None or not run.digits or len(run.digits) > MAX_DIGITS:
        return None
    loose = run.pairs and not context
    return Match(
        SpanKind.DIGITS, run.digits, at, run.end, "digits.written" if written else "digits.spoken",
        Ambiguity.GROUPING if loose else None,
    )  # fmt: skip


def _spoken(scan: Scan, at: int, context: bool) -> _Run | None:
    run = _Run(end=at)
    while len(run.digits) <= MAX_DIGITS and _step(scan, run, context):
        pass
    if run.commas and len(run.digits) < _LISTED and not context:
        return None
    if run.pairs and not context and run.pairs + run.words < 3:  # noqa: PLR2004 - two groups are a pair, not a string
        return None
    enough = len(run.digits) >= 2 or (context and run.words + run.pairs > 0)  # noqa: PLR2004 - one digit is a number
    return run if enough else None


def _step(scan: Scan, run: _Run, context: bool) -> bool:
    """Take the next group, over a comma if a group follows it."""
    at, comma = run.end, 0
    if run.digits and scan.text(at) in {",", "-", "、", "の"} and not scan.text(at).isspace():
        if scan.text(at) == "の" and not context:
            return False
        at, comma = at + 1, 1
    word = scan.word(at)
    loose = scan.style.language.joins_digits or context or scan.glued(at) or not run.digits
    if word.repeat is not None and scan.word(at + 1).digit is not None:
        run.digits += (scan.word(at + 1).digit or "") * word.repeat
        run.words += word.repeat
        run.end = at + 2
    elif word.digit is not None and loose and scan.word(at + 1).scale is None:
        run.digits += word.digit
        run.words += 1
        run.end = at + 1
    elif scan.style.language.pairs and _group(scan, run, at):
        pass
    elif context and run.digits and scan.tokens[at].numeral is not None if at < len(scan.tokens) else False:
        numeral = scan.tokens[at].numeral
        run.digits += numeral.digits if numeral is not None else ""
        run.end = at + 1
    else:
        return False
    run.commas += comma
    return True


def _group(scan: Scan, run: _Run, at: int) -> bool:
    """A group said as a number below a hundred: "forty one eleven"."""
    pair = spoken_pair(scan, at)
    if pair is None or scan.word(pair[1]).scale is not None:
        return False
    run.digits += str(pair[0])
    run.pairs += 1
    run.end = pair[1]
    return True


def _written(scan: Scan, at: int, context: bool) -> _Run | None:
    """Groups of written digits: "+45 12 34 56 78", "650-701-8887", "(+1) 650-701-8887"."""
    run = _Run(end=at)
    opened = scan.text(at) == "("
    plus = scan.text(at + 1 if opened else at) == "+"
    start = at + opened + plus
    token = scan.tokens[start] if start < len(scan.tokens) else None
    if token is None or token.numeral is None or (opened and not plus and not context):
        return None
    joined = _groups(scan, run, start, spaces=context or plus or token.text.startswith("0"), close=opened)
    if not joined:
        return None
    if plus or context:
        return run if len(run.digits) > 1 else None
    if run.groups == 1:
        leading = len(run.digits) > 1 and run.digits[0] == "0" and "." not in token.text
        return run if leading or (len(run.digits) >= _LONG and token.text.isdigit()) else None
    return run if len(run.digits) >= _GROUPED else None


def _groups(scan: Scan, run: _Run, at: int, *, spaces: bool, close: bool) -> bool:
    while at < len(scan.tokens) and len(run.digits) <= MAX_DIGITS:
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
            at, close, spaces = at + 1, False, True
            run.end = at
        if scan.text(at) == "-" and scan.glued(at) and scan.glued(at + 1):
            at += 1
        elif not spaces or scan.glued(at):
            break
    return run.groups > 0
