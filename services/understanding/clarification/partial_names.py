"""What is named by words of its name: an account, card or bill of the caller's is never said not to be there.

"From my own account", of Joan's own account; 「ジムの支払い」, of ジム会費. Of several one is asked.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Final, NamedTuple

from schemas.banking import Account, Bill, Card
from schemas.ids import RuleId
from schemas.intent import MONEY_MOVING, READING, Evidence, Mention, Slot, SlotName, Slots, Understood
from schemas.span import overlap
from services.understanding.correction.said import Said

_RULE: Final = RuleId("intents.partial_name@1")
_KINDS: Final = {
    SlotName.ACCOUNT: "account",
    SlotName.SOURCE: "account",
    SlotName.TARGET: "account",
    SlotName.CARD: "card",
    SlotName.BILL: "bill",
}
_LEAST: Final = 2
"""Characters of a part of a name, in a script without spaces."""
_SCRIPTS: Final = re.compile(r"[a-z0-9]+|[ァ-ヺー]+|[一-鿿々]+|.")


class _Owned(NamedTuple):
    id: str
    name: str


def in_part(said: Said, found: Understood) -> Understood | None:
    """What was named in vain as the thing whose name has its words; None where no name has them."""
    meant = _told(said, found)
    then = in_part(said, found.then) if found.then is not None else None
    meant = replace(meant, then=then) if then is not None else meant
    return meant if meant is not found else None


def _told(said: Said, found: Understood) -> Understood:
    drawn, found = _drawn_on(said, found), _as_written(said, _another_so_called(said, found))
    for mention in (*found.unresolved, *([drawn] if drawn is not None else [])):
        found = _resolved(said, found, mention) if mention.slot in _KINDS else found
    return found


def _as_written(said: Said, found: Understood) -> Understood:
    """The one whose order is read back, named as that name is written, though others' sound like it."""
    names, match = said.context.terms.names, said.heard.payees
    told = next((each for each in found.unresolved if each.slot is SlotName.PAYEE), None)
    if told is None or match is None or said.rules.spaced or found.slots.payee is not None:
        return found
    heard = "".join(told.evidence.surface.split())
    called = [c.id for c in match.candidates if "".join(c.display_name.split()) == heard and c.display_name in names]
    if len(called) != 1:
        return found
    slots = replace(found.slots, payee=Slot(called[0], told.evidence))
    return replace(found, slots=slots, unresolved=tuple(each for each in found.unresolved if each is not told))


def _resolved(said: Said, found: Understood, mention: Mention) -> Understood:
    name = mention.slot.value
    left = tuple(each for each in found.unresolved if each is not mention)
    slot: Slot[Any] | None = getattr(found.slots, name)
    if slot is not None:
        named_so = overlap(slot.evidence, mention.evidence) and mention.evidence.surface in slot.evidence.surface
        return replace(found, unresolved=left) if named_so else found
    ids = _fitting(said, mention)
    if mention.slot in {SlotName.SOURCE, SlotName.TARGET}:
        ids = [each for each in ids if each not in _accounts(found.slots)]
    if not ids or (len(ids) > 1 and mention.slot is SlotName.CARD):  # which of them is asked by their names
        return found
    if len(ids) > 1 and found.intent in READING and mention.slot is not SlotName.ACCOUNT:
        return replace(found, unresolved=left)  # all of the kind are told
    several = len(ids) > 1 and found.intent not in READING
    doubted = (*found.doubted, mention.slot) if several else found.doubted
    told: dict[str, Any] = {name: Slot(ids[0], mention.evidence, tuple(ids[1:]))}
    slots = replace(found.slots, **told)
    missing = tuple(each for each in found.missing if each is not mention.slot)
    return replace(found, slots=slots, missing=missing, unresolved=left, doubted=doubted)


def _accounts(slots: Slots) -> set[str]:
    """The accounts that are named already."""
    return {slot.value for slot in (slots.source, slots.target) if slot is not None}


def _fitting(said: Said, mention: Mention) -> list[str]:
    """The caller's things of that kind whose names have all the words, but for those of each such thing."""
    kind, context = _KINDS[mention.slot], said.context
    own: tuple[Account | Card | Bill, ...] = context.bills
    if kind != "bill":
        own = context.accounts if kind == "account" else context.cards
    things = [_Owned(each.id, each.name) for each in own]
    fits = _by_words(said, kind, mention.evidence.surface)
    fitting = [thing for thing in things if fits(thing.name)]
    full = [thing for thing in fitting if _in_full(said, thing.name, mention.evidence)]
    longest = max((len(thing.name) for thing in full), default=0)
    return [thing.id for thing in fitting if not full or (thing in full and len(thing.name) == longest)]


def _in_full(said: Said, name: str, told: Evidence) -> bool:
    """Whether the whole name stands where a part of it was read."""
    words, names = said.units.words, said.rules.units(name).words
    place = said.units.covering(told.start, told.end)
    if place is None or not names:
        return False
    begins = range(max(0, place[1] - len(names)), place[0] + 1)
    return any(words[at : at + len(names)] == names for at in begins)


def _by_words(said: Said, kind: str, heard: str) -> Callable[[str], bool]:
    generic = said.rules.nouns.generic.get(kind, ())
    if said.rules.spaced:
        common = generic if _bearing(said, heard, generic) else ()  # "the checking account", where there are two
        told = _bearing(said, heard, common)
        return lambda name: bool(told) and told <= _bearing(said, name, common)
    told_so = _bare((*said.rules.nouns.called, *generic), "".join(said.rules.units(heard).words))
    return lambda name: _holds("".join(said.rules.units(name).words), told_so)


def _bearing(said: Said, text: str, generic: tuple[str, ...]) -> set[str]:
    """The words of a name that tell it from others of its kind, none with the s of an owner or of several."""
    common = {*generic, *said.rules.nouns.called}
    return {word.removesuffix("s") for word in said.rules.units(text).words if word not in common}


def _bare(endings: tuple[str, ...], heard: str) -> str:
    """What was heard without what may be said behind any name."""
    ending = next((each for each in endings if heard.endswith(each) and len(heard) - len(each) >= _LEAST), "")
    return _bare(endings, heard.removesuffix(ending)) if ending else heard


def _holds(name: str, part: str) -> bool:
    """Whether a name has such a part, which cuts no word: 教育 of 教育資金, but ガス is none of ガスト."""
    if len(part) < _LEAST:
        return False
    edges, compound = {at for run in _SCRIPTS.finditer(name) for at in run.span()}, min(part) >= "一"
    ends = ((at in edges, at + len(part) in edges) for at in _places(name, part))
    return any(any(at_edge) if compound else all(at_edge) for at_edge in ends)


def _places(name: str, part: str) -> Iterator[int]:
    return (at for at in range(len(name) - len(part) + 1) if name.startswith(part, at))


def _drawn_on(said: Said, found: Understood) -> Mention | None:
    """The own account that an order is to be paid from, where no rule took its words: "from my own account"."""
    asked = any(each.slot is SlotName.SOURCE for each in found.unresolved)
    if found.intent not in MONEY_MOVING or found.slots.source is not None or asked:
        return None
    named = next((each for each in _own_sources(said) if not _of_another(found.slots, each)), None)
    return None if named is None else Mention(SlotName.SOURCE, named)


def _own_sources(said: Said) -> list[Evidence]:
    found = said.rules.patterns.names.own_source.finditer(said.text)
    return [said.heard.evidence(each.start("name"), each.end("name"), _RULE) for each in found]


def _another_so_called(said: Said, found: Understood) -> Understood:
    """The order with its source in doubt, where words of another account's name stand by it: "from the joint pot"."""
    source, accounts = found.slots.source, said.context.accounts
    named = next((each for each in _own_sources(said) if source and overlap(each, source.evidence)), None)
    if source is None or named is None or source.readings or found.intent not in MONEY_MOVING:
        return found
    generic = said.rules.nouns.generic.get("account", ())
    names = {account.id: _bearing(said, account.name, generic) for account in accounts}
    beside = _bearing(said, named.surface, generic) - names.get(source.value, set())
    others = tuple(id_ for id_, words in names.items() if words & beside)
    if not others:
        return found
    slots = replace(found.slots, source=Slot(others[0], named, (*others[1:], source.value)))
    return replace(found, slots=slots, doubted=(*found.doubted, SlotName.SOURCE))


def _of_another(slots: Slots, named: Evidence) -> bool:
    """Whether the words name something else."""
    filled = (getattr(slots, name) for name in Slots.__slots__)
    return any(overlap(slot.evidence, named) for slot in filled if slot is not None and slot.evidence.surface)
