"""The engine: fold, cut, and at each place take the longest reading any grammar offers. It knows no language."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from schemas.ids import Locale, language
from schemas.span import DATED, SUMS, Ambiguity, Span, SpanKind, SpanReading, SpanValue
from services.normalization.context import context_after, cut_off, is_name, tail_announced
from services.normalization.dates_checked import checked_behind
from services.normalization.fold import fold
from services.normalization.grammars import Dispatch, Grammar
from services.normalization.one_string import as_one_string
from services.normalization.postcodes import find_postcode
from services.normalization.recurrence import first_time, recurs
from services.normalization.scan import Match, Scan
from services.normalization.style import Style
from services.normalization.trace import Note, notes
from services.normalization.vocabulary import Language
from services.normalization.words import UNKNOWN, Word

MAX_CHARS: Final = 4_000
"""Code points of a text that are read; an utterance is far shorter."""
MAX_FOUND: Final = 96
"""Expressions read of one text; nobody says more in a breath."""


class NormalizationEngine:
    """A locale's normalizer. Holds compiled data only, so that one instance serves every call."""

    def __init__(self, locale: Locale) -> None:
        self._style = Style.load(locale)
        self._dispatch = Dispatch(self._style.language)
        self._language = Language(language(locale), spaced=self._style.language.spaced)

    def notes(self, text: str) -> tuple[Note, ...]:
        """How the text is cut, and what each piece can mean."""
        folded = fold(text[:MAX_CHARS])
        return notes(folded, self._language.lexicon.tokens(folded.text))

    @property
    def words(self) -> tuple[tuple[str, str], ...]:
        """Every word with a value, as `(meaning, word)`."""
        return self._language.words

    def normalize(
        self, text: str, now: datetime | None, currencies: tuple[str, ...], *, digits: bool = False
    ) -> tuple[Span, ...]:
        """Every expression found, left to right, without overlap; as one string where `digits` were asked for."""
        folded = fold(text[:MAX_CHARS])
        tokens = self._language.lexicon.tokens(folded.text)
        scan = Scan(folded, tokens, self._style, now, currencies)
        spans: list[Span] = []
        at, size, numeric_end, read, found_so_far = 0, len(tokens), -1, 0, 0
        while at < size and found_so_far < MAX_FOUND:
            token = tokens[at]
            scan.in_context = at if digits and not spans else scan.in_context
            if at == scan.in_context and (code := find_postcode(scan, at)) is not None:
                spans.append(self._span(scan, code, ()))
                found_so_far, at = found_so_far + 1, code.end
                continue
            if token.word is UNKNOWN and token.numeral is None and token.text != "(":
                at += 1
                continue
            if token.word.context:
                scan.in_context = context_after(scan, at)
            elif token.word.tail and (behind := tail_announced(scan, at)):
                scan.in_context = at = behind
                continue
            grammars = self._dispatch(token)
            found = _best(scan, at, grammars) if grammars else None
            if found is None:
                at += 1
                continue
            found_so_far += 1
            best, rejected = _checked(scan, found[0], numeric_end, read), found[1]
            if not best.silent and not is_name(scan, best):
                spans.append(self._span(scan, best, rejected))
            at = best.end
            read = read if best.silent else at
            numeric_end = at if best.kind in {SpanKind.NUMBER, SpanKind.DIGITS} else -1
        return as_one_string(spans, text, self._language.rule("digits.asked")) if digits else tuple(spans)

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
            readings=tuple(SpanReading(kind, value, rule(best.rule)) for kind, value in best.readings),
            rejected=tuple(SpanReading(m.kind, m.value, rule(m.rule)) for m in rejected),
        )


def _checked(scan: Scan, best: Match, numeric_end: int, read: int) -> Match:
    """A match with what the words beside it say of it."""
    best = checked_behind(scan, best)
    if best.kind in SUMS and cut_off(scan, best):
        return replace(best, silent=True)
    if best.kind is SpanKind.NUMBER and best.ambiguity is None and best.end == best.start + 1:
        best = _grouped(scan, best)
    if best.kind in SUMS and (doubt := _doubt(scan, best, numeric_end, read)) is not None:
        return replace(best, ambiguity=doubt)
    return first_time(scan, best) if best.kind in DATED and recurs(scan, best) else best


def _grouped(scan: Scan, found: Match) -> Match:
    """A number that may be one of thousands, as both: 1.000."""
    numeral = scan.tokens[found.start].numeral
    if numeral is None or numeral.thousands is None or scan.style.locale.exponent > 2:  # noqa: PLR2004 - no such part
        return found
    thousands: tuple[SpanKind, SpanValue] = (SpanKind.NUMBER, str(numeral.thousands))
    return replace(found, ambiguity=Ambiguity.GROUPING, readings=(thousands,))


def _best(scan: Scan, at: int, grammars: Sequence[Grammar]) -> tuple[Match, list[Match]] | None:
    """The longest match at a place, of equals the first, and the others."""
    matches = [match for grammar in grammars if (match := grammar(scan, at)) is not None]
    if not matches:
        return None
    best = max(matches, key=lambda match: match.end)
    return best, [match for match in matches if match is not best and not match.silent]


def _doubt(scan: Scan, found: Match, numeric_end: int, read: int) -> Ambiguity | None:
    """What makes a clear amount doubtful: a loose number right before it, "half of" it, or a word like "about".

    From `numeric_end` on stands what follows a number, and from `read` on what follows anything that was read.
    """
    if found.ambiguity is not None:
        return None
    refused = found.start > read and scan.quantity(found.start - 1)  # "several hundred fifty dollars"
    if found.kind is SpanKind.MONEY and (found.start == numeric_end or refused):
        return Ambiguity.GROUPING
    if scan.words[found.start - 1].of and _portion(scan.words[found.start - 2]):
        return Ambiguity.GROUPING
    vague = scan.words[found.start - 1].approximate or scan.words[found.end].approximate_after
    return Ambiguity.APPROXIMATE if vague else None


def _portion(word: Word) -> bool:
    """Whether a word takes a part of what follows it: half of, a third of, ten percent of."""
    part = word.fraction is not None or word.denominator or word.percent is not None
    return part or (word.ordinal or 0) > 2  # noqa: PLR2004 - thirds and smaller parts
