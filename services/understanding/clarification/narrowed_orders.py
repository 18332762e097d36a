"""Of several orders one is wanted alone, or one is not, in several clauses: 「水道はまだいい、ガスだけにして」."""

from dataclasses import replace
from typing import Any, Final

from schemas.consent import ORDERS
from schemas.ids import PayeeId, RuleId
from schemas.intent import Intent, Route, Slot, Slots, Topic, Understood
from schemas.payee import MatchOutcome
from schemas.span import NUMBERS, SpanKind
from services.understanding.correction.editing_terms import PAUSES
from services.understanding.correction.said import Said

_RULE: Final = RuleId("intents.narrowed@1")
_VALUES: Final = NUMBERS | {SpanKind.DIGITS}
_MOST: Final = 3
_LEFT: Final = frozenset({Intent.CONFIRM, Intent.START_OVER, Intent.HUMAN_HANDOFF})


def narrowed(said: Said, found: Understood) -> Understood | None:
    """Which one is wanted alone, or not wanted; None where more is said than that."""
    if said.context.terms.awaited not in ORDERS or found.intent in _LEFT or found.slots.topic is not None:
        return None
    pieces = _pieces(said)
    *others, (start, end) = pieces
    if any(span.kind in _VALUES for span in said.heard.spans):
        return None
    only, spared = said.rules.patterns.refusals.only_that, said.rules.patterns.refusals.not_wanted
    dated = any(span.kind is SpanKind.DATE and span.start >= start for span in said.heard.spans)
    alone = len(pieces) <= _MOST and not dated and only.search(said.text[start:end]) is not None
    if alone and all(spared.search(said.text[at:to]) for at, to in others):
        return _alone(said, pieces)
    if not said.rules.spaced and len(pieces) == 1 and said.rules.patterns.refusals.not_wanted_now.search(said.text):
        one = _thing(said, start, end)
        return _about(said, one, Topic.DROPPED) if one is not None else None
    return None


def _alone(said: Said, pieces: list[tuple[int, int]]) -> Understood | None:
    """The one that is wanted alone; where it is not sure who that is, the one that is not."""
    *others, (start, end) = pieces
    if (one := _thing(said, start, end)) is not None:
        return _about(said, one, Topic.ONLY)
    if said.look(start, end, said.context).payees is None:
        return None
    dropped = [thing for at, to in others if (thing := _thing(said, at, to)) is not None]
    return _about(said, dropped[0], Topic.DROPPED) if len(dropped) == 1 else None


def _pieces(said: Said) -> list[tuple[int, int]]:
    """The clauses, by the code points at which they begin and end."""
    size, text = len(said.text), said.text
    marks = [each.span() for each in PAUSES.finditer(text) if each.start() > 0 and each.end() < size]
    if not marks and not said.rules.spaced:
        ends = (at for at in said.units.ends[:-1] if said.rules.patterns.refusals.reason_ends.search(text[:at]))
        marks = [(at, at) for at in ends]
    return list(zip([0, *(end for _, end in marks)], [*(start for start, _ in marks), len(said.text)], strict=True))


def _thing(said: Said, start: int, end: int) -> Slots | None:
    """The one bill or payee that a clause names."""
    hearing, units = said.hearing, said.units
    rows = hearing.reading.phrases(hearing.nouns.trie)
    edges = [max(row, key=lambda e: e.end) for row in rows if row and start <= units.starts[row[0].start] < end]
    nouns = {n.id: (n.kind, e) for e in edges if (n := hearing.nouns.nouns[e.symbol]).id is not None}
    if nouns:
        (id_, (kind, edge)), *more = nouns.items()
        bill: Slot[Any] = Slot(id_, hearing.said(edge.start, edge.end, _RULE))
        return Slots(bill=bill) if kind == "bill" and not more else None
    match = said.look(start, end, said.context).payees
    if match is None or match.outcome is not MatchOutcome.CLEAR or match.choice is None:
        return None
    return Slots(payee=Slot(PayeeId(match.choice), said.heard.evidence(match.start, match.end, _RULE)))


def _about(said: Said, one: Slots, topic: Topic) -> Understood:
    slots = replace(one, topic=Slot(topic, said.heard.whole(_RULE)))
    return Understood(Intent.CORRECT, slots, route=Route.FAST, confidence=1.0, rule=_RULE, payees=said.heard.payees)
