"""What no list of words tells: rules/intents/LANGUAGE/patterns.yaml."""

import re
from typing import Any, Final

from pydantic import Field, model_validator

from rules.load import RuleFile

_NOWHERE: Final = re.compile("(?!)")
_PARTS: Final = ("title", "denied", "lead", "asking", "wages", "small")
"""What stands in others in braces."""


def _put(given: dict[str, Any], place: str, words: str) -> dict[str, Any]:
    return {name: _within(each, place, words) for name, each in given.items()}


def _within(given: Any, place: str, words: str) -> Any:
    """A pattern, or a list of them, with `words` in that place."""
    if isinstance(given, list):
        return [_within(each, place, words) for each in given]
    return given.replace(place, words) if isinstance(given, str) else given


class SentencePatterns(RuleFile):
    """Regular expressions, told by the comments of the file; one that a language does not have matches nowhere."""

    title: str = ""
    lead: str = ""
    asking: str = ""
    wages: str = ""
    small: str = ""
    denied: str = "-"
    of: str = "-"
    to_somebody: str = ""
    titled: re.Pattern[str] = _NOWHERE
    several: re.Pattern[str] = _NOWHERE
    begun: re.Pattern[str] = _NOWHERE
    again: re.Pattern[str] = _NOWHERE
    doubled: re.Pattern[str] = _NOWHERE
    named_later: re.Pattern[str] = _NOWHERE
    joined_names: re.Pattern[str] = _NOWHERE
    qualified: re.Pattern[str] = _NOWHERE
    name_alone: re.Pattern[str] = _NOWHERE
    to_or_from: re.Pattern[str] = _NOWHERE
    denied_deed: re.Pattern[str] = _NOWHERE
    subject: re.Pattern[str] = _NOWHERE
    whose: re.Pattern[str] = _NOWHERE
    said_to_be: re.Pattern[str] = _NOWHERE
    onto: re.Pattern[str] = _NOWHERE
    not_this: re.Pattern[str] = _NOWHERE
    no_good: re.Pattern[str] = _NOWHERE
    that_part: re.Pattern[str] = _NOWHERE
    as_much: re.Pattern[str] = _NOWHERE
    as_much_to: re.Pattern[str] = _NOWHERE
    the_same: str = ""
    hangs_last: re.Pattern[str] = _NOWHERE
    for_several: re.Pattern[str] = _NOWHERE
    nth_order: re.Pattern[str] = _NOWHERE
    of_that_order: re.Pattern[str] = _NOWHERE
    other_than: re.Pattern[str] = _NOWHERE
    lost_behind: re.Pattern[str] = _NOWHERE
    other_person: re.Pattern[str] = _NOWHERE
    pointed_out: re.Pattern[str] = _NOWHERE
    otherwise: re.Pattern[str] = _NOWHERE
    kept_back: re.Pattern[str] = _NOWHERE
    cost: re.Pattern[str] = _NOWHERE
    recalled: re.Pattern[str] = _NOWHERE
    safe_account: re.Pattern[str] = _NOWHERE
    sent_wrongly: re.Pattern[str] = _NOWHERE
    of_the_person: re.Pattern[str] = _NOWHERE
    better_not: re.Pattern[str] = _NOWHERE
    was_told: re.Pattern[str] = _NOWHERE
    called_off: re.Pattern[str] = _NOWHERE
    pressed: re.Pattern[str] = _NOWHERE
    new_number: re.Pattern[str] = _NOWHERE
    back_on: re.Pattern[str] = _NOWHERE
    asks_before: re.Pattern[str] = _NOWHERE
    not_paid: re.Pattern[str] = _NOWHERE
    can_wait: re.Pattern[str] = _NOWHERE
    ordered: re.Pattern[str] = _NOWHERE
    in_a_row: re.Pattern[str] = _NOWHERE
    spent_there: str = ""
    paid_then: str = ""
    due_now: str = ""
    plain: tuple[tuple[re.Pattern[str], str], ...] = ()
    not_yet: re.Pattern[str] = _NOWHERE
    settled: re.Pattern[str] = _NOWHERE
    moved_onto: re.Pattern[str] = _NOWHERE
    always: tuple[tuple[re.Pattern[str], str], ...] = ()
    meant: tuple[tuple[re.Pattern[str], str], ...] = ()
    named_apart: re.Pattern[str] = _NOWHERE
    written: tuple[tuple[str, ...], ...] = ()
    for_one: re.Pattern[str] = _NOWHERE
    done_then: re.Pattern[str] = _NOWHERE
    greeting: re.Pattern[str] = _NOWHERE
    asked_plainly: re.Pattern[str] = _NOWHERE
    likened: re.Pattern[str] = _NOWHERE
    paid_twice: re.Pattern[str] = _NOWHERE
    of_them_all: re.Pattern[str] = _NOWHERE
    side_by_side: re.Pattern[str] = _NOWHERE
    given_to: re.Pattern[str] = _NOWHERE
    more_than_before: re.Pattern[str] = _NOWHERE
    same_changed: re.Pattern[str] = _NOWHERE
    more_than_last: re.Pattern[str] = _NOWHERE
    as_before: re.Pattern[str] = _NOWHERE
    once_more: re.Pattern[str] = _NOWHERE
    some_time: re.Pattern[str] = _NOWHERE
    as_due: re.Pattern[str] = _NOWHERE
    first_sum: re.Pattern[str] = _NOWHERE
    shop: re.Pattern[str] = _NOWHERE
    spent_at: re.Pattern[str] = _NOWHERE
    spent: re.Pattern[str] = _NOWHERE
    sum_asked: re.Pattern[str] = _NOWHERE
    one_asked: re.Pattern[str] = _NOWHERE
    worried: re.Pattern[str] = _NOWHERE
    grievance: re.Pattern[str] = _NOWHERE
    wonders: re.Pattern[str] = _NOWHERE
    not_here: re.Pattern[str] = _NOWHERE
    its_sum: re.Pattern[str] = _NOWHERE
    how_much_to: re.Pattern[str] = _NOWHERE
    asks_done: re.Pattern[str] = _NOWHERE
    asks_what_now: re.Pattern[str] = _NOWHERE
    and_of: re.Pattern[str] = _NOWHERE
    came_in: re.Pattern[str] = _NOWHERE
    left_alone: re.Pattern[str] = _NOWHERE
    spared_card: re.Pattern[str] = _NOWHERE
    other_card: re.Pattern[str] = _NOWHERE
    asked_instead: re.Pattern[str] = _NOWHERE
    pronoun: re.Pattern[str] = _NOWHERE
    needed_by: re.Pattern[str] = _NOWHERE
    it_sent: re.Pattern[str] = _NOWHERE
    beside_a_day: re.Pattern[str] = _NOWHERE
    apposed: re.Pattern[str] = _NOWHERE
    apposed_two: re.Pattern[str] = _NOWHERE
    preposed: re.Pattern[str] = _NOWHERE
    from_it: re.Pattern[str] = _NOWHERE
    drawn_on: re.Pattern[str] = _NOWHERE
    own_source: re.Pattern[str] = _NOWHERE
    of_it: re.Pattern[str] = _NOWHERE
    noted: re.Pattern[str] = _NOWHERE
    the_rest: re.Pattern[str] = _NOWHERE
    order_begins: re.Pattern[str] = _NOWHERE
    told_of: re.Pattern[str] = _NOWHERE
    that_one: re.Pattern[str] = _NOWHERE
    told_why: re.Pattern[str] = _NOWHERE
    told_behind: re.Pattern[str] = _NOWHERE
    drawn_last: re.Pattern[str] = _NOWHERE
    takes_back: re.Pattern[str] = _NOWHERE
    hangs_on: re.Pattern[str] = _NOWHERE
    owner: re.Pattern[str] = _NOWHERE
    not_him: re.Pattern[str] = _NOWHERE
    not_her: re.Pattern[str] = _NOWHERE
    mends: re.Pattern[str] = _NOWHERE
    compared: re.Pattern[str] = _NOWHERE
    claimed: re.Pattern[str] = _NOWHERE
    hangs_first: re.Pattern[str] = _NOWHERE
    gives_too: re.Pattern[str] = _NOWHERE
    rate: re.Pattern[str] = _NOWHERE
    owed: re.Pattern[str] = _NOWHERE
    owed_to: str = ""
    before_sum: re.Pattern[str] = _NOWHERE
    behind_sum: re.Pattern[str] = _NOWHERE
    rest_of_it: re.Pattern[str] = _NOWHERE
    rest_as: str = ""
    that_sum: re.Pattern[str] = _NOWHERE
    paid_for_me: re.Pattern[str] = _NOWHERE
    as_well: re.Pattern[str] = _NOWHERE
    only_that: re.Pattern[str] = _NOWHERE
    not_wanted: re.Pattern[str] = _NOWHERE
    not_wanted_now: re.Pattern[str] = _NOWHERE
    so_much: re.Pattern[str] = _NOWHERE
    so_much_after: re.Pattern[str] = _NOWHERE
    why_so_much: re.Pattern[str] = _NOWHERE
    kept_before: re.Pattern[str] = _NOWHERE
    kept_behind: re.Pattern[str] = _NOWHERE
    after_its_day: re.Pattern[str] = _NOWHERE
    on_day: str = ""
    in_there: re.Pattern[str] = _NOWHERE
    asks_left: re.Pattern[str] = _NOWHERE
    asks_where: re.Pattern[str] = _NOWHERE
    asks_who: re.Pattern[str] = _NOWHERE
    asks_if_it_is: re.Pattern[str] = _NOWHERE
    asks_not: re.Pattern[str] = _NOWHERE
    all_the_same: re.Pattern[str] = _NOWHERE
    bids: re.Pattern[str] = _NOWHERE
    made_it: re.Pattern[str] = _NOWHERE
    reason_ends: re.Pattern[str] = _NOWHERE
    reason_begins: re.Pattern[str] = _NOWHERE
    already_done: re.Pattern[str] = _NOWHERE
    asks: dict[str, re.Pattern[str]] = Field(default_factory=dict)
    and_to: re.Pattern[str] = _NOWHERE
    income: re.Pattern[str] = _NOWHERE
    asks_whether: re.Pattern[str] = _NOWHERE
    spends: re.Pattern[str] = _NOWHERE
    shop_kind: re.Pattern[str] = _NOWHERE
    named_so: re.Pattern[str] = _NOWHERE
    of_those: re.Pattern[str] = _NOWHERE
    asks_own: re.Pattern[str] = _NOWHERE
    bids_for: re.Pattern[str] = _NOWHERE
    in_general: re.Pattern[str] = _NOWHERE
    unbooked: re.Pattern[str] = _NOWHERE
    of_its_state: re.Pattern[str] = _NOWHERE
    went_out: re.Pattern[str] = _NOWHERE
    that_payment: re.Pattern[str] = _NOWHERE
    sought_out: re.Pattern[str] = _NOWHERE
    of_own_bill: re.Pattern[str] = _NOWHERE
    of_what_was_told: re.Pattern[str] = _NOWHERE
    points_back: re.Pattern[str] = _NOWHERE

    @model_validator(mode="before")
    @classmethod
    def _with_parts(cls, given: dict[str, Any]) -> dict[str, Any]:
        for part in _PARTS:
            words, place = given.get(part, ""), f"{{{part}}}"
            given = _put(given, place, words)
            given["asks"] = _put(given.get("asks", {}), place, words)
        return given


NO_PATTERNS: Final = SentencePatterns(id="intents.patterns", version=1)
"""Those of a language whose words are spaced."""
