"""An utterance as a lattice: words, phrases, typed spans, the payee, the caller's nouns, and unknown names."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from schemas.intent import Annotation, Context
from schemas.payee import MatchOutcome, PayeeMatch
from schemas.span import SpanKind
from services.understanding.fast.patterns.lattice import FILLER, Edge, Lattice, Step, Trie
from services.understanding.fast.patterns.units import Units, in_nouns
from services.understanding.fast.ruleset.grammar import Grammar
from services.understanding.fast.ruleset.lexicon import OTHER
from services.understanding.fast.words.numbered import numbered
from services.understanding.fast.words.vocabulary import CallerNouns, billed, vocabulary

_TYPED: Final = {
    SpanKind.MONEY: ("money", "amount"),
    SpanKind.NUMBER: ("number", "amount"),
    SpanKind.ORDINAL: ("number",),
    SpanKind.DIGITS: ("digits",),
    SpanKind.DATE: ("date",),
    SpanKind.TIME: ("time",),
    SpanKind.PERCENT: ("percent",),
}
_NOUN_RANK: Final = {"account": 0, "bill": 0, "card": 1}  # a bill of a card bears its name
_SPAN_RANK, _WEAK_RANK, _PAYEE_RANK, _OTHER_RANK = 0, 3, 3, 4
_MAX_NAME: Final = 8
"""Characters of an unknown name in a script without spaces; words of an own thing's name in one with them."""


@dataclass(frozen=True, slots=True)
class UtteranceLattice:
    """The units, what they can be read as, and the units that typed tokens took (free of vetoes)."""

    units: Units
    words: tuple[str, ...]
    lattice: Lattice
    taken: frozenset[int]
    within: frozenset[int]  # units that go on what the one before began
    verbs: tuple[list[Edge], ...] = ()
    """Verbs with their endings by the unit that they begin at, where a language has such."""
    runs: dict[int, list[int]] = field(default_factory=dict, repr=False, compare=False)
    """The grammar's state sets from a unit on."""
    joined: dict[int, int | None] = field(default_factory=dict, repr=False, compare=False)
    """Where what is joined at a unit begins; None where nothing is."""
    _rows: dict[int, tuple[Trie, list[list[Edge]]]] = field(default_factory=dict, repr=False, compare=False)
    _longest: dict[int, tuple[Trie, list[tuple[int, list[int]]]]] = field(
        default_factory=dict, repr=False, compare=False
    )

    def phrases(self, trie: Trie) -> list[list[Edge]]:
        """Every phrase of `trie` by the unit that it begins at; looked for once, however many readers ask."""
        known = self._rows.get(id(trie))
        if known is None:
            known = self._rows[id(trie)] = trie, trie.rows(self.words)
        return known[1]

    def longest(self, trie: Trie) -> list[tuple[int, list[int]]]:
        """The end and the symbols of the longest phrase of `trie` by the unit that it begins at; looked for once."""
        known = self._longest.get(id(trie))
        if known is None:
            words = self.words
            made = [trie.longest(words, at) if trie.opens(unit) else (at, []) for at, unit in enumerate(words)]
            known = self._longest[id(trie)] = trie, made
        return known[1]


def read(grammar: Grammar, heard: Annotation, context: Context) -> UtteranceLattice:
    """The utterance laid out: once for all of its readers, and for contexts that offer and own the same."""
    key = grammar, context.offered, id(context.accounts), id(context.cards), id(context.bills)
    if key not in heard.laid_out:  # the context is kept, so that no other's things get the places of its own
        heard.laid_out[key] = context, _laid_out(grammar, heard, context)
    known: UtteranceLattice = heard.laid_out[key][1]
    return known


def _laid_out(grammar: Grammar, heard: Annotation, context: Context) -> UtteranceLattice:
    units, nouns = grammar.units(heard.transcript.text), vocabulary(grammar, context)
    typed, taken, within = _typed(grammar, heard, context, units)
    words = _spelled(grammar, nouns, units.words, taken)
    named = nouns.trie.rows(words)
    moved = _moved(grammar, nouns, words, named) if _nobody(heard.payees) else {}
    offered = _offered(grammar, context)
    other, pointed = grammar.symbols[OTHER], grammar.symbols["offered"]
    told = _told(grammar, heard, context, units)
    barred = _in_no_name(grammar, words, taken)
    endings = grammar.endings
    verbs = tuple(endings.rows(words)) if endings is not None else ()

    def steps(at: int) -> list[Step]:
        """Phrases from there on; what is a thing of the caller's says something: "the pet one", of an insurance."""
        found = grammar.trie.steps(words, at)
        found = [step for step in found if step[0] > moved[at]] if at in moved else found
        return [(end, tuple(s for s in read if s != FILLER)) for end, read in found] if named[at] else found

    def scan(at: int) -> list[Edge]:
        edges = [*(verbs[at] if verbs else ()), *typed.get(at, ()), *told.get(at, ())]
        if named[at]:
            owned = _owned(grammar, nouns, words, named[at], typed.get(at, ()))
            edges += [edge._replace(rank=_SPAN_RANK) if edge.end == moved.get(at) else edge for edge in owned]
        if offered is not None:
            edges += [Edge(at, edge.end, pointed, _SPAN_RANK, edge.symbol) for edge in offered.scan(words, at)]
        return edges + [Edge(at, end, other, _OTHER_RANK) for end in _name_ends(grammar, words, at, barred)]

    rows = {id(nouns.trie): (nouns.trie, named)}
    lattice = Lattice(len(words), steps, scan)
    return UtteranceLattice(units, words, lattice, taken, within, verbs, _rows=rows)


def _nobody(match: PayeeMatch | None) -> bool:
    """Whether nobody of the book is named."""
    return match is None or match.outcome is MatchOutcome.NOBODY


def _moved(grammar: Grammar, nouns: CallerNouns, words: tuple[str, ...], named: list[list[Edge]]) -> dict[int, int]:
    """Where an own account begins and ends that money of another goes into, whatever else it is a word for."""
    rules, rows = grammar.cues, () if grammar.spaced else named
    owned = ([(noun, e) for e in row if (noun := nouns.nouns[e.symbol]).kind == "account" and noun.id] for row in rows)
    own = [max(each, key=lambda one: one[1].end) for each in owned if each]
    paying = {noun.id for noun, e in own if rules.outof.scan(words, e.end)}
    into = [(noun, e) for noun, e in own if rules.onto.scan(words, e.end)]
    return {e.start: e.end for noun, e in into if paying - {noun.id}}


def _spelled(grammar: Grammar, nouns: CallerNouns, words: tuple[str, ...], taken: frozenset[int]) -> tuple[str, ...]:
    """The words with slips of the keyboard mended, outside typed tokens and names of the caller's things."""
    known = (i in taken or word in nouns.units for i, word in enumerate(words))
    return tuple(
        word if right else grammar.typos.correct(word) or word for right, word in zip(known, words, strict=True)
    )


def _told(grammar: Grammar, heard: Annotation, context: Context, units: Units) -> dict[int, list[Edge]]:
    """Things that are told by their last digits."""
    told: dict[int, list[Edge]] = {}
    for edge, noun in numbered(grammar, heard, context, units):
        rank = _NOUN_RANK[noun.kind] if edge.end == edge.start + 1 else _SPAN_RANK
        told.setdefault(edge.start, []).append(edge._replace(rank=rank, value=noun))
    return told


def _owned(
    grammar: Grammar, nouns: CallerNouns, words: tuple[str, ...], named: Iterable[Edge], typed: Iterable[Edge]
) -> Iterator[Edge]:
    """The caller's things by their names."""
    biller = grammar.symbols["biller"]
    billing = any(edge.symbol == biller for edge in typed)
    for edge in named:
        noun = nouns.nouns[edge.symbol]
        if noun.id is None and billing:  # the company is a payee whose bill the caller has
            continue
        weak = noun.in_part or (edge.end == edge.start + 1 and words[edge.start] in grammar.words.weak_nouns)
        rank = _NOUN_RANK[noun.kind]
        if weak:
            rank = _WEAK_RANK if grammar.spaced else _WEAK_RANK + rank
        yield Edge(edge.start, edge.end, grammar.symbols[noun.kind], rank, noun)


def _offered(grammar: Grammar, context: Context) -> Trie | None:
    """The words that point at one of what was offered; each phrase's symbol is the choice's number, 1-based."""
    if not any(context.offered):
        return None
    trie = Trie()
    for number, phrases in enumerate(context.offered, 1):
        for phrase in phrases:
            trie.add(grammar.units(phrase).words, number)
    return trie


def _typed(
    grammar: Grammar, heard: Annotation, context: Context, units: Units
) -> tuple[dict[int, list[Edge]], frozenset[int], frozenset[int]]:
    edges: dict[int, list[Edge]] = {}
    taken: set[int] = set()
    within: set[int] = set()
    own = vocabulary(grammar, context).trie
    for span in heard.spans:
        place = units.covering(span.start, span.end)
        if place is None:
            continue
        begin, end = place
        after = end < len(units.words) and grammar.phrases.counted.scan(units.words, end)
        before = units.words[begin:end] == grammar.words.one and (
            own.ends(units.words, begin, _MAX_NAME) or _one_of(grammar, heard, units, begin)
        )
        if span.kind is SpanKind.NUMBER and (after or before):  # "one transfer", "two accounts", "the electric one"
            edges.setdefault(begin, []).append(Edge(begin, end, grammar.symbols["number"], _SPAN_RANK, span))
            continue
        taken.update(range(begin, end))
        within.update(range(begin + 1, end))
        for name in _TYPED[span.kind]:
            edges.setdefault(begin, []).append(Edge(begin, end, grammar.symbols[name], _SPAN_RANK, span))
    match = heard.payees
    if match is not None and (place := units.covering(match.start, match.end)) is not None:
        for begin, rank in _name_starts(grammar, units.words, *place):
            edge = Edge(begin, place[1], grammar.symbols["payee"], rank, match)
            edges.setdefault(begin, []).append(edge)
            if (bill := billed(grammar, context, match)) is not None:
                edges[begin].append(Edge(begin, place[1], grammar.symbols["biller"], rank, bill))
        if match.outcome is MatchOutcome.CLEAR:
            taken.update(range(*place))
            within.update(range(place[0] + 1, place[1]))
    return edges, frozenset(taken), frozenset(within)


def _one_of(grammar: Grammar, heard: Annotation, units: Units, at: int) -> bool:
    """Whether words before "one" make it one of several: "that one", "the emily one"."""
    match, ones = heard.payees, grammar.words.ones
    place = units.covering(match.start, match.end) if match is not None else None
    if place is not None and units.words[place[1] : at] in {(), ("s",)} and place[0] < at:
        return bool(ones.intersection(units.words[max(0, place[0] - 1) : place[0] + 1]))
    return at > 0 and units.words[at - 1] in ones


def _name_starts(grammar: Grammar, words: tuple[str, ...], begin: int, end: int) -> list[tuple[int, int]]:
    """Where a name may begin, preferred first: a particle before it is often taken with it."""
    if end - begin > 1 and words[begin] in grammar.words.leading_particles:
        return [(begin + 1, _PAYEE_RANK)]
    if end - begin > 2 and words[begin] in grammar.words.maybe_particles:  # noqa: PLR2004 - a name is two characters or more
        return [(begin, _PAYEE_RANK), (begin + 1, _PAYEE_RANK + 1)]
    return [(begin, _PAYEE_RANK)]


def _in_no_name(grammar: Grammar, words: tuple[str, ...], taken: frozenset[int]) -> list[bool]:
    """Of each unit whether it is in no unknown name."""
    others = grammar.phrases.not_names
    if grammar.spaced:
        return [at in taken or not word.isalpha() or others.begins((word,), 0) for at, word in enumerate(words)]
    return [at in taken or not _name_like(word) or others.begins(words, at) for at, word in enumerate(words)]


def _name_ends(grammar: Grammar, words: tuple[str, ...], at: int, barred: list[bool]) -> range:
    """Where an unknown name that begins at a unit may end: of one word, or of some characters."""
    if words[at] == "ー":  # within a word: スーパーさにー
        return range(0)
    stop = min(at + (1 if grammar.spaced else _MAX_NAME), len(words))
    return range(at + 1, next((each for each in range(at, stop) if barred[each]), stop) + 1)


def _name_like(char: str) -> bool:
    return in_nouns(char) or char.isascii() or char == "々"
