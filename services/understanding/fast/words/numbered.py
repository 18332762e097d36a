"""The caller's own things told by the last digits of their number: "the card ending in 1187", 末尾6405のカード."""

from collections.abc import Iterator
from typing import Final

from schemas.intent import Annotation, Context
from schemas.span import Span, SpanKind
from services.understanding.fast.patterns.lattice import Edge, Trie
from services.understanding.fast.patterns.units import Units
from services.understanding.fast.ruleset.grammar import Grammar
from services.understanding.fast.words.vocabulary import Noun

DIGITS: Final = frozenset({SpanKind.DIGITS, SpanKind.NUMBER})
_SIZE: Final = 4
_BARE: Final = "account"
"""The kind of what may be told by its number behind its name alone."""
_LONGEST: Final = 4
"""Units of a word that stands before the digits, at most, in phrases of ours."""


def numbered(rules: Grammar, heard: Annotation, context: Context, units: Units) -> Iterator[tuple[Edge, Noun]]:
    """Where accounts and cards are told so, with the words around the digits and without, the shortest first.

    Digits without such words are a card's alone: of an account they may be an amount, but behind "from".
    """
    for span in heard.spans:
        owner = of_number(span, context)
        place = units.covering(span.start, span.end) if owner is not None else None
        if owner is None or place is None:
            continue
        kinds = {kind: trie for kind, trie in rules.numbered.items() if kind != owner.kind}
        for start, end in _around(rules, owner.kind, units.words, *place):
            if any(trie.begins(units.words, at) for trie in kinds.values() for at in range(start, place[0])):
                continue  # "the debit card ending" in the number of an account
            if (start, end) != place or owner.kind == "card" or _paying(rules, units.words, place[0]):
                yield Edge(start, end, rules.symbols[owner.kind]), owner


def of_number(span: Span, context: Context) -> Noun | None:
    """The one account or card whose number ends in these four digits."""
    if span.kind not in DIGITS:
        return None
    digits = "".join(char for char in str(span.value) if char.isdecimal())
    if len(digits) != _SIZE:
        return None
    owners: list[tuple[str, str]] = [("account", account.id) for account in context.accounts if account.last4 == digits]
    owners += [("card", card.id) for card in context.cards if card.last4 == digits]
    return Noun(owners[0][0], owners[0][1], 1) if len(owners) == 1 else None


def told_so(rules: Grammar, units: Units, start: int) -> bool:
    """Whether words before unit `start` say that a number ends in what follows."""
    return _begins(rules.ending, units.words, start) < start


def _paying(rules: Grammar, words: tuple[str, ...], at: int) -> bool:
    """Whether a word before unit `at` tells where money comes from, or is: "from 4021", "the balance on 4021"."""
    return rules.spaced and at > 0 and words[at - 1] in rules.words.outof | rules.words.at_number


def _around(rules: Grammar, kind: str, words: tuple[str, ...], start: int, end: int) -> list[tuple[int, int]]:
    """The digits; with the words that say that a number ends in them; with what ends so, before or behind."""
    things, found = rules.numbered[kind], [(start, end)]
    begin = _begins(rules.ending, words, start)
    stop = things.longest(words, end)[0] if end < len(words) else end
    if begin < start or kind == _BARE:  # "account 4021"
        found.append((begin, end))
        found.append((_begins(things, words, begin), end))
    if stop > end:
        found.append((begin, stop))
    return list(dict.fromkeys(found))


def _begins(phrases: Trie, words: tuple[str, ...], end: int) -> int:
    """Where the longest of the phrases begins that ends before unit `end`; `end` where there is none."""
    starts = range(max(0, end - _LONGEST), end)
    return next((at for at in starts if any(edge.end == end for edge in phrases.scan(words, at))), end)
