"""A later value that nobody read as a correction: an order in the first clauses, and another of its values behind it.

"Send maria nine hundred? She shakes her head. Nine twenty, she says". Where nothing else can be made of the words it is
asked which is meant; none of the values is taken, and nothing is read back.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from schemas.consent import ORDERS
from schemas.intent import MONEY_MOVING, TOLD_ALONE, Intent, Route, SlotName, Understood
from schemas.span import SpanKind
from services.understanding.clarification.competing_values import named_beside
from services.understanding.correction.editing_terms import without_tails
from services.understanding.correction.mentions import Mentions, Values
from services.understanding.correction.merging import parts_a_value, values
from services.understanding.correction.said import Said
from services.understanding.fast.asides.vetoes import vetoes_met
from services.understanding.fast.freeform.told import RULE as TOLD
from services.understanding.fast.patterns.units import OUTSIDE_NUMBERS
from services.understanding.fast.ruleset.meanings import CARDS

_MOST_CLAUSES: Final = 4
"""Clauses at whose end an order is looked for."""
_ENDS: Final = re.compile(OUTSIDE_NUMBERS + r"[,;:.?!—–…]+\s*")
_UNSURE: Final = frozenset({Route.CLARIFY, Route.EXTRACT, Route.QNA})
_STOPS: Final = "recurring"
"""A veto with which an order is for more than once."""
_MOST_BESIDE: Final = 4
"""Words beside a value in a clause that is about nothing else."""

_SUMS: Final = frozenset({SpanKind.MONEY, SpanKind.NUMBER, SpanKind.DATE})


def afterthought(utterance: Said, found: Understood) -> Understood | None:
    """The order with the values of which one is meant; None where no order comes first, or nothing is named behind."""
    rules, text, context = utterance.rules, utterance.text, utterance.context
    if not rules.spaced or not context.idle or context.code or not _lost(found):
        return None
    ends = [mark.start() for mark in _ENDS.finditer(text) if mark.start() > 0 and mark.end() < len(text)]
    for end in [at for at in ends if not parts_a_value(utterance.heard, at)][:_MOST_CLAUSES]:
        first = utterance.order(end)
        if first.then is not None or first.intent not in MONEY_MOVING | CARDS or not values(first.slots):
            continue
        said = Mentions.of_all(utterance)
        if _hindered(said, end):
            return None
        meant = named_beside(said, first)
        if meant is not None and _anew(said, end, meant):
            return replace(meant, rule=rules.cues.rule("afterthought"))
    return None


def named_last(said: Said, found: Understood) -> Understood | None:
    """What a no to a read-back names in its last clause alone: "that's not what I owe him, it's seventeen"."""
    rules, text, units = said.rules, said.text, said.units
    plain = found.intent is Intent.DENY and found.then is None and found.consent is None and not values(found.slots)
    if not rules.spaced or said.context.terms.awaited not in ORDERS or not plain:
        return None
    size = without_tails(rules.cues.tails, units.words)
    starts = [at for at in range(1, size) if units.parted(_ENDS, text, at)]
    begin = starts[-1] if len(starts) == 1 else size  # "not dave, the gym, and fifty" names two things
    if begin >= size or any(span.kind in _SUMS and span.start < units.starts[begin] for span in said.heard.spans):
        return None
    meant = said.look(units.starts[begin], units.ends[size - 1], said.context)
    told = meant.intent in TOLD_ALONE and meant.route is Route.FAST and meant.rule not in {None, TOLD}
    if not told or not meant.whole or not values(meant.slots):
        return None
    return replace(meant, rule=rules.cues.rule("named_last"))


def _lost(found: Understood) -> bool:
    """Whether nothing was made of the words that names one value beside another."""
    open_ = found.rule is None or found.route in _UNSURE or found.intent in TOLD_ALONE
    return open_ and found.then is None and not found.doubted and found.consent is None


def _hindered(said: Mentions, end: int) -> bool:
    """Whether what follows an order makes it one for more than once, or sets it a condition."""
    units, size = said.reading.units, len(said.reading.words)
    begin = sum(1 for start in units.starts if start < end)
    conditions = said.grammar.cues.conditions
    led = any(conditions.begins(said.reading.words, at) for at, _ in _clauses(said, begin))
    return led or _STOPS in vetoes_met(said, begin, size)


def _clauses(said: Mentions, begin: int) -> Iterator[tuple[int, int]]:
    """The units from `begin` on, clause by clause."""
    text, units, size = said.text, said.reading.units, len(said.reading.words)
    for at in range(begin + 1, size + 1):
        if at == size or units.parted(_ENDS, text, at):
            yield begin, at
            begin = at


def _anew(said: Mentions, end: int, meant: Understood) -> bool:
    """Whether a value behind `end` is announced, or said in a clause about nothing else."""
    units, words = said.reading.units, said.reading.words
    begin = sum(1 for start in units.starts if start < end)
    if any(said.grammar.cues.repairs.begins(words, at) for at in range(begin, len(words))):
        return True
    named = said.of(meant.intent) if meant.intent is not None else {}
    places = [place for each in meant.doubted for place in _places(said, named, each)]
    for start, stop in _clauses(said, begin):
        inside = {at for place in places for at in range(*place) if start <= at < stop}
        beside = [at for at in range(start, stop) if at not in inside and words[at] not in said.grammar.words.light]
        if inside and len(beside) <= _MOST_BESIDE:
            return True
    return False


def _places(said: Mentions, named: Values, slot: SlotName) -> list[tuple[int, int]]:
    """The units of a slot's values."""
    found = [said.reading.units.covering(e.start, e.end) for e, _ in named.get(slot.value, [])]
    return [place for place in found if place is not None]
