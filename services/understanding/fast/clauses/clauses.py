"""Clauses: an utterance cut at its sentences, and what the clauses say together.

Sentences end at written marks; greetings, thanks, praise and answers to nothing (asides) are cut off where they stand
at either end, written marks or not, for a recogniser writes none.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from schemas.intent import MONEY_MOVING, READING, TOLD_ALONE, Intent, Route, SlotName, Slots, Understood
from services.understanding.fast.clauses.joining import OWING, joint
from services.understanding.fast.patterns.lattice import Trie
from services.understanding.fast.ruleset.lexicon import OTHER
from services.understanding.fast.words.hearing import Hearing
from services.understanding.fast.words.reading import UtteranceLattice

_ENDS: Final = re.compile("[.?!;:…。？！；—–]")
_PAUSES: Final = re.compile("[,、，-]")
MAX_CLAUSES: Final = 6
_INTRODUCES: Final = "introduces"
_NAME: Final = 2
"""Words of a caller's own name, at most."""

_EVERY: Final = "bill_payment.every"
"""In the rule of a payment of all bills, which names none."""
_AT_ONCE: Final = READING | {Intent.HUMAN_HANDOFF}


@dataclass(frozen=True, slots=True)
class Clauses:
    """The clauses that were read, in order, and the units of those that were not."""

    read: tuple[Understood, ...]
    unread: tuple[tuple[int, int], ...]


def sentences(hearing: Hearing, start: int = 0) -> list[tuple[int, int]]:
    """Ranges of units from `start` on between the marks that end sentences."""
    return _cut(hearing, _ENDS, start, len(hearing.reading.words))


def pauses(hearing: Hearing, start: int, end: int) -> list[tuple[int, int]]:
    """Ranges of units between commas."""
    return _cut(hearing, _PAUSES, start, end)


def _cut(hearing: Hearing, marks: re.Pattern[str], start: int, end: int) -> list[tuple[int, int]]:
    units, begin = hearing.reading.units, start
    found: list[tuple[int, int]] = []
    for at in range(start + 1, end):
        if at not in hearing.reading.within and marks.search(hearing.text, units.ends[at - 1], units.starts[at]):
            found.append((begin, at))
            begin = at
    return [*found, (begin, end)]


def bare(asides: Trie, reading: UtteranceLattice, start: int, end: int) -> tuple[int, int]:
    """The range without the asides at its ends; empty where it holds nothing else."""
    rows = reading.phrases(asides)
    while start < end and (stop := max((e.end for e in rows[start] if e.end <= end), default=start)) > start:
        start = stop
    begin = start
    while begin < end:
        at = next((at for at in range(start, end) if any(e.end == end for e in rows[at])), end)
        if at == end:
            break
        end = at
    return start, end


def introduced(hearing: Hearing, start: int, end: int) -> int:
    """Where the words go on behind a caller's own name at their beginning: "my name is alex and"."""
    reading = hearing.reading
    symbol = hearing.grammar.symbols.get(_INTRODUCES)
    at = max((e for e, read in reading.lattice.steps(start) if symbol in read), default=start) if start < end else end
    if at == start:
        return start
    stop, other = at, hearing.grammar.symbols[OTHER]
    while stop < min(end, at + _NAME) and (
        stop in reading.taken or all({other}.issuperset(read) for _, read in reading.lattice.steps(stop))
    ):
        stop += 1
    return stop if stop > at else start


def only(meant: Trie, asides: Trie, words: tuple[str, ...]) -> bool:
    """Whether the words are phrases of `meant`, at least one, and asides."""
    at, found = 0, False
    while at < len(words):
        stop, symbols = meant.longest(words, at)
        beside, _ = asides.longest(words, at)
        if not symbols and beside == at:
            return False
        found = found or bool(symbols)
        at = max(stop, beside)
    return found


def parted(hearing: Hearing, read: Callable[[int, int], Clauses], start: int, end: int) -> list[Clauses] | None:
    """A sentence cut in two at a comma or a conjunction, if more of it can be read so."""
    pieces = pauses(hearing, start, end)
    if len(cut := pieces) > 2 and len(cut) <= MAX_CLAUSES:  # noqa: PLR2004 - two are tried below
        each = [read(*piece) for piece in cut]
        if not any(part.unread for part in each):
            return each
    cuts = [(begin, begin) for begin, _ in pieces[1:]]
    for at in range(start + 1, end - 1):
        stop, symbols = hearing.grammar.phrases.conjunctions.longest(hearing.reading.words, at)
        if symbols and stop < end and at not in hearing.reading.taken:
            cuts.append((at, stop))
    best: list[Clauses] | None = None
    for at, stop in cuts:
        parts = [read(start, at), read(stop, end)]
        if sum(u.slots.amount is not None for part in parts for u in part.read) > 1:
            continue  # "fifty and then fifty to ann" may be one amount said twice
        if not any(part.unread for part in parts):
            return parts
        if any(part.read for part in parts) and best is None:
            best = parts
    return best


def commands(parts: Sequence[Clauses]) -> bool:
    """Whether all of the parts were read, and one of them wants something."""
    wants = any(read.intent not in TOLD_ALONE for part in parts for read in part.read)
    return wants and not any(part.unread for part in parts)


def together(clauses: Clauses, *, pending: bool, stopped: bool, outright: bool) -> Understood | None:
    """What the clauses say as one. `stopped`: an unread clause holds words that stop money; then it is asked about.

    `outright`: a payment of which nothing is named is ordered.
    """
    parts = _paying(clauses.read)
    if not any(part.intent not in TOLD_ALONE for part in parts):
        telling = pending or all(p.slots != Slots() or p.unresolved or p.rejected for p in parts)  # not "on my account"
        said = _told(parts) if parts and telling and not clauses.unread else None
        return said if pending or said is None else _an_order(said)
    merged = _merged(parts if outright else _wanted(parts))
    if merged is None:
        return None
    return _asked_about(merged, clauses, stopped=stopped)


def _paying(parts: Sequence[Understood]) -> list[Understood]:
    """The parts, an account alone beside an amount as the one that pays: "Lupe. 88 dollars. Joint account."."""
    alone = [p for p in parts if p.intent is Intent.BALANCE_INQUIRY and p.route is Route.CLARIFY and p.slots.account]
    others = [p for p in parts if p not in alone]
    told = all(p.intent in TOLD_ALONE for p in others) and any(p.slots.amount is not None for p in others)
    if len(alone) != 1 or not told or any(p.slots.source or p.slots.target for p in others):
        return list(parts)
    source = replace(alone[0], intent=Intent.INFORM, slots=Slots(source=alone[0].slots.account), route=Route.FAST)
    return [source if part is alone[0] else part for part in parts]


def _an_order(said: Understood) -> Understood | None:
    """An amount and whom it is for, told piece by piece with nothing before: "Emily. Forty dollars"."""
    if said.rule == OWING:
        return None
    whole = said.slots.amount is not None and (said.slots.payee is not None or said.slots.target is not None)
    return replace(said, intent=Intent.TRANSFER_MONEY) if whole and not said.rejected else None


def _wanted(parts: list[Understood]) -> list[Understood]:
    """Without a payment that is only the reason to ask: "i have bills to pay, what is my balance"."""
    if not any(part.intent in READING for part in parts):
        return parts
    every = tuple(part for part in parts if part.by(_EVERY))
    return [p for p in parts if p.intent not in MONEY_MOVING or p.slots != Slots() or p.unresolved or p in every]


def _told(parts: list[Understood]) -> Understood | None:
    whole: Understood | None = parts[0]
    for part in parts[1:]:
        whole = whole and joint(whole, part)
    return whole


def _merged(parts: list[Understood]) -> Understood | None:
    """One command with all that was said to it, or a chain of several."""
    chain: list[Understood] = []
    waiting: list[Understood] = []
    for part in parts:
        if part.intent in TOLD_ALONE:
            if chain:
                joined = joint(chain[-1], part)
                if joined is None:
                    return None
                chain[-1] = joined
            else:
                waiting.append(part)
            continue
        same = chain and chain[-1].intent is part.intent and (joined := joint(chain[-1], part)) is not None
        if same and joined is not None:
            chain[-1] = joined
        else:
            chain.append(part)
    for part in waiting:
        joined = joint(chain[0], part)
        if joined is None:
            return None
        chain[0] = joined
    whole = chain[-1]
    for part in reversed(chain[:-1]):
        whole = replace(part, then=whole)
    return whole


def _asked_about(whole: Understood, clauses: Clauses, *, stopped: bool) -> Understood | None:
    """Words that nobody read, beside a command that would move money, lead to a question."""
    if not clauses.unread or whole.intent in _AT_ONCE:
        return whole
    if whole.intent not in MONEY_MOVING or (stopped and whole.missing):
        return None
    return whole if whole.missing else replace(whole, route=Route.CLARIFY, then=None)


def without_days(found: Understood, reading: UtteranceLattice, beside: Sequence[tuple[int, int]]) -> Understood:
    """`found` without the days that only stand in the ranges of units `beside` it: "how are you today"."""
    units = reading.units
    places = [(units.starts[start], units.ends[end - 1]) for start, end in beside if start < end]
    left = tuple(
        m
        for m in found.unresolved
        if m.slot is not SlotName.DATE or not any(s <= m.evidence.start < e for s, e in places)
    )
    then = found.then and without_days(found.then, reading, beside)
    return found if left == found.unresolved and then is found.then else replace(found, unresolved=left, then=then)
