"""A clause by which another thing is left as it is, beside an order: 「妹に一万円送って、電気代は払わないで」."""

from itertools import chain
from typing import Any, Final

from schemas.intent import MONEY_MOVING, Intent, Route, Understood
from services.understanding.correction.mentions import Mentions
from services.understanding.correction.merging import said_in, values
from services.understanding.correction.said import Said
from services.understanding.fast.ruleset.meanings import CARDS

_ABOUT: Final = (Intent.TRANSFER_MONEY, Intent.BILL_PAYMENT, Intent.CARD_LOCK)
_THINGS: Final = ("payee", "bill", "card")
_OPEN: Final = MONEY_MOVING | CARDS | {None, Intent.QNA, Intent.DENY, Intent.CANCEL}


def left_alone(said: Said, found: Understood) -> Understood | None:
    """The order alone; None where all of it was read, or nothing else than what it is about is left alone."""
    sure = found.sure and found.intent in MONEY_MOVING | CARDS
    if not said.context.idle or found.intent not in _OPEN or sure:
        return None
    text = said.text
    kinds = MONEY_MOVING if said.rules.spaced else MONEY_MOVING | CARDS  # of cards see `spared`
    clauses = list(said.rules.patterns.refusals.left_alone.finditer(text))
    for start, end in ((each.start("what"), each.end()) for each in clauses):
        order = said_in(said.again(text[:start] + " " * (end - start) + text[end:]), text)
        if order.intent not in kinds or order.route is not Route.FAST or order.unread or order.unresolved:
            continue
        spared, wanted = _named(said, start, end), _ordered(order)
        if spared and not spared & wanted:
            return order
    return None


def _named(said: Said, start: int, end: int) -> set[object]:
    """Whom and what a clause names."""
    named = [Mentions.of_all(said).of(intent) for intent in _ABOUT]
    places = chain.from_iterable(each.get(name, ()) for each in named for name in _THINGS)
    return {value for evidence, value in places if start <= evidence.start < end}


def _ordered(order: Understood) -> set[Any]:
    """What an order, and those behind it, are about."""
    own = values(order.slots)
    mine = {each for name in _THINGS if name in own for each in (own[name].value, *own[name].readings)}
    return mine | (_ordered(order.then) if order.then is not None else set())
