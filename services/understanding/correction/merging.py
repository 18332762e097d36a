"""Meanings put together: what a part of an utterance says, and the later part's values in the earlier one's place."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any, Final

from schemas.ids import RuleId
from schemas.intent import (
    MONEY_MOVING,
    Annotation,
    Evidence,
    Intent,
    Mention,
    Route,
    Slot,
    SlotName,
    Slots,
    Understood,
)
from schemas.span import MoneyValue

_SHARED: Final = {"payee": "goes_to", "target": "goes_to", "portion": "amount"}
"""Slots that stand in one another's place."""
_OF_ANY: Final = frozenset({"source", "date"})
"""Slots that an order of either kind has."""


def merged(one: Understood, two: Understood, rule: RuleId) -> Understood:
    """The earlier part with the later part's values in place of its own of the same kind."""
    later = kinds(two)
    paying = one.intent is Intent.BILL_PAYMENT and two.intent is Intent.TRANSFER_MONEY and "goes_to" not in later
    if two.intent in MONEY_MOVING and one.intent in MONEY_MOVING and one.intent is not two.intent and not paying:
        return two
    one, kept = _kept(one, later)
    slots = Slots(**(kept | values(two.slots)))
    unresolved = (*(m for m in one.unresolved if kind(m.slot.value) not in later), *two.unresolved)
    there = {name for name in Slots.__slots__ if getattr(slots, name) is not None}
    named = {kind(name) for name in there}
    money, lacking = _ordered(one, two, there)
    routes = [part.route for part in (one, two) if part.route is not Route.FAST]
    return replace(
        money,
        slots=slots,
        missing=tuple(slot for slot in lacking if kind(slot.value) not in named),
        route=routes[0] if routes else Route.FAST,
        confidence=min(one.confidence, two.confidence),
        rule=rule,
        payees=two.payees if "goes_to" in later else one.payees,
        unresolved=unresolved,
        rejected=tuple(slot for slot in dict.fromkeys((*one.rejected, *two.rejected)) if slot.value not in there),
        unread=(*one.unread, *two.unread),
    )


def _kept(one: Understood, later: set[str]) -> tuple[Understood, dict[str, Slot[Any]]]:
    """The earlier part as what it is without what is said of `later`, and its slots that stay."""
    said = values(one.slots)
    kept = {name: slot for name, slot in said.items() if kind(name) not in later}
    of_any = {name: slot for name, slot in kept.items() if name in _OF_ANY}
    if "bill" in later and "goes_to" not in later and {"payee", "target"} & kept.keys() and "bill" not in said:
        return replace(one, missing=()), of_any  # a bill instead of a transfer
    if one.intent is Intent.BILL_PAYMENT and "bill" in kept and "goes_to" in later and "bill" not in later:
        missing = () if "amount" in later else (SlotName.AMOUNT,)
        return replace(one, intent=Intent.TRANSFER_MONEY, missing=missing), of_any  # somebody instead of a bill
    return one, kept


def _ordered(one: Understood, two: Understood, there: set[str]) -> tuple[Understood, tuple[SlotName, ...]]:
    """The part that tells what is done with money, and what the two of them lack for it."""
    money = next((part for part in (two, one) if part.intent in MONEY_MOVING), two)
    if "bill" in there and not {"payee", "target"} & there and money.intent is Intent.TRANSFER_MONEY:
        return replace(money, intent=Intent.BILL_PAYMENT), ()  # 払って is said of bills and of people
    lacking = (*one.missing, *two.missing) if money.intent in MONEY_MOVING else ()
    return money, tuple(dict.fromkeys(lacking))


def values(slots: Slots) -> dict[str, Slot[Any]]:
    """The slots that are filled, by name."""
    return {name: slot for name in Slots.__slots__ if (slot := getattr(slots, name)) is not None}


def same(one: Slot[Any], two: Slot[Any]) -> bool:
    """Whether two slots hold one value; an amount without its currency is that amount in any."""
    a, b = one.value, two.value
    if isinstance(a, MoneyValue) and isinstance(b, MoneyValue):
        return a.amount_minor == b.amount_minor and (a.currency == b.currency or None in {a.currency, b.currency})
    return bool(a == b)


def differ_in(one: Slots, two: Slots, name: str) -> bool:
    """Whether the same slots are filled, with the same values in all but this one."""
    before, after = values(one), values(two)
    alike = before.keys() == after.keys()
    return alike and all((after[each].value != slot.value) is (each == name) for each, slot in before.items())


def kind(name: str) -> str:
    """The slot's kind: slots of one kind stand in one another's place."""
    return _SHARED.get(name, name)


def kinds(part: Understood) -> set[str]:
    """The kinds of all that a part speaks of, filled or not."""
    said = {*values(part.slots), *(m.slot.value for m in part.unresolved), *(slot.value for slot in part.rejected)}
    return {kind(name) for name in said}


def shifted(found: Understood, by: int) -> Understood:
    """The meaning of a part of a text that begins `by` code points in, as of the whole text."""
    return _moved(found, lambda at: at + by, None) if by else found


def with_words(text: str, start: int, end: int, words: str) -> str:
    """The text with these words and blanks from `start` to `end`, as long as before."""
    return text[:start] + words.ljust(end - start) + text[end:]


def said_in(found: Understood, text: str) -> Understood:
    """The meaning with the words of `text` in the places of its evidence."""
    return _moved(found, lambda at: at, text)


def set_back(found: Understood, text: str, start: int, end: int, size: int) -> Understood:
    """The same, of words in which `size` code points from `start` on stood for those up to `end`."""

    def back(at: int) -> int:
        return at + end - start - size if at >= start + size else min(at, end)

    return _moved(found, back, text)


def put_back(found: Understood, text: str, places: Sequence[int]) -> Understood:
    """The same, of other words, each code point of which, and their end, stands at one of `places` in `text`."""
    return _moved(found, lambda at: places[min(at, len(places) - 1)], text)


def places(origins: Sequence[int | None]) -> list[int]:
    """Where each code point of other words, and their end, was said; of those that nobody said the one before them."""
    found = list[int]()
    for before, here in zip([None, *origins], [*origins, None], strict=True):
        found.append(before + 1 if before is not None else here if here is not None else (found or [0])[-1])
        if here is not None and (before is None or here != before + 1):
            found[-1] = here
    return found


def _moved(found: Understood, to: Callable[[int], int], text: str | None) -> Understood:
    def moved(evidence: Evidence) -> Evidence:
        start, end = to(evidence.start), to(evidence.end)
        return replace(evidence, start=start, end=end, surface=evidence.surface if text is None else text[start:end])

    slots = {name: replace(slot, evidence=moved(slot.evidence)) for name, slot in values(found.slots).items()}
    match = found.payees
    return replace(
        found,
        slots=Slots(**slots),
        payees=replace(match, start=to(match.start), end=to(match.end)) if match is not None else None,
        unresolved=tuple(Mention(m.slot, moved(m.evidence)) for m in found.unresolved),
        unread=tuple(moved(each) for each in found.unread),
        then=_moved(found.then, to, text) if found.then is not None else None,
    )


def parts_a_value(heard: Annotation, at: int) -> bool:
    """Whether code point `at` parts an amount, a day or a number."""
    return any(span.start < at < span.end for span in heard.spans)


def one_after_another(orders: Sequence[Understood]) -> Understood:
    """Orders, at least one, each with the next one behind it."""
    return reduce(lambda later, one: replace(one, then=later), reversed(orders))
