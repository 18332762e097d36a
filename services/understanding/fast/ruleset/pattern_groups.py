"""Sentence patterns by what they tell, a class a file of rules/intents/LANGUAGE/patterns.

The comments of the files say what each is for; one that a language does not have matches nowhere.
"""

import re
from typing import Final

from pydantic import Field

from rules.load import RuleFile

Pattern = re.Pattern[str]
_NOWHERE: Final = re.compile("(?!)")


class PatternParts(RuleFile):
    """What stands in others in braces."""

    title: str = ""
    lead: str = ""
    asking: str = ""
    wages: str = ""
    small: str = ""
    denied: str = ""
    stopped: str = ""
    day: str = ""
    figures: str = ""
    lent: str = ""
    arrived: str = ""
    must: str = ""
    told: str = ""
    mishap: str = ""
    hasty: str = ""
    new_one: str = ""
    rang: str = ""


class NamePatterns(RuleFile):
    """Whose name it is, which of two is meant, and by what they are told apart."""

    of: str = "-"
    to_somebody: str = ""
    titled: Pattern = _NOWHERE
    named_later: Pattern = _NOWHERE
    joined_names: Pattern = _NOWHERE
    qualified: Pattern = _NOWHERE
    name_alone: Pattern = _NOWHERE
    to_or_from: Pattern = _NOWHERE
    not_this: Pattern = _NOWHERE
    other_than: Pattern = _NOWHERE
    other_person: Pattern = _NOWHERE
    denied_besides: Pattern = _NOWHERE
    purpose_before: Pattern = _NOWHERE
    pointed_out: Pattern = _NOWHERE
    named_apart: Pattern = _NOWHERE
    apposed: Pattern = _NOWHERE
    apposed_two: Pattern = _NOWHERE
    preposed: Pattern = _NOWHERE
    drawn_on: Pattern = _NOWHERE
    own_source: Pattern = _NOWHERE
    owner: Pattern = _NOWHERE
    named_so: Pattern = _NOWHERE


class AmountPatterns(RuleFile):
    """Sums that hang on another: as much, ten more, what is left; and why they are what they are."""

    several: Pattern = _NOWHERE
    as_much: Pattern = _NOWHERE
    as_much_to: Pattern = _NOWHERE
    the_same: str = ""
    for_several: Pattern = _NOWHERE
    kept_back: Pattern = _NOWHERE
    for_one: Pattern = _NOWHERE
    more_than_before: Pattern = _NOWHERE
    same_changed: Pattern = _NOWHERE
    more_than_last: Pattern = _NOWHERE
    as_before: Pattern = _NOWHERE
    as_due: Pattern = _NOWHERE
    first_sum: Pattern = _NOWHERE
    that_one: Pattern = _NOWHERE
    told_why: Pattern = _NOWHERE
    mends: Pattern = _NOWHERE
    so_much: Pattern = _NOWHERE
    so_much_after: Pattern = _NOWHERE
    why_so_much: Pattern = _NOWHERE
    kept_before: Pattern = _NOWHERE
    kept_behind: Pattern = _NOWHERE
    first_part: Pattern = _NOWHERE
    next_part: Pattern = _NOWHERE
    some_sum: str = ""


class RefusalPatterns(RuleFile):
    """What is not wanted, left out, called off or done already."""

    denied_deed: Pattern = _NOWHERE
    no_good: Pattern = _NOWHERE
    that_part: Pattern = _NOWHERE
    lost_behind: Pattern = _NOWHERE
    called_off: Pattern = _NOWHERE
    left_alone: Pattern = _NOWHERE
    spared_card: Pattern = _NOWHERE
    both_cards: Pattern = _NOWHERE
    other_card: Pattern = _NOWHERE
    as_well: Pattern = _NOWHERE
    only_that: Pattern = _NOWHERE
    not_wanted: Pattern = _NOWHERE
    not_wanted_now: Pattern = _NOWHERE
    all_the_same: Pattern = _NOWHERE
    bids: Pattern = _NOWHERE
    reason_ends: Pattern = _NOWHERE
    reason_begins: Pattern = _NOWHERE
    already_done: Pattern = _NOWHERE


class OrderPatterns(RuleFile):
    """What else an order says: begun anew, once more, its day, its note, where it is drawn from."""

    begun: Pattern = _NOWHERE
    again: Pattern = _NOWHERE
    doubled: Pattern = _NOWHERE
    onto: Pattern = _NOWHERE
    hangs_last: Pattern = _NOWHERE
    nth_order: Pattern = _NOWHERE
    of_that_order: Pattern = _NOWHERE
    before_that_order: Pattern = _NOWHERE
    otherwise: Pattern = _NOWHERE
    likened: Pattern = _NOWHERE
    of_them_all: Pattern = _NOWHERE
    side_by_side: Pattern = _NOWHERE
    once_more: Pattern = _NOWHERE
    some_time: Pattern = _NOWHERE
    needed_by: Pattern = _NOWHERE
    it_sent: Pattern = _NOWHERE
    beside_a_day: Pattern = _NOWHERE
    sooner_day: Pattern = _NOWHERE
    later_day: Pattern = _NOWHERE
    from_it: Pattern = _NOWHERE
    of_it: Pattern = _NOWHERE
    noted: Pattern = _NOWHERE
    the_rest: Pattern = _NOWHERE
    order_begins: Pattern = _NOWHERE
    drawn_last: Pattern = _NOWHERE
    after_its_day: Pattern = _NOWHERE
    on_day: str = ""
    made_it: Pattern = _NOWHERE
    day_again: Pattern = _NOWHERE
    falls_due: Pattern = _NOWHERE
    asked_for: Pattern = _NOWHERE


class StoryPatterns(RuleFile):
    """What is told before an order, whom it is about and what it comes to."""

    subject: Pattern = _NOWHERE
    whose: Pattern = _NOWHERE
    said_to_be: Pattern = _NOWHERE
    not_yet: Pattern = _NOWHERE
    settled: Pattern = _NOWHERE
    given_to: Pattern = _NOWHERE
    came_in: Pattern = _NOWHERE
    pronoun: Pattern = _NOWHERE
    told_of: Pattern = _NOWHERE
    told_behind: Pattern = _NOWHERE
    takes_back: Pattern = _NOWHERE
    hangs_on: Pattern = _NOWHERE
    not_him: Pattern = _NOWHERE
    not_her: Pattern = _NOWHERE
    compared: Pattern = _NOWHERE
    claimed: Pattern = _NOWHERE
    hangs_first: Pattern = _NOWHERE
    gives_too: Pattern = _NOWHERE
    rate: Pattern = _NOWHERE
    owed: Pattern = _NOWHERE
    owed_to: str = ""
    before_sum: Pattern = _NOWHERE
    behind_sum: Pattern = _NOWHERE
    rest_of_it: Pattern = _NOWHERE
    rest_as: str = ""
    that_sum: Pattern = _NOWHERE
    paid_for_me: Pattern = _NOWHERE


class InquiryPatterns(RuleFile):
    """What is asked about an order, a payment or a bill."""

    cost: Pattern = _NOWHERE
    recalled: Pattern = _NOWHERE
    asks_before: Pattern = _NOWHERE
    not_paid: Pattern = _NOWHERE
    can_wait: Pattern = _NOWHERE
    ordered: Pattern = _NOWHERE
    in_a_row: Pattern = _NOWHERE
    spent_there: str = ""
    paid_then: str = ""
    due_now: str = ""
    done_then: Pattern = _NOWHERE
    if_unpaid: Pattern = _NOWHERE
    paid_twice: Pattern = _NOWHERE
    sum_asked: Pattern = _NOWHERE
    one_asked: Pattern = _NOWHERE
    its_sum: Pattern = _NOWHERE
    balances_summed: Pattern = _NOWHERE
    asks_done: Pattern = _NOWHERE
    asks_amount: Pattern = _NOWHERE
    asks_new: Pattern = _NOWHERE
    asks_code: Pattern = _NOWHERE
    asks_what_now: Pattern = _NOWHERE
    and_of: Pattern = _NOWHERE
    asked_instead: Pattern = _NOWHERE
    in_there: Pattern = _NOWHERE
    asks_left: Pattern = _NOWHERE
    asks_where: Pattern = _NOWHERE
    asks_who: Pattern = _NOWHERE
    asks_if_it_is: Pattern = _NOWHERE
    asks_not: Pattern = _NOWHERE
    and_to: Pattern = _NOWHERE


class OwnPatterns(RuleFile):
    """What is asked about the caller's own accounts, cards, bills and history."""

    shop: Pattern = _NOWHERE
    spent_at: Pattern = _NOWHERE
    spent: Pattern = _NOWHERE
    how_much_to: Pattern = _NOWHERE
    of_one_card: Pattern = _NOWHERE
    asks: dict[str, Pattern] = Field(default_factory=dict)
    income: Pattern = _NOWHERE
    asks_whether: Pattern = _NOWHERE
    spends: Pattern = _NOWHERE
    earns: Pattern = _NOWHERE
    shop_kind: Pattern = _NOWHERE
    of_those: Pattern = _NOWHERE
    came_from: Pattern = _NOWHERE
    asks_own: Pattern = _NOWHERE
    bids_for: Pattern = _NOWHERE
    in_general: Pattern = _NOWHERE
    unbooked: Pattern = _NOWHERE
    of_its_state: Pattern = _NOWHERE
    card_state: Pattern = _NOWHERE
    card_states: Pattern = _NOWHERE
    card_others: Pattern = _NOWHERE
    card_again: Pattern = _NOWHERE
    beside_the_lock: Pattern = _NOWHERE
    lost_too: Pattern = _NOWHERE
    went_out: Pattern = _NOWHERE
    that_payment: Pattern = _NOWHERE
    sought_out: Pattern = _NOWHERE
    of_own_bill: Pattern = _NOWHERE
    of_what_was_told: Pattern = _NOWHERE
    points_back: Pattern = _NOWHERE


class AlarmPatterns(RuleFile):
    """What a bank is worried by, and what a caller complains of."""

    safe_account: Pattern = _NOWHERE
    sent_wrongly: Pattern = _NOWHERE
    of_the_person: Pattern = _NOWHERE
    better_not: Pattern = _NOWHERE
    asks_advice: Pattern = _NOWHERE
    was_told: Pattern = _NOWHERE
    pressed: Pattern = _NOWHERE
    demanded: Pattern = _NOWHERE
    new_number: Pattern = _NOWHERE
    back_on: Pattern = _NOWHERE
    card_trouble: Pattern = _NOWHERE
    robbed: Pattern = _NOWHERE
    disputed: Pattern = _NOWHERE
    asked_plainly: Pattern = _NOWHERE
    worried: Pattern = _NOWHERE
    grievance: Pattern = _NOWHERE
    wonders: Pattern = _NOWHERE
    not_here: Pattern = _NOWHERE


class WordingPatterns(RuleFile):
    """Words that are put otherwise before they are read."""

    plain: tuple[tuple[Pattern, str], ...] = ()
    moved_onto: Pattern = _NOWHERE
    always: tuple[tuple[Pattern, str], ...] = ()
    meant: tuple[tuple[Pattern, str], ...] = ()
    written: tuple[tuple[str, ...], ...] = ()
    greeting: Pattern = _NOWHERE
    closing: Pattern = _NOWHERE
