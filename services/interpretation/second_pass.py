"""What else words mean where the first look at them is not all: the readers that look again, in their order."""

from collections.abc import Callable
from enum import Enum, auto
from typing import Final, NamedTuple, TypeAlias

from schemas.intent import Understood
from services.understanding.clarification.afterthought import afterthought, named_last
from services.understanding.clarification.alike_orders import as_much
from services.understanding.clarification.billers import (
    asked_alike,
    billed_later,
    bills_besides,
    for_its_bill,
    of_its_biller,
    of_whom_it_is,
    paid_before,
)
from services.understanding.clarification.collective_amounts import shared_out
from services.understanding.clarification.competing_values import doubled
from services.understanding.clarification.conditions import (
    elsewise,
    from_elsewhere,
    hanging,
    hung_last,
    kept_back,
    on_condition,
)
from services.understanding.clarification.declined_orders import declined
from services.understanding.clarification.derived_amounts import alike, as_due, multiplied, reckoned, unlike
from services.understanding.clarification.distributives import apiece, each_named, every_bill, every_but
from services.understanding.clarification.gapped_orders import day_of_the_last, side_by_side
from services.understanding.clarification.grievances import (
    aggrieved,
    asked_of_person,
    asked_plainly,
    back_on,
    deceived,
    disputed,
    in_trouble,
    robbed,
    taken_back,
)
from services.understanding.clarification.history_count import so_many
from services.understanding.clarification.inquiries import (
    asked_on,
    balances_summed,
    in_there,
    inquired,
    left_unpaid,
    of_each_bill,
    paid_twice,
    remembered,
    spent,
)
from services.understanding.clarification.instalments import in_instalments
from services.understanding.clarification.interposed_questions import (
    asked_after,
    asked_besides,
    asked_first,
    asked_instead,
    then_paid,
)
from services.understanding.clarification.lost_parts import found_again, ordered_before
from services.understanding.clarification.money_questions import asked_of_money
from services.understanding.clarification.narrowed_histories import came_from, narrowed_history
from services.understanding.clarification.narrowed_orders import narrowed
from services.understanding.clarification.order_inquiries import asked_of_order
from services.understanding.clarification.order_sequences import as_the_last, in_turn, of_all
from services.understanding.clarification.own_questions import beside_the_lock, of_one_card, own_asked
from services.understanding.clarification.partial_names import in_part
from services.understanding.clarification.parts_of_day import later_on, some_time
from services.understanding.clarification.reckoned_orders import measured
from services.understanding.clarification.retractions import called_off, unsettled
from services.understanding.clarification.third_party_sources import unknown_source
from services.understanding.clarification.unpaid_orders import for_a_day, if_unpaid
from services.understanding.clarification.unread_requests import enough_for, more_wanted
from services.understanding.clarification.unsupported_terms import noted, remarked
from services.understanding.clarification.weighed_orders import weighed
from services.understanding.clarification.worded_orders import worded
from services.understanding.correction.account_swaps import swapped
from services.understanding.correction.amount_repairs import of_its_size
from services.understanding.correction.anchored_dates import by_the_order, each_on_its_own, likened
from services.understanding.correction.card_exclusions import meant_instead, spared
from services.understanding.correction.command_repairs import superseded
from services.understanding.correction.coordinated_names import listed
from services.understanding.correction.coordinated_repairs import transfer_alone
from services.understanding.correction.date_repairs import days_of_each
from services.understanding.correction.elided_arguments import implied
from services.understanding.correction.exclusions import left_alone
from services.understanding.correction.misheard import misheard
from services.understanding.correction.order_pointers import of_another
from services.understanding.correction.reasoned_amounts import (
    explained_amount,
    kept_there,
    one_or_of_one,
    reasoned_amount,
)
from services.understanding.correction.refused_parts import refused
from services.understanding.correction.restarts import begun_again
from services.understanding.correction.said import Said
from services.understanding.offers.guessed_transfers import offered
from services.understanding.offers.indirect_orders import mentioned, of_an_account
from services.understanding.offers.learned_proposals import proposed
from services.understanding.offers.narrative_orders import behind_talk, spoken_of
from services.understanding.offers.prefaced_orders import led_up, needed_by
from services.understanding.offers.storied_orders import storied

_Reader: TypeAlias = Callable[[Said, Understood], Understood | None]


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
    # What waits is refused, and the reason told; a part of what is read back will not do; of another order.
    _Look(_ALL, declined),
    _Look(_ALL, refused),
    _Look(_ALL, lambda said, _: of_another(said)),
    # One payee's money in several sums, each on its day.
    _Look(_ALL, in_instalments),
    # Who was told to bring money into safety; what was sent by mistake; a card that is to work again.
    _Look(_ALL, deceived),
    _Look(_ALL, taken_back, asked_of_person),
    _Look(_ALL, called_off),
    _Look(_ALL, back_on, meant_instead),
    _Look(_ALL, found_again),
    _Look(_ALL, beside_the_lock, in_trouble),
    _Look(_ALL, disputed, robbed),
    # What wants a yes or a no, or more of what was told; what is asked about the order that is read back.
    _Look(_ALL, asked_of_money, came_from),
    _Look(_ALL, alike),
    _Look(_ALL, as_due),
    _Look(_ALL, asked_of_order),
    # A bill by whose it is.
    _Look(_ALL, of_whom_it_is),
    # One order, begun again before it is corrected.
    _Look(_ALL, begun_again),
    # Of several orders one alone, or not that one; another amount and why, or one that stays where it is.
    _Look(_ALL, narrowed),
    _Look(_ALL, reasoned_amount, kept_there),
    _Look(_ALL, explained_amount, one_or_of_one),
    # As much to somebody else, half of it or twice; orders in a sentence of another shape.
    _Look(_ALL, as_much),
    _Look(_ALL, worded),
    # An order if nothing was paid yet; one that hangs on a balance, or whose sum follows from one.
    _Look(_ALL, if_unpaid, for_a_day),
    _Look(_ALL, elsewise),
    _Look(_ALL, weighed, measured),
    _Look(_ALL, from_elsewhere, hung_last),
    _Look(_ALL, multiplied),
    # An order for some time that is no day.
    _Look(_ALL, some_time),
    # One sum that several are to share; orders, with what is said of "both" behind them.
    _Look(_ALL, shared_out),
    _Look(_ALL, lambda said, _: of_all(said)),
    _Look(_ALL, as_the_last),
    _Look(_ALL, every_but),
    # An order, and what is to be written beside it.
    _Look(_ALL, noted),
    # An order, and what is said not to be done with another thing.
    _Look(_ALL, left_alone),
    # An order within a story, which tells other sums, days and people.
    _Look(_ALL, storied),
    # A sum that follows from a balance, or from an earlier payment.
    _Look(_ALL, reckoned),
    # An order, and what is to be left in the account behind it.
    _Look(_ALL, kept_back),
    # What is asked of each of several bills; a sum that is but remembered; what was spent elsewhere; a bill left.
    _Look(_ALL, asked_on, balances_summed),
    _Look(_ALL, of_each_bill),
    _Look(_ALL, remembered, spent),
    _Look(_ALL, paid_twice),
    _Look(_ALL, left_unpaid),
    # An order behind talk that leads up to it.
    _Look(_OPEN, led_up, needed_by),
    # Own accounts the other way round; another wish instead of the first; a question amid an order.
    _Look(_ELSE, swapped),
    _Look(_ELSE, superseded),
    _Look(_ELSE, asked_instead),
    _Look(_ELSE, asked_first),
    _Look(_ELSE, asked_after),
    _Look(_ELSE, asked_besides),
    _Look(_ELSE, ordered_before),
    # An order in words that sound like what was said.
    _Look(_ELSE, misheard),
    # Transfers side by side, each with its day.
    _Look(_ELSE, side_by_side),
    # As much to each of several; two values of which one is meant; several payees in a row.
    _Look(_ELSE, each_named),
    _Look(_ELSE, doubled),
    _Look(_ELSE, listed),
    _Look(_THEN, day_of_the_last, transfer_alone),
    # An order that may not be wanted; a transfer in words that nobody read.
    _Look(_ELSE, unsettled),
    _Look(_ELSE, offered),
    # Behind a no, what is right; behind an order, a later value.
    _Look(_THEN, named_last),
    _Look(_THEN, afterthought),
    # An order behind a story; what the learned reader takes words for that nobody read.
    _Look(_ELSE, behind_talk),
    _Look(_ELSE, asked_plainly, aggrieved),
    # What is asked of a thing of the caller's own.
    _Look(_ALL, own_asked),
    _Look(_ELSE, proposed, spoken_of),
    # A card that is not to be locked, and the one that is.
    _Look(_THEN, spared),
    # What no order can hold: a note, a repetition, a condition.
    _Look(_THEN, remarked, on_condition),
    _Look(_THEN, hanging, more_wanted),
    _Look(_THEN, so_many, enough_for),
    # As many hundreds as a digit says, in place of some.
    _Look(_THEN, of_its_size),
    # A day that is told by the order's own; an account or a date that goes without saying.
    _Look(_THEN, unlike),
    _Look(_THEN, likened),
    _Look(_THEN, by_the_order),
    _Look(_THEN, implied),
    # As much to each of several, or every bill.
    _Look(_THEN, apiece, every_bill),
    _Look(_THEN, each_on_its_own),
    # Of several orders: what is said of the next one, whose bill it is, and the day of each.
    _Look(_THEN, then_paid, in_turn),
    _Look(_THEN, for_its_bill, bills_besides),
    _Look(_THEN, billed_later),
    _Look(_THEN, asked_alike),
    _Look(_THEN, paid_before),
    _Look(_THEN, days_of_each),
    # An order that is only spoken of, or to whoever sends the caller a bill; an own account beside what is offered.
    _Look(_THEN, mentioned, of_its_biller),
    # What is looked up of several accounts, or of the bills of some days.
    _Look(_THEN, inquired, in_there),
    _Look(_THEN, narrowed_history),
    _Look(_THEN, unknown_source, of_an_account),
    # What is asked of one card.
    _Look(_THEN, of_one_card),
    # A part of this day, which is not now.
    _Look(_THEN, later_on),
    # What is named by a part of its name, whoever read it.
    _Look(_THEN, in_part),
)


def looked_again(said: Said, first: Understood) -> Understood:
    """`first`, or what else the words mean where it is not all."""
    meant, looking = first, True
    for takes, reader, or_else in _LOOKS:
        if takes is _ELSE and not looking:
            continue
        found = reader(said, meant)
        if found is None and or_else is not None:
            found = or_else(said, meant)
        if found is None:
            continue
        if takes is _ALL:
            return likened(said, found) or found
        meant, looking = found, looking and takes is _OPEN
    return meant
