"""`Understander`: one utterance in, its meaning or an honest "not here" out. Pure, linear, well under a millisecond."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from rules.locales import locale_rules
from schemas.ids import Locale, RuleId, language
from schemas.intent import Context, Heard, Intent, Mention, Route, SlotName, Slots, Understood
from schemas.payee import PayeeMatch
from services.understand.fast.confidence import confidence
from services.understand.fast.grammar import ALLOWED, RANK, Grammar, Template, grammar
from services.understand.fast.reading import Reading, read
from services.understand.fast.routing import route_unmatched
from services.understand.fast.rules import When
from services.understand.fast.slots import Filling
from services.understand.fast.units import MAX_CHARS

MAX_UNITS: Final = 80
"""Longer utterances are no commands; they go to extraction or retrieval."""
MAX_COMMANDS: Final = 3
"""So many commands may be said in one breath."""
_NEARNESS: Final[dict[When, int]] = {
    "code": 0,
    "offered": 0,
    "asked": 1,
    "confirming": 2,
    "pending": 2,
    "joined": 2,
    "always": 3,
}
"""Between rules of one class, what was asked for comes first."""
_COMMAS: Final = frozenset(",、，;；")
_Rank = tuple[int, int, int]
FindPayee = Callable[[str], PayeeMatch | None]
"""Who a name said alone is, in the caller's book."""


@dataclass(frozen=True, slots=True)
class _Hearing:
    heard: Heard
    context: Context
    reading: Reading
    first: int
    enabled: frozenset[int]
    find_payee: FindPayee | None


class Understander:
    """The compiled grammar of one locale."""

    def __init__(self, rules: Grammar, currency: str) -> None:
        self._grammar = rules
        self._currency = currency
        self._starts: dict[tuple[SlotName | None, bool, bool, bool, bool], tuple[int, frozenset[int]]] = {}

    @classmethod
    def for_locale(cls, locale: Locale) -> "Understander":
        """The understander of a locale, compiled once a process. Raises RulesInvalid, UnsupportedLocale."""
        return _for_locale(locale)

    def understand(self, heard: Heard, context: Context, find_payee: FindPayee | None = None) -> Understood:
        """What `heard` means in `context`; never raises on any text.

        `find_payee` is asked about a name that the grammar sees and the payee search over the whole words did not.
        """
        reading = read(self._grammar, heard, context)
        size = len(reading.words)
        if size == 0:
            return Understood(None, payees=heard.payees)
        if len(heard.transcript.text) > MAX_CHARS or size > MAX_UNITS * (1 if self._grammar.spaced else 2):
            return self._unmatched(heard, reading, ())
        first, enabled = self._start(context)
        hearing = _Hearing(heard, context, reading, first, enabled, _once(find_payee))
        found, vetoes = self._within(hearing, 0, size)
        if found is None:
            first, enabled = self._start(context, joined=True)
            found = self._several(replace(hearing, first=first, enabled=enabled), 0, MAX_COMMANDS)
        return found if found is not None else self._unmatched(heard, reading, vetoes)

    def _start(self, context: Context, *, joined: bool = False) -> tuple[int, frozenset[int]]:
        key = (context.asked, context.confirming, context.code, any(context.offered), joined)
        made = self._starts.get(key)
        if made is None:
            enabled = [i for i, t in enumerate(self._grammar.templates) if _applies(t, context, joined=joined)]
            made = self._starts[key] = (self._grammar.automaton.first_of(enabled), frozenset(enabled))
        return made

    def _within(self, hearing: _Hearing, start: int, end: int) -> tuple[Understood | None, tuple[RuleId, ...]]:
        """The one best meaning of units `start` … `end`, and the vetoes met on the way."""
        rules, lattice = self._grammar, hearing.reading.lattice
        sets = rules.automaton.run(lattice, start, end, hearing.first)
        accepted = [i for i in rules.automaton.accepted(sets[end]) if i in hearing.enabled]
        if not accepted:
            return None, ()
        stopped = self._vetoes(hearing.reading, start, end)
        vetoes = tuple(RuleId(f"veto.{name}") for name in sorted(stopped))
        allowed = [i for i in accepted if not rules.templates[i].vetoes & stopped]
        made: list[tuple[_Rank, Understood]] = []
        for index in allowed:
            template = rules.templates[index]
            captures = rules.automaton.trace(lattice, sets, index, end, hearing.first)
            filling = Filling(hearing.heard.transcript.text, hearing.reading, template.rule, self._currency)
            filling.take(captures)
            if filling.twice:
                vetoes += tuple(RuleId(f"veto.two_{slot}") for slot in sorted(filling.twice))
                continue
            filling.give(template.give)
            if hearing.find_payee is not None:
                filling.name_payee(hearing.find_payee)
            meaning = self._understood(hearing, template, filling)
            rank = (RANK[template.rule_class], _NEARNESS[template.when], len(meaning.unresolved))
            made.append((rank, meaning))
        return _choose(made, rules.confidence.precedence), vetoes

    def _vetoes(self, reading: Reading, start: int, end: int) -> set[str]:
        found: set[str] = set()
        at = start
        while at < end:
            stop, symbols = self._grammar.guards.longest(reading.words, at)
            if at in reading.taken or not symbols:
                at += 1
            elif ALLOWED in symbols:
                at = stop
            else:
                found.update(self._grammar.guard_names[symbol] for symbol in symbols)
                at += 1
        return found

    def _understood(self, hearing: _Hearing, template: Template, filling: Filling) -> Understood:
        slots = filling.slots()
        sure = confidence(self._grammar.confidence, template.rule_class, hearing.heard, filling.payees)
        return Understood(
            intent=template.intent,
            slots=slots,
            missing=_missing(template.wants, slots),
            route=template.route or self._route(template.intent, sure),
            confidence=sure,
            rule=template.rule,
            payees=filling.payees,
            unresolved=_unresolved(filling.mentions, slots),
            rejected=tuple(SlotName(name) for name in template.rejects),
        )

    def _route(self, intent: Intent, sure: float) -> Route:
        if intent is Intent.HUMAN_HANDOFF:
            return Route.HUMAN
        if intent is Intent.QNA:
            return Route.QNA
        if sure >= self._grammar.confidence.act:
            return Route.FAST
        return Route.CLARIFY if sure >= self._grammar.confidence.ask else Route.EXTRACT

    def _several(self, hearing: _Hearing, start: int, left: int) -> Understood | None:
        """Commands said in one breath from unit `start` on, at most `left`, each keeping the next.

        One of two may lack its verb: "send fifty to ann and twenty to bob".
        """
        size = len(hearing.reading.words)
        for at in range(start + 1, size - 1):
            stop = self._joint(hearing, at)
            if stop is None or stop >= size:
                continue
            one, _ = self._within(hearing, start, at)
            if one is None:
                continue
            two, _ = self._within(hearing, stop, size)
            if two is None and left > 2:  # noqa: PLR2004 - the rest is two or more
                two = self._several(hearing, stop, left - 1)
            if two is not None and _apart(one, two):
                return one if two.intent is one.intent and two.slots == one.slots else replace(one, then=two)
        return None

    def _joint(self, hearing: _Hearing, at: int) -> int | None:
        """Where what is joined at unit `at` begins: after a conjunction, or after a comma that was written."""
        reading = hearing.reading
        stop, symbols = self._grammar.conjunctions.longest(reading.words, at)
        if symbols and at not in reading.taken:
            return stop
        between = hearing.heard.transcript.text[reading.units.ends[at - 1] : reading.units.starts[at]]
        return at if _COMMAS.intersection(between) else None

    def _unmatched(self, heard: Heard, reading: Reading, vetoes: tuple[RuleId, ...]) -> Understood:
        stopped = self._vetoes(reading, 0, len(reading.words))
        named = vetoes or tuple(RuleId(f"veto.{name}") for name in sorted(stopped))
        route, intent = route_unmatched(self._grammar, heard, reading, stopped)
        return Understood(intent, route=route, vetoes=named, payees=heard.payees)


@lru_cache(maxsize=8)
def _for_locale(locale: Locale) -> Understander:
    return Understander(grammar(language(locale)), locale_rules(locale).currency)


def _once(find_payee: FindPayee | None) -> FindPayee | None:
    """The same search, made once for a name however many templates see it."""
    return None if find_payee is None else lru_cache(maxsize=8)(find_payee)


def _applies(template: Template, context: Context, *, joined: bool) -> bool:
    asked = context.asked is not None
    applies: dict[When, bool] = {
        "always": True,
        "asked": asked and (not template.asked or context.asked in template.asked),
        "confirming": context.confirming,
        "pending": context.confirming or asked,
        "code": context.code,
        "offered": any(context.offered),
        "joined": joined,
    }
    return applies[template.when]


def _choose(made: list[tuple[_Rank, Understood]], precedence: tuple[Intent, ...]) -> Understood | None:
    if not made:
        return None
    best = min(rank for rank, _ in made)
    top = [found for rank, found in made if rank == best]
    if all(found.intent in precedence for found in top):
        first = next(intent for intent in precedence if any(found.intent is intent for found in top))
        top = [found for found in top if found.intent is first]
    if len({found.intent for found in top}) == 1:
        return max(top, key=lambda found: (sum(v is not None for v in _values(found.slots)), -len(found.unresolved)))
    return replace(top[0], intent=None, slots=Slots(), missing=(), route=Route.EXTRACT, confidence=0.0)


def _apart(one: Understood, two: Understood) -> bool:
    """Whether two commands are two: "send five and six to ann" may be one amount said twice."""
    if one.intent is not Intent.TRANSFER_MONEY or two.intent is not Intent.TRANSFER_MONEY:
        return True
    named = all(
        part.slots.payee is not None
        or part.slots.target is not None
        or any(mention.slot is SlotName.PAYEE for mention in part.unresolved)
        for part in (one, two)
    )
    return named and not (_verbless(one) and _verbless(two))


def _verbless(part: Understood) -> bool:
    return part.rule is not None and ".and_to@" in part.rule


def _values(slots: Slots) -> list[object]:
    return [getattr(slots, name) for name in Slots.__slots__]


def _missing(wants: tuple[str, ...], slots: Slots) -> tuple[SlotName, ...]:
    """`a|b` is there when either is; the first name is the one that is asked for."""
    absent = [want.split("|") for want in wants]
    return tuple(SlotName(names[0]) for names in absent if all(getattr(slots, name) is None for name in names))


def _unresolved(mentions: dict[SlotName, Mention], slots: Slots) -> tuple[Mention, ...]:
    return tuple(mention for name, mention in mentions.items() if getattr(slots, name.value) is None)
