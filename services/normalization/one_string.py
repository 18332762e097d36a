"""Figures that were asked for as one string: commas, dots and particles between their groups are no part of it."""

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

from schemas.ids import RuleId
from schemas.span import Span, SpanKind

_BETWEEN: Final = re.compile(r"[\s,，、.。・\-ー–—の]*")


def as_one_string(spans: Sequence[Span], text: str, rule: RuleId) -> tuple[Span, ...]:
    """`spans` of `text` as one digit string where they are all figures with nothing said between them."""
    figures = [_figures(span) for span in spans]
    if len(spans) < 2 or None in figures:  # noqa: PLR2004 - one is what it is
        return tuple(spans)
    if not all(_BETWEEN.fullmatch(text[a.end : b.start]) for a, b in pairwise(spans)):
        return tuple(spans)
    first, last = spans[0], spans[-1]
    whole = replace(first, kind=SpanKind.DIGITS, surface=text[first.start : last.end], end=last.end, rule=rule)
    return (replace(whole, value="".join(f or "" for f in figures), ambiguity=None, readings=(), rejected=()),)


def _figures(span: Span) -> str | None:
    written = str(span.value)
    return written if span.kind in {SpanKind.DIGITS, SpanKind.NUMBER} and written.isdigit() else None
