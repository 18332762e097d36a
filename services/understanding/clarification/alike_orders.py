"""As much to somebody else, half of it or twice: 「麻衣に五万、翔太に同じだけ」, 「その倍を翔太に」.

It is read as "to him too, the same"; what that is half or twice of, the order before it tells, in one breath or not.
"""

from dataclasses import replace
from typing import Final

from schemas.intent import MONEY_MOVING, Evidence, Intent, Route, Slot, Understood
from schemas.span import MoneyValue
from services.understanding.correction.mentions import Mentions
from services.understanding.correction.merging import put_back
from services.understanding.correction.said import Said
from services.understanding.fast.ruleset.meanings import LEANING

_MARKS: Final = frozenset("同倍半")
"""Without one of them nothing is as much as something else."""
_OPEN: Final = MONEY_MOVING | {None, Intent.QNA, Intent.INFORM, Intent.CORRECT, Intent.DENY}
_JOINTS: Final = "、。とで "
"""What may stand between two orders."""
_TIMES: Final = ("half", "double")


def as_much(said: Said, found: Understood) -> Understood | None:
    """The orders, or the one that leans on the last; None where nobody gets as much, or all of it was read."""
    rules = said.rules.patterns.amounts
    if said.rules.spaced or _MARKS.isdisjoint(said.text) or found.intent not in _OPEN or found.sure:
        return None
    for much in rules.as_much.finditer(said.text):
        for name, _ in Mentions.of_all(said).payees():
            behind, before = rules.as_much_to.match(said.text, name.end), said.text[much.end() : name.start]
            if behind is None or (behind.end() != much.start() and (before or much.end() > name.start)):
                continue
            ends = (much.end(), behind.end()) if behind.end() == much.start() else (behind.end(), behind.end())
            portion = next((each for each in _TIMES if much[each]), "")
            meant = _read(said, (min(name.start, much.start()), name, max(ends)), portion)
            if meant is not None:
                return meant
    return None


def _read(said: Said, place: tuple[int, Evidence, int], portion: str) -> Understood | None:
    """What is meant with the same for who is named in place of the words from one code point to another."""
    start, name, end = place
    same, text = said.rules.patterns.amounts.the_same, said.text
    words = " " * start + name.surface + same + text[end:]
    places = [*range(start), *range(name.start, name.end), *[name.end] * len(same), *range(end, len(text) + 1)]
    leaning = put_back(said.again(words), text, places)
    if not leaning.by(*LEANING) or leaning.route is not Route.FAST or leaning.slots.amount is not None:
        return None
    first = said.look(0, len(text[:start].rstrip(_JOINTS)), said.context) if text[:start].strip() else None
    if first is None:
        told = Slot(portion, name) if portion else None
        return replace(leaning, slots=replace(leaning.slots, portion=told))
    amount = _times(first.slots.amount, portion)
    if first.intent is not Intent.TRANSFER_MONEY or not first.moves or first.then or first.missing or amount is None:
        return None
    day = leaning.slots.date or first.slots.date
    slots = replace(first.slots, payee=leaning.slots.payee, target=None, amount=amount, date=day)
    return replace(first, then=replace(first, slots=slots))


def _times(amount: Slot[MoneyValue] | None, portion: str) -> Slot[MoneyValue] | None:
    """As much, half of it or twice; None where there is no one amount, or no half of it."""
    minor = amount.value.amount_minor if amount is not None and not amount.readings else 0
    by = {"": minor, "half": minor // 2 if minor % 2 == 0 else 0, "double": minor * 2}[portion]
    return replace(amount, value=replace(amount.value, amount_minor=by)) if amount is not None and by else None
