"""What several clauses say together: each is read by itself, and what is only beside an order is told from it."""

from dataclasses import replace
from functools import lru_cache, partial
from typing import Final

from schemas.consent import ORDERS
from schemas.intent import MONEY_MOVING, TOLD_ALONE, Understood
from services.understanding.fast.asides.reasons import VERBS, ClauseSpan
from services.understanding.fast.asides.vetoes import goes_over, vetoes_met
from services.understanding.fast.clauses.clauses import (
    MAX_CLAUSES,
    Clauses,
    bare,
    commands,
    introduced,
    parted,
    sentences,
    together,
    without_days,
)
from services.understanding.fast.clauses.joining import OWING
from services.understanding.fast.clauses.segments import Read, corrects, run_on, segmented, unread
from services.understanding.fast.freeform.loose import commanded
from services.understanding.fast.matching.matching import Matching, MatchInput
from services.understanding.fast.matching.remainder import valued, words_of
from services.understanding.fast.matching.telling import tells
from services.understanding.fast.patterns.lattice import Trie
from services.understanding.fast.ruleset.grammar import Grammar
from services.understanding.fast.words.hearing import Hearing

_ORDERS: Final = (*VERBS, "pay")
_MOST_WORDS: Final = 3
"""Words that join two clauses, at most."""
_MOST_JOINED: Final = 7
"""Words of another thing that is wanted alike, at most: more are a story."""


class ClauseReader:
    """Reads the clauses of one locale's utterances."""

    def __init__(self, rules: Grammar, matching: Matching) -> None:
        self._grammar = rules
        self._matching = matching

    def meaning(self, hearing: MatchInput, begin: int) -> tuple[Understood | None, bool]:
        """What the clauses from unit `begin` on say together, asides left out; and whether all of it was read."""
        context, reading = hearing.context, hearing.reading
        pending = context.confirming or context.asked is not None
        asides = self._grammar.phrases.asides if pending else self._grammar.phrases.asides_unasked
        further = replace(hearing, enabled=self._matching.enabled(context, further=True))
        beside: list[tuple[int, int]] = []  # asides and what is only spoken of: their days are none of an order's
        read = lru_cache(maxsize=64)(partial(self._clause, further, asides, beside))
        pieces = sentences(hearing, begin)
        if len(pieces) > MAX_CLAUSES:
            return None, False
        made: list[Clauses] = []
        for start, end in pieces:
            made.extend(self._cut(hearing, read, start, end))
        clauses = Clauses(tuple(u for c in made for u in c.read), tuple(r for c in made for r in c.unread))
        if clauses.unread and context.terms.awaited in ORDERS:
            return None, False
        stopped = any(vetoes_met(hearing, *left) - {"thing"} for left in clauses.unread)
        outright = any(part.intent in MONEY_MOVING for part in clauses.read) and _outright(hearing, begin)
        whole = together(clauses, pending=pending, stopped=stopped, outright=outright)
        if whole is not None and whole.intent in MONEY_MOVING:
            lost = (
                at
                for at in clauses.unread
                if _joined(hearing, *at) or _paying(hearing, *at) or (whole.missing and valued(reading, *at))
            )
            whole = replace(whole, unread=(*whole.unread, *(words_of(hearing, *at) for at in lost)))
        return whole and without_days(whole, reading, beside), not clauses.unread

    def _cut(self, hearing: MatchInput, read: Read, start: int, end: int) -> list[Clauses]:
        """The pieces of a sentence of which most is read: the whole, two of them, or, with nothing corrected, more."""
        piece = read(start, end)
        idle = all(part.rule == OWING for part in piece.read)  # nothing is wanted in it: look for what is
        cut = parted(hearing, read, start, end) if piece.unread or idle else None
        made = cut if cut and (piece.unread or commands(cut)) else [piece]
        if not hearing.context.idle or not any(part.unread for part in made) or corrects(hearing):
            return made
        cut = segmented(hearing, read, start, end)
        made = cut if cut and unread(cut) < unread(made) else made
        return (unread(made) and run_on(hearing, read, start, end)) or made

    def _clause(
        self, hearing: MatchInput, asides: Trie, beside: list[tuple[int, int]], start: int, end: int
    ) -> Clauses:
        """What the units of one clause say; those whose days are none of an order's go to `beside`."""
        inner, stop = bare(asides, hearing.reading, start, end)
        if goes_over(hearing, inner):
            inner = start
        if hearing.context.idle and (begin := introduced(hearing, inner, stop)) > inner:
            inner, stop = bare(asides, hearing.reading, begin, stop)
        if inner == stop:
            beside.append((start, end))
            return Clauses((), ())
        found, within = self._matching.within(hearing, start, end)[0], (inner, stop) != (start, end)
        if found is None and within and (found := self._matching.within(hearing, inner, stop)[0]) is not None:
            beside.extend(((start, inner), (stop, end)))
        made = tells(found, ClauseSpan.within(hearing, inner, stop), self._matching, hearing)
        beside.extend((start, end) for told in made.read if told.intent in TOLD_ALONE and told.slots.bill is not None)
        return made


def _outright(hearing: Hearing, begin: int) -> bool:
    """Whether something is ordered, and the words from a unit on do not tell what the caller has to do."""
    grammar, reading = hearing.grammar, hearing.reading
    at = bare(grammar.phrases.asides_unasked, reading, begin, len(reading.words))[0]
    told = grammar.phrases.tellings.begins(reading.words, at)
    return grammar.spaced and not told and any(commanded(hearing, each) for each in _ORDERS)


def _paying(hearing: Hearing, start: int, end: int) -> bool:
    """Whether a bill and what it is paid from are named there, in a language that says last what is done with them."""
    if hearing.grammar.spaced:
        return False
    nouns, words = hearing.nouns, hearing.reading.words
    edges = [e for edges in hearing.reading.phrases(nouns.trie)[start:end] for e in edges]
    kinds = {nouns.nouns[e.symbol].kind for e in edges if nouns.nouns[e.symbol].id is not None}
    paid = any(hearing.grammar.cues.outof.scan(words, e.end) for e in edges if e.end < len(words))
    return paid and {"bill", "account"} <= kinds


def _joined(hearing: MatchInput, start: int, end: int) -> bool:
    """Whether a condition stands there, or a few units behind a word that joins them: "… to ann and the gym"."""
    words, phrases, accounts = hearing.reading.words, hearing.grammar.phrases, hearing.grammar.cues
    joins = any(phrases.conjunctions.longest(words, at)[0] == start for at in range(max(1, start - _MOST_WORDS), start))
    few = end - start <= _MOST_JOINED
    return accounts.spaced and ((few and joins) or bool(start and accounts.conditions.longest(words, start)[1]))
