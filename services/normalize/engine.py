"""The engine: fold, cut, and at each place take the longest reading any grammar offers. It knows no language."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from schemas.ids import Locale, language
from schemas.span import Ambiguity, Reading, Span, SpanKind
from services.normalize.context import context_after, is_name, tail_announced
from services.normalize.dates import find_date
from services.normalize.digits import find_digits
from services.normalize.fold import fold
from services.normalize.money import find_money
from services.normalize.numbers import find_number
from services.normalize.ordinals import find_ordinal
from services.normalize.scan import Match, Scan
from services.normalize.style import Style
from services.normalize.times import find_time
from services.normalize.vocabulary import Language
from services.normalize.words import UNKNOWN

Grammar = Callable[[Scan, int], Match | None]

GRAMMARS: Final[Sequence[Grammar]] = (find_money, find_date, find_time, find_digits, find_ordinal, find_number)
"""Of readings of equal length the earlier grammar's wins."""

MAX_CHARS: Final = 4_000
"""Code points of a text that are read; an utterance is far shorter."""


_AMOUNTS: Final = frozenset({SpanKind.MONEY, SpanKind.NUMBER})


class Engine:
    """A locale's normalizer. Holds compiled data only, so that one instance serves every call."""

    def __init__(self, locale: Locale) -> None:
        self._style = Style.load(locale)
        self._language = Language(language(locale), spaced=self._style.language.spaced)

    def normalize(self, text: str, now: datetime | None, currencies: tuple[str, ...]) -> tuple[Span, ...]:
        """Every expression found, left to right, without overlap."""
        folded = fold(text[:MAX_CHARS])
        tokens = self._language.lexicon.tokens(folded.text)
        scan = Scan(folded, tokens, self._style, now.date() if now is not None else None, currencies)
        spans: list[Span] = []
        at, size, numeric_end = 0, len(tokens), -1
        while at < size:
            token = tokens[at]
            if token.word is UNKNOWN and token.numeral is None and token.text not in "+(":
                at += 1
                continue
            if token.word.context:
                scan.in_context = context_after(scan, at)
            elif token.word.tail and (behind := tail_announced(scan, at)):
                scan.in_context = at = behind
                continue
            found = self._best(scan, at)
            if found is None:
                at += 1
                continue
            best, rejected = found
            if best.kind in _AMOUNTS and best.ambiguity is None:
                best = replace(best, ambiguity=_doubt(scan, best, numeric_end))
            if not best.silent and not is_name(scan, best):
                spans.append(self._span(scan, best, rejected))
            at = best.end
            numeric_end = at if best.kind in {SpanKind.NUMBER, SpanKind.DIGITS} else -1
        return tuple(spans)

    def _best(self, scan: Scan, at: int) -> tuple[Match, list[Match]] | None:
        matches = [match for grammar in GRAMMARS if (match := grammar(scan, at)) is not None]
        if not matches:
            return None
        best = max(matches, key=lambda match: match.end)
        return best, [match for match in matches if match is not best and not match.silent]

    def _span(self, scan: Scan, best: Match, rejected: Sequence[Match]) -> Span:
        folded, tokens = scan.folded, scan.tokens
        start = folded.starts[tokens[best.start].start]
        end = folded.ends[tokens[best.end - 1].end - 1]
        rule = self._language.rule
        return Span(
            kind=best.kind,
            surface=folded.source[start:end],
            start=start,
            end=end,
            value=best.value,
            rule=rule(best.rule),
            ambiguity=best.ambiguity,
            readings=tuple(Reading(kind, value, rule(best.rule)) for kind, value in best.readings),
            rejected=tuple(Reading(m.kind, m.value, rule(m.rule)) for m in rejected),
        )


def _doubt(scan: Scan, found: Match, numeric_end: int) -> Ambiguity | None:
    """What makes a clear amount doubtful: a number that fits nowhere right before it, or a word like "about"."""
    if found.kind is SpanKind.MONEY and found.start == numeric_end:
        return Ambiguity.GROUPING
    vague = scan.word(found.start - 1).approximate or scan.word(found.end).approximate_after
    return Ambiguity.APPROXIMATE if vague else None
