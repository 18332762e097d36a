"""A refusal of what waits, with the reason for it before or behind it: "leave it, i want to check first".

It gives up what waits as the refusal alone does. Words beside it that are a yes, ask or order something, or name
another value are no reason, and are left to who reads them.
"""

from itertools import pairwise
from typing import Final

from schemas.consent import ORDERS, Awaited
from schemas.ids import RuleId, language
from schemas.intent import MONEY_MOVING, READING, Evidence, Intent, Route, Slots, Understood
from schemas.payee import MatchOutcome
from schemas.span import SpanKind
from services.understanding.correction.said import Said
from services.understanding.fast.asides.vetoes import vetoes_met
from services.understanding.fast.consent.consent import ConsentGrammar, consent_grammar
from services.understanding.fast.ruleset.meanings import CARDS

_RULE: Final = RuleId("intents.declined@1")
_WAITING: Final = ORDERS | {Awaited.TASK, Awaited.SLOT}
_SUMS: Final = frozenset({SpanKind.MONEY, SpanKind.NUMBER, SpanKind.DIGITS})
_WANTED: Final = MONEY_MOVING | READING | CARDS | {Intent.HUMAN_HANDOFF, Intent.START_OVER, Intent.REPEAT, Intent.HELP}
_LEFT: Final = frozenset({Intent.CANCEL, Intent.START_OVER, Intent.HUMAN_HANDOFF})
"""What was read already, and is as much or more."""
_SOFT: Final = frozenset({Intent.CONFIRM, Intent.DENY})
"""What "that's fine" or "no" is alone, and behind what was done already a refusal."""
_MOST_CLAUSES: Final = 10
_ASKING: Final = frozenset({"question", "how", "whether"})


def declined(said: Said, found: Understood) -> Understood | None:
    """That what waits is given up; None where no refusal stands beside a reason alone."""
    context = said.context
    if context.terms.awaited not in _WAITING or context.code or found.consent is not None:
        return None
    then, bids = found.then, said.rules.patterns.refusals.bids
    if then is not None and (then.slots != Slots() or bids.search(said.text)):
        return None
    if (found.intent in _LEFT and then is None) or found.rejected:
        return None
    starts = _clauses(said)
    if not 1 <= len(starts) <= _MOST_CLAUSES:
        return None
    consent = consent_grammar(language(said.heard.transcript.locale), said.rules)
    held = found.intent is Intent.WAIT and consent.part(said.text, context) is Intent.WAIT  # "not yet, let me check"
    if not held and (_outright(said, consent, starts) or _done_already(said, consent, starts)):
        return Understood(Intent.CANCEL, route=Route.FAST, confidence=1.0, rule=_RULE, payees=said.heard.payees)
    return None


def _clauses(said: Said) -> list[int]:
    """The units at which a clause begins: the first, and those behind a mark or a word that ends a reason."""
    units, text, ends = said.units, said.text, said.rules.patterns.refusals.reason_ends
    no_mark = " '’" if said.rules.spaced else "'’"  # a space is a pause where words are written without
    behind = (at for at in range(1, len(units.words)) if text[units.ends[at - 1] : units.starts[at]].strip(no_mark))
    joined = (at for at in range(1, len(units.words)) if ends.search(text[: units.ends[at - 1]]))
    return sorted({0, *behind, *joined}) if units.words else []


def _outright(said: Said, consent: ConsentGrammar, starts: list[int]) -> bool:
    """Whether a clause gives up what waits, and what else is said only tells why."""
    size, units = len(said.units.words), said.units
    for start in reversed(starts):
        for end in consent.gives_up(said.heard, said.context, start):
            rest = said.text[units.ends[end - 1] :]
            if end < size and not said.rules.patterns.refusals.reason_begins.match(rest):
                continue
            behind = [each for each in starts if each > end]
            told = all(_tells(said, consent, at, to) for at, to in _pairs([end, *behind], size)) if end < size else True
            if told and _of_the_order(said, start, end):
                return True
    return False


def _done_already(said: Said, consent: ConsentGrammar, starts: list[int]) -> bool:
    """Whether it is told that it was done already, with a no or words that some say for one: 「もう払ったからいい」."""
    text, context = said.text, said.context
    if len(starts) < 2 or not said.rules.patterns.refusals.already_done.search(text) or not _of_the_order(said, 0, 0):  # noqa: PLR2004
        return False
    if any(mark in text for mark in "?？"):
        return False
    first, last = said.units.ends[starts[1] - 1], said.units.starts[starts[-1]]
    refused = bool(consent.refusals(said.units)) or said.rules.phrases.holds.begins(said.units.words, 0)
    refused = refused or said.rules.patterns.refusals.all_the_same.match(text) is not None
    soft = [consent.part(piece, context) for piece in (text[:first], text[last:])]
    agreed = any(consent.agrees(piece, context) for piece in (text[:first], text[last:]))
    between = all(_tells(said, consent, at, to, past=True) for at, to in _pairs(starts[1:-1], starts[-1]))
    return not agreed and between and (refused or any(each in _SOFT for each in soft))


def _pairs(starts: list[int], size: int) -> list[tuple[int, int]]:
    return [each for each in pairwise([*starts, size]) if each[0] < each[1]]


def _tells(said: Said, consent: ConsentGrammar, start: int, end: int, *, past: bool = False) -> bool:
    """Whether a clause beside a refusal only tells something."""
    begin, stop = said.units.starts[start], said.units.ends[end - 1]
    piece = said.text[begin:stop]
    if consent.agrees(piece, said.context) or any(mark in said.text[begin : stop + 1] for mark in "?？"):
        return False
    if past:
        return True
    found = said.look(begin, stop, said.context)
    idle = found.unread or found.slots.merchant or found.unresolved
    wanted = found.intent in _WANTED and found.route is Route.FAST and not idle
    wanted = wanted or said.rules.patterns.refusals.bids.search(piece) is not None
    return not (wanted or found.slots != Slots() or vetoes_met(said.hearing, start, end) & _ASKING)


def _of_the_order(said: Said, start: int, end: int) -> bool:
    """Whether no other value than the order's own is named outside of the units of a refusal."""
    units, terms, nouns = said.units, said.context.terms, said.hearing.nouns
    inside = range(units.starts[start], units.ends[end - 1]) if end else range(0)
    sums = (span for span in said.heard.spans if span.kind in _SUMS and span.start not in inside)
    if any(span.kind is not SpanKind.NUMBER or span.end - span.start > 1 for span in sums):
        return False
    own = {terms.source, terms.target, terms.card, terms.bill, None}
    rows = said.hearing.reading.phrases(nouns.trie)
    if any(nouns.nouns[e.symbol].id not in own for row in rows for e in row if units.starts[e.start] not in inside):
        return False
    match = said.heard.payees
    if match is None or match.outcome is not MatchOutcome.CLEAR or match.start in inside:
        return True
    chosen = next((each.display_name for each in match.candidates if each.id == match.choice), "")
    return chosen in terms.names or _past(said, Evidence(match.start, match.end, match.heard, _RULE))


def _past(said: Said, named: Evidence) -> bool:
    """Whether the words behind a name tell what was done."""
    place = said.units.covering(named.start, named.end)
    return place is not None and "past" in vetoes_met(said.hearing, place[1], min(place[1] + 12, len(said.units.words)))
