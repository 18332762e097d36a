"""What is told by the one of its kind that is not meant: 「普通じゃないほうから」, 「デビット以外のカードを止めて」.

The other one of two stands in its place, and the words are read so; of several it is asked which.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple, TypeAlias

from schemas.banking import Account, Bill, Card
from schemas.intent import Intent, Route, Slot, SlotName, Slots, Understood
from schemas.payee import MatchOutcome, PayeeMatch
from services.understanding.correction.merging import one_after_another, set_back, values
from services.understanding.correction.said import Said
from services.understanding.fast.words.vocabulary import vocabulary

_SLOTS: Final = {
    "account": frozenset({"account", "source", "target"}),
    "card": frozenset({"card"}),
    "bill": frozenset({"bill"}),
}
_DONE_TO: Final = frozenset({"card", "bill"})
"""Slots of what may be dealt with one after the other."""
_Owned: TypeAlias = Sequence[Account | Card | Bill]
_TWO: Final = 2
_MOST: Final = 4
"""Things of which it is asked which one is meant, at most."""


class _Others(NamedTuple):
    """Code points from what is not meant on, the others of its kind by id and name, and whether each is meant."""

    kind: str
    start: int
    end: int
    things: tuple[tuple[str, str], ...]
    words: str
    """What stands in that place, of the first of them."""
    every: bool


def told_by_another(said: Said, found: Understood, read: Callable[[str], Understood]) -> Understood | None:
    """What the words mean with the other one, or ones, in place of the one that is not meant."""
    if (of_those := _of_those_offered(said) or _pointed_out(said, found, read)) is not None:
        return of_those
    for other in _others(said):
        meant = read(said.text[: other.start] + other.words + said.text[other.end :])
        if _filled(other, meant.slots) is not None:
            back = set_back(meant, said.text, other.start, other.end, len(other.words))
            return back if len(other.things) == 1 else _of_several(back, other)
    return None


def _of_those_offered(said: Said) -> Understood | None:
    """Who is not meant, where it is asked which of several payees is, and nothing else is said."""
    context = said.context
    if context.asked is not SlotName.PAYEE or context.choices < _TWO:
        return None
    other = said.rules.patterns.names.other_person.fullmatch(said.text)
    if other is None:
        return None
    named = said.called(other["name"])
    if named is None or _nobody(named):
        return Understood(None) if said.rules.spaced else None  # "my da, no, the other one"
    rule = said.rules.cues.rule("other_one")
    rejected = (SlotName.PAYEE,)
    return Understood(Intent.CORRECT, route=Route.FAST, confidence=1.0, rule=rule, payees=named, rejected=rejected)


def _pointed_out(said: Said, found: Understood, read: Callable[[str], Understood]) -> Understood | None:
    """Which of those offered is told by a relationship: 「いや、バイトの子」; "the plumber one" is no dollar."""
    context = said.context
    told = said.rules.patterns.names.pointed_out.fullmatch(said.text) if not context.idle else None
    if told is None:
        return None
    name, offered = told["name"].casefold(), context.offered if context.asked is SlotName.PAYEE else ()
    fit = [at for at, marks in enumerate(offered, 1) if any(_so_called(name, each) for each in marks)]
    groups = told.groupdict()
    if len(fit) == 1 and groups.get("named"):  # 「隣のほうよ、聡さん」
        return read(groups["named"])
    if len(fit) == 1:
        rule = said.rules.cues.rule("other_one")
        slots = Slots(choice=Slot(fit[0], said.heard.evidence(*told.span("name"), rule)))
        return Understood(Intent.INFORM, slots, route=Route.FAST, confidence=1.0, rule=rule)
    named_alone = found.slots == Slots() and [each.slot for each in found.unresolved] == [SlotName.PAYEE]
    if offered and groups.get("which") and not fit and named_alone and _nobody(said.called(told["name"])):
        return Understood(None)  # 「赤いほう」 is nobody's name: which one is asked once more
    if told["one"] is None:
        return None
    meant = read(said.text[: told.start("one")])
    named = meant.slots.payee is not None or bool(meant.unresolved)
    return meant if named and meant.slots.amount is None else None


def _nobody(named: PayeeMatch | None) -> bool:
    return named is None or named.outcome is MatchOutcome.NOBODY


def _so_called(name: str, mark: str) -> bool:
    """Whether a name is such a word, or what one ends in: バイト of アルバイト."""
    return name == mark or (len(name) > _TWO and mark.endswith(name))


def _others(said: Said) -> Iterator[_Others]:
    """What is said not to be meant of the caller's things, as each of the kinds that its name may be of."""
    context = said.context
    if context.code:
        return
    owned: dict[str, _Owned] = {"account": context.accounts, "card": context.cards, "bill": context.bills}
    for found in said.rules.patterns.names.other_than.finditer(said.text):
        for kind, of_kind in owned.items():
            start, out = _named_up_to(said, kind, found.start())
            things = tuple((each.id, each.name) for each in of_kind if each.id not in out)
            if out and 0 < len(things) <= _MOST:
                words = said.rules.patterns.names.of.join(filter(None, (things[0][1], found["thing"])))
                yield _Others(kind, start, found.end(), things, words, bool(found["every"]))


def _named_up_to(said: Said, kind: str, end: int) -> tuple[int, set[str]]:
    """Where the things of a kind begin that are named in a row up to `end`, and which they are."""
    units, nouns = said.units, vocabulary(said.rules, said.context)
    found = [(edge, nouns.nouns[edge.symbol]) for edge in nouns.trie.edges(units.words)]
    named = [(units.ends[e.end - 1], units.starts[e.start], n.id) for e, n in found if n.kind == kind and n.id]
    out: set[str] = set()
    while ends := [each for each in named if each[0] == end]:
        _, start, id_ = min(ends, key=lambda each: each[1])
        out.add(id_)
        joint = next((each for each in said.rules.cues.joined if said.text.endswith(each, 0, start)), None)
        if joint is None:
            break
        end = start - len(joint)
    return (start if out else end), out


def _filled(other: _Others, slots: Slots) -> str | None:
    """The slot that has been filled with the one that was put in."""
    there, id_ = values(slots), other.things[0][0]
    return next((name for name in _SLOTS[other.kind] if name in there and there[name].value == id_), None)


def _of_several(meant: Understood, other: _Others) -> Understood:
    """The same of each of the others, or open between them."""
    name = _filled(other, meant.slots)
    assert name is not None, "it has been filled"
    slot: Any = values(meant.slots)[name]

    def of(slot: Any) -> Understood:
        slots: dict[str, Any] = {name: slot}
        return replace(meant, slots=replace(meant.slots, **slots))

    if other.every and name in _DONE_TO and meant.then is None:
        return one_after_another([of(replace(slot, value=id_)) for id_, _ in other.things])
    several = of(replace(slot, readings=tuple(id_ for id_, _ in other.things[1:])))
    return several if name == "account" else replace(several, doubted=(*meant.doubted, SlotName(name)))
