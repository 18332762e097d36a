"""What else words mean where the first look at them is not all: the readers that look again, in their order."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final, NamedTuple, TypeAlias

from schemas.intent import Annotation, Context, Understood
from schemas.payee import FindPayee
from services.understanding.clarification.afterthought import Order, afterthought, named_last
from services.understanding.clarification.asked_first import asked_first, then_paid
from services.understanding.clarification.billers import bills_besides, for_its_bill, of_its_biller
from services.understanding.clarification.doubled import doubled
from services.understanding.clarification.in_turn import in_turn, of_all
from services.understanding.clarification.listed import listed
from services.understanding.clarification.reckoned import reckoned
from services.understanding.clarification.remarks import on_condition, remarked
from services.understanding.clarification.shared_out import shared_out
from services.understanding.clarification.unsettled import unsettled
from services.understanding.correction.apart import of_its_size
from services.understanding.correction.apiece import apiece, every_bill
from services.understanding.correction.by_the_order import by_the_order
from services.understanding.correction.days import days_of_each
from services.understanding.correction.implied import implied
from services.understanding.correction.merging import Again, Look
from services.understanding.correction.misheard import misheard
from services.understanding.correction.named import Find
from services.understanding.correction.superseded import superseded
from services.understanding.correction.swapped import swapped
from services.understanding.offers.behind_talk import behind_talk
from services.understanding.offers.led_up import led_up
from services.understanding.offers.mentioned import mentioned
from services.understanding.offers.offered import offered
from services.understanding.offers.proposed import proposed


@dataclass(frozen=True, slots=True)
class Second:
    """What was heard, and by what a reader may look at it again: at a part, at other words, or for a name."""

    heard: Annotation
    context: Context
    part: Look
    again: Again
    order: Order
    named: Find
    called: FindPayee


_Reader: TypeAlias = Callable[[Second, Understood], Understood | None]


class _Takes(Enum):
    """What becomes of what a reader finds."""

    ALL = auto()
    """It is the meaning, and nobody looks further."""
    OPEN = auto()
    """It stands for what was read, and is looked at as that was."""
    ELSE = auto()
    """Looked for only where nobody has found anything yet."""
    THEN = auto()
    """It is made of what there is, and stands for that."""


class _Look(NamedTuple):
    takes: _Takes
    reader: _Reader
    or_else: _Reader | None = None


_ALL, _OPEN, _ELSE, _THEN = _Takes
_LOOKS: Final = (
    # One sum that several are to share; orders, with what is said of "both" behind them.
    _Look(_ALL, lambda s, m: shared_out(s.heard, m, s.context, s.named)),
    _Look(_ALL, lambda s, _: of_all(s.heard, s.context, s.part)),
    # A sum that follows from a balance, or from an earlier payment.
    _Look(_ALL, lambda s, m: reckoned(s.heard, m, s.context, s.again, s.named)),
    # An order behind talk that leads up to it.
    _Look(_OPEN, lambda s, m: led_up(s.heard, m, s.context, s.part)),
    # Own accounts the other way round; another wish instead of the first; a question amid an order.
    _Look(_ELSE, lambda s, m: swapped(s.heard, m, s.context, s.part)),
    _Look(_ELSE, lambda s, m: superseded(s.heard, m, s.context, s.part, s.again)),
    _Look(_ELSE, lambda s, m: asked_first(s.heard, m, s.context, s.part, s.again)),
    # An order in words that sound like what was said.
    _Look(_ELSE, lambda s, m: misheard(s.heard, m, s.context, s.again)),
    # Two values of which one is meant; several payees in a row.
    _Look(_ELSE, lambda s, m: doubled(s.heard, m, s.context, s.named)),
    _Look(_ELSE, lambda s, m: listed(s.heard, m, s.context, s.named)),
    # An order that may not be wanted; a transfer in words that nobody read.
    _Look(_ELSE, lambda s, m: unsettled(s.heard, m, s.context, s.part)),
    _Look(_ELSE, lambda s, m: offered(s.heard, m, s.context, s.called)),
    # Behind a no, what is right; behind an order, a later value.
    _Look(_THEN, lambda s, m: named_last(s.heard, m, s.context, s.part)),
    _Look(_THEN, lambda s, m: afterthought(s.heard, m, s.context, s.named, s.order)),
    # An order behind a story; what the learned reader takes words for that nobody read.
    _Look(_ELSE, lambda s, m: behind_talk(s.heard, m, s.context, s.part, s.called)),
    _Look(_ELSE, lambda s, m: proposed(s.heard, m, s.context, s.called)),
    # What no order can hold: a note, a repetition, a condition.
    _Look(
        _THEN,
        lambda s, m: remarked(s.heard, m, s.context, s.again),
        lambda s, m: on_condition(s.heard, m, s.context),
    ),
    # As many hundreds as a digit says, in place of some.
    _Look(_THEN, lambda s, m: of_its_size(s.heard, m, s.context)),
    # A day that is told by the order's own; an account or a date that goes without saying.
    _Look(_THEN, lambda s, m: by_the_order(s.heard, m, s.context)),
    _Look(_THEN, lambda s, m: implied(s.heard, m, s.context)),
    # As much to each of several, or every bill.
    _Look(_THEN, lambda s, m: apiece(s.heard, m, s.context), lambda s, m: every_bill(s.heard, m, s.context)),
    # Of several orders: what is said of the next one, whose bill it is, and the day of each.
    _Look(_THEN, lambda s, m: then_paid(s.heard, m, s.context, s.part), lambda s, m: in_turn(s.heard, m)),
    _Look(_THEN, lambda s, m: for_its_bill(m, s.context), lambda s, m: bills_besides(s.heard, m, s.context)),
    _Look(_THEN, lambda s, m: days_of_each(s.heard, m)),
    # An order that is only spoken of, or to whoever sends the caller a bill.
    _Look(_THEN, lambda s, m: mentioned(s.heard, m, s.context), lambda s, m: of_its_biller(s.heard, m, s.context)),
)


def looked_again(second: Second, first: Understood) -> Understood:
    """`first`, or what else the words mean where it is not all."""
    meant, looking = first, True
    for look in _LOOKS:
        if look.takes is _Takes.ELSE and not looking:
            continue
        found = look.reader(second, meant)
        if found is None and look.or_else is not None:
            found = look.or_else(second, meant)
        if found is None:
            continue
        if look.takes is _Takes.ALL:
            return found
        meant, looking = found, looking and look.takes is _Takes.OPEN
    return meant
