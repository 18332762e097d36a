"""A command in another's place: "show me my transactions, no, my balance", "lock my credit card, sorry, my debit card".

What is wanted instead is a command of its own, which is taken alone, or a thing, which takes the place of the one that
the command was about. Orders for money that are corrected stay orders: see `repair`.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from schemas.intent import MONEY_MOVING, READING, Evidence, Intent, Route, Understood
from services.understanding.correction.editing_terms import MAX_CUTS, PAUSES, Cut, last_cuts
from services.understanding.correction.merging import differ_in, values
from services.understanding.correction.said import Said
from services.understanding.fast.ruleset.grammar import Grammar
from services.understanding.fast.ruleset.meanings import CARDS
from services.understanding.fast.words.vocabulary import vocabulary

_DONE: Final = READING | CARDS
"""What is about a thing, and moves no money."""
_WANTED: Final = _DONE | MONEY_MOVING
_SAID: Final = _WANTED | {Intent.INFORM, Intent.CORRECT}
"""What is taken back: a command, or a part of one."""
_AROUND: Final = 3
"""Places at which the words about a thing may begin: "my", "the"."""
_MOST_AROUND: Final = 4
"""Units beside a thing that is named by itself."""
_OPEN: Final = {None, Intent.QNA, Intent.CANCEL, Intent.START_OVER, Intent.CORRECT, Intent.INFORM}
"""What an utterance may have been taken for that holds a command in another's place."""


@dataclass(frozen=True, slots=True)
class _CutInTwo:
    """An utterance cut where it may take something back."""

    said: Said
    cut: Cut

    @property
    def rules(self) -> Grammar:
        """The rules of its language."""
        return self.said.rules

    @property
    def earlier(self) -> Understood:
        """What the earlier part means."""
        return self.read(0, self.cut.end)

    def read(self, start: int, end: int) -> Understood:
        """What a part means."""
        return self.said.look(start, end, self.said.context)

    @property
    def later(self) -> str:
        """The words of the later part."""
        return self.said.text[self.cut.start : self.cut.stop]

    @property
    def undone(self) -> bool:
        """Whether the words between the parts take back what was said."""
        words = self.rules.units(self.said.text[self.cut.mark : self.cut.start]).words
        return self.cut.denied or self.rules.cues.undoing.holds(words)

    def told(self, evidence: Evidence) -> Evidence:
        """The later part, as evidence by the rule of what it takes the place of."""
        return self.said.heard.evidence(self.cut.start, self.cut.stop, evidence.rule)


def superseded(said: Said, found: Understood) -> Understood | None:
    """What is wanted instead of what was said first; None where nothing was taken back."""
    rules, text, context = said.rules, said.text, said.context
    if not context.idle or context.code or not (_may_hold_another(found) or _starts_over(rules, text)):
        return None
    for cut in last_cuts(said):
        parts = _CutInTwo(said, cut)
        if (two := _ordered_too(parts)) is not None:
            return two
        if cut.denies:
            if (dropped := _dropped(parts)) is not None:
                return replace(dropped, rule=rules.cues.rule("superseded"))
            continue
        if rules.cues.first.holds(rules.units(text[cut.start :]).words):
            return None  # something is wanted first, or as well
        meant = _anew(parts, found)
        for place in (cut, *_restated(parts)):
            meant = meant or _about(replace(parts, cut=place))
        meant = meant or _behind(parts) or _taken_back(parts)
        if meant is not None:
            return replace(meant, rule=rules.cues.rule("superseded"))
    pauses = () if rules.spaced else tuple(PAUSES.finditer(text))[:MAX_CUTS]
    places = (Cut(p.start(), p.end(), p.end(), len(text)) for p in pauses if p.start() > 0 and p.end() < len(text))
    taken = (_taken_back(_CutInTwo(said, cut)) for cut in places)
    return next((each for each in taken if each is not None), None)


def _may_hold_another(found: Understood) -> bool:
    """Whether something else may have been wanted than it was taken for."""
    unsure = found.intent in _OPEN or found.route in {Route.EXTRACT, Route.CLARIFY}
    return unsure or found.intent in _DONE or found.then is not None


def _ordered_too(parts: _CutInTwo) -> Understood | None:
    """What is looked up, and then a whole order: "when is the electric due, oh and pay my phone bill"."""
    if not parts.rules.spaced or parts.undone or (one := parts.earlier).intent not in READING or not _whole(one):
        return None
    two = parts.read(parts.cut.start, parts.cut.stop)
    return replace(one, then=two) if two.intent in MONEY_MOVING and _whole(two) else None


def _anew(parts: _CutInTwo, found: Understood) -> Understood | None:
    """A whole command behind words that take back what was said, or behind any where both are of one kind."""
    cut, text = parts.cut, parts.said.text
    two = parts.read(cut.start, cut.stop)
    if not _whole(two):
        return None
    one = parts.earlier
    if one.intent not in _SAID and not any(_noun(parts, text[: cut.end])):
        return None  # "what happens if I send it to the wrong card"
    if two.intent in MONEY_MOVING and found.intent in MONEY_MOVING:
        return two if _starts_over(parts.rules, text[cut.mark : cut.start]) else None
    if parts.undone:
        return two
    return two if two.intent in _DONE and one.intent is two.intent and one.then is None else None


def _dropped(parts: _CutInTwo) -> Understood | None:
    """What moves no money behind what is not wanted any more: "forget dave, lock my debit card"."""
    rules, text, cut = parts.rules, parts.said.text, parts.cut
    pause = PAUSES.search(text, cut.start, cut.stop) if rules.spaced else None
    if pause is None or not parts.undone:
        return None
    named, said = rules.units(text[cut.start : pause.start()]).words, rules.units(text[: cut.end]).words
    if not set(named) <= {*said, *rules.words.light}:
        return None  # "forget kate" is said of no order to dave
    two = parts.read(pause.end(), cut.stop)
    return two if two.intent in _DONE and _whole(two) and parts.earlier.intent in _SAID else None


def _taken_back(parts: _CutInTwo) -> Understood | None:
    """A whole command of another kind, behind a clause that takes back the first: 残高を教えて、いや残高はいいや、…."""
    rules, text, cut = parts.rules, parts.said.text, parts.cut
    ends = () if rules.spaced else _clause_ends(parts)
    dropped = [begin for end, begin in ends if rules.cues.dropping.holds(rules.units(text[cut.mark : end]).words)]
    one = parts.earlier if dropped else None
    if one is None or (one.intent not in _SAID and not any(_noun(parts, text[: cut.end]))):
        return None
    for begin in dropped:
        behind = rules.units(text[begin : cut.stop])
        leads = rules.cues.instead_of.longest(behind.words, 0)[0] if behind.words else 0
        for start in {0, leads} if leads < len(behind.words) else ():
            two = parts.read(begin + behind.starts[start], cut.stop)
            if _whole(two) and two.intent is not one.intent:
                return two
    return None


def _clause_ends(parts: _CutInTwo) -> Iterator[tuple[int, int]]:
    """Where clauses of the later part end, and the next begin: at marks, and behind words that give a reason."""
    cut = parts.cut
    yield from ((pause.start(), pause.end()) for pause in PAUSES.finditer(parts.said.text, cut.start, cut.stop))
    units, marks = parts.said.units, parts.rules.cues.because
    for at in range(1, len(units.words)):
        end = marks.longest(units.words, at)[0]
        if cut.start < units.starts[at] and at < end < len(units.words) and units.starts[end] < cut.stop:
            yield units.starts[at], units.starts[end]


def _restated(parts: _CutInTwo) -> Iterator[Cut]:
    """The cut with its end before the thing that is said again and denied: 普通の残高を、普通じゃなくて定期."""
    rules, text, cut = parts.rules, parts.said.text, parts.cut
    for pause in [*PAUSES.finditer(text, 0, cut.end)][-MAX_CUTS:]:
        again = rules.units(text[pause.end() : cut.end]).words
        if not rules.spaced and pause.start() and any(_noun(parts, text[pause.end() : cut.end])):
            yield replace(cut, end=pause.start(), mark=pause.end() if again else cut.mark)


def _whole(found: Understood) -> bool:
    """Whether it is one command, all of it read, that lacks nothing."""
    if found.intent not in _WANTED or found.rule is None or found.route is not Route.FAST:
        return False
    return found.whole and not (found.missing and found.intent in MONEY_MOVING)


def _starts_over(rules: Grammar, text: str) -> bool:
    """Whether words take back all that was said before them."""
    return rules.cues.from_start.holds(rules.units(text).words)


def _about(parts: _CutInTwo) -> Understood | None:
    """The earlier part's command about what was said later, told by putting that in the earlier thing's place."""
    one = parts.earlier
    if one.intent not in _DONE or one.rule is None or one.then is not None:
        return None
    if _of_all(parts.rules, one, parts.later):
        return replace(one, slots=replace(one.slots, account=None))
    if (other := _other_of_two(parts, one)) is not None:
        return other
    for name, slot in values(one.slots).items():
        for words in _places(parts, slot.evidence):
            found = parts.said.again(words)
            if _same_but(one, found, name):
                changed = replace(getattr(found.slots, name), evidence=parts.told(slot.evidence))
                return replace(one, slots=replace(one.slots, **{name: changed}))
    return None


def _other_of_two(parts: _CutInTwo, one: Understood) -> Understood | None:
    """The same of the caller's other card or account, where there are two and "the other one" is all that follows."""
    words, context = parts.rules.units(parts.later).words, parts.said.context
    if not parts.rules.cues.other_one.covers(words):
        return None
    owned: dict[str, list[str]] = {"card": [c.id for c in context.cards], "account": [a.id for a in context.accounts]}
    for name, ids in owned.items():
        slot = getattr(one.slots, name)
        others = [each for each in ids if slot is not None and each != slot.value]
        if slot is not None and len(others) == 1:
            other = replace(slot, value=others[0], evidence=parts.told(slot.evidence))
            return replace(one, slots=replace(one.slots, **{name: other}))
    return None


def _of_all(rules: Grammar, one: Understood, later: str) -> bool:
    """Whether what was looked up of one account is wanted of all of them: "no, both"."""
    of_one = one.intent in READING and one.slots.account is not None
    return of_one and rules.cues.all.covers(rules.units(later).words)


def _behind(parts: _CutInTwo) -> Understood | None:
    """A command whose verb stands behind the later thing, and the rest before it: 定期の残高を、普通のを教えて."""
    rules, text, cut, again = parts.rules, parts.said.text, parts.cut, parts.said.again
    if rules.spaced:
        return None
    nouns, units = vocabulary(rules, parts.said.context), parts.said.units
    edges = nouns.trie.edges(units.words)
    places = [(edge, noun) for edge in edges if (noun := nouns.nouns[edge.symbol]).id is not None]
    before = [(e, n) for e, n in places if units.ends[e.end - 1] <= cut.end]
    later = [(e, n) for e, n in places if units.starts[e.start] >= cut.start]
    if not before or not later or before[0][1].kind != later[0][1].kind:
        return None
    one, two = before[0][0], max((e for e, _ in later if e.start == later[0][0].start), key=lambda each: each.end)
    said, told = (text[units.starts[e.start] : units.ends[e.end - 1]] for e in (one, two))
    kind = before[0][1].kind
    for at in range(two.end, min(two.end + _MOST_AROUND, len(units.words))):
        rest = text[: cut.end] + text[units.starts[at] :]
        first = again(rest)
        if first.intent not in _DONE or first.rule is None:
            continue
        meant = again(rest.replace(said, told, 1))
        slot = getattr(meant.slots, kind)
        if slot is not None and _same_but(first, meant, kind):
            evidence = parts.said.heard.evidence(units.starts[two.start], units.ends[two.end - 1], first.rule)
            return replace(meant, slots=replace(first.slots, **{kind: replace(slot, evidence=evidence)}))
    return None


def _places(parts: _CutInTwo, thing: Evidence) -> Iterator[str]:
    """The earlier part with the later thing in place of its own, with and without the words around that."""
    rules, text, cut, said = parts.rules, parts.said.text, parts.cut, parts.later
    starts = [start for start in parts.said.units.starts if start <= thing.start][-_AROUND:]
    for later in dict.fromkeys((said, *_noun(parts, said), *_said_again(parts, said))):
        for start in reversed(starts):
            for end in dict.fromkeys((thing.end, cut.end)):
                yield text[:start] + later + (" " if rules.spaced else "") + text[end : cut.end].lstrip()


def _noun(parts: _CutInTwo, text: str) -> Iterator[str]:
    """The caller's own thing that words name, where the rest of them are words of ours."""
    rules = parts.rules
    units, nouns = rules.units(text), vocabulary(rules, parts.said.context)
    for at in range(len(units.words)):
        end, symbols = nouns.trie.longest(units.words, at)
        rest = (*range(at), *range(end, len(units.words)))
        if (
            symbols
            and len(rest) <= _MOST_AROUND
            and all(rules.trie.scan(units.words, i) or not rules.spaced for i in rest)
        ):
            yield text[units.starts[at] : units.ends[end - 1]]
            return


def _said_again(parts: _CutInTwo, text: str) -> Iterator[str]:
    """The one thing of the caller's own that words name first, and again: "checking, it's the checking ones I want"."""
    units, nouns = parts.rules.units(text), vocabulary(parts.rules, parts.said.context)
    named = [edge for edge in nouns.trie.edges(units.words) if nouns.nouns[edge.symbol].id is not None]
    if len(named) > 1 and named[0].start == 0 and len({nouns.nouns[edge.symbol].id for edge in named}) == 1:
        yield text[: units.ends[named[0].end - 1]]


def _same_but(one: Understood, found: Understood, name: str) -> bool:
    """Whether a command is the same but for this slot."""
    alike = found.intent is one.intent and found.route is Route.FAST and found.whole
    return alike and differ_in(one.slots, found.slots, name)
