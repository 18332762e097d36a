"""Is the suite awake? Each fault, planted in the code, must be noticed by the attack that is there to notice it."""

import asyncio
from pathlib import Path

import pytest

from services.store import Store
from tests.harness import attacks
from tests.harness.attacks import Attack
from tests.harness.mutants import FAULTS, planted
from tests.harness.stores import new_sqlite

NOTICED_BY: dict[str, Attack] = {
    "the read-back need not be heard": attacks.yes_before_the_read_back,
    "single use is checked before acting only": attacks.many_yeses_at_once,
    "single use is not checked": attacks.yes_twice,
    "expiry is checked before acting only": attacks.a_yes_that_grows_late_while_the_bank_is_asked,
    "expiry is not checked": attacks.a_late_yes,
    "the day's limit is not kept when acting": attacks.two_transfers_race_the_days_limit,
    "the day's limit is kept when proposing only": attacks.two_transfers_race_the_days_limit,
    "the limit per transfer is not checked when acting": attacks.a_limit_lowered_after_the_read_back,
    "the payee's version is not checked when acting": attacks.a_payee_changed_after_the_read_back,
    "a yes counts from any call": attacks.yes_from_another_call_or_customer,
    "the seal is not compared": attacks.yes_to_another_proposals_seal,
    "the seal is not checked before sending again": attacks.a_row_changed_while_unsettled,
    "a correction does not void": attacks.yes_after_a_correction,
    "void does nothing": attacks.yes_after_a_correction,
    "no second factor for transfers": attacks.no_second_factor,
    "a second factor can be used again": attacks.a_second_factor_for_something_else_or_used_up,
    "a second factor serves any purpose": attacks.a_second_factor_for_something_else_or_used_up,
    "codes may be guessed for ever": attacks.guessing_codes,
    "codes live for ever": attacks.guessing_codes,
    "codes are sent without end": attacks.asking_for_codes_without_end,
    "a timeout counts as failure": attacks.an_answer_that_is_lost,
    "an error counts as failure": attacks.an_answer_that_is_lost,
    "a fault nobody foresaw is not caught": attacks.a_bank_that_breaks,
    "a fresh key on retry": attacks.a_request_that_is_lost,
    "the reconciler sends without asking": attacks.an_answer_that_is_lost,
    "the reconciler sends again for ever": attacks.a_bank_that_forgot,
    "an outage always counts as nothing spent": attacks.an_outage_after_a_yes_was_spent,
    "a promise is not kept on disk": attacks.a_yes_whose_fate_nobody_knows,
    "promises are not made true": attacks.a_yes_whose_fate_nobody_knows,
    "a yes that was never spent ends without a word": attacks.a_yes_whose_fate_nobody_knows,
    "what was told is owed for ever": attacks.a_yes_whose_fate_nobody_knows,
    "a clock that is set back prolongs a proposal": attacks.a_clock_that_is_set_back,
    "a proposal of a later time is live": attacks.a_clock_that_is_set_back,
    "a settling is marked apart from its record": attacks.an_outage_while_putting_on_record,
    "a settling is recorded apart from its mark": attacks.an_outage_while_putting_on_record,
    "a settling is not marked as recorded": attacks.an_outage_while_putting_on_record,
    "states go back": attacks.answers_out_of_order,
    "a failure keeps its place in the day": attacks.a_bank_that_says_no,
    "hanging up stops a submission": attacks.a_caller_who_hangs_up,
    "a resumed proposal lives on in its old call": attacks.a_call_that_was_resumed,
    "a resumed proposal counts as heard": attacks.a_call_that_was_resumed,
    "the bank moves money for every request": attacks.the_same_key_again,
    "the bank takes a key for another order": attacks.the_same_key_again,
}
"""The attack for each fault; those of the encoding are all for the one that compares seals."""


async def _attack(attack: Attack, url: str) -> None:
    store = Store(url)
    try:
        async with asyncio.timeout(30):
            await attack(store)
    finally:
        await store.close()


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_noticed(fault: str, sqlite_template: Path, tmp_path: Path) -> None:
    attack = NOTICED_BY.get(fault, attacks.every_bound_fact_changes_the_seal)
    with planted(*FAULTS[fault]), pytest.raises(AssertionError):
        asyncio.run(_attack(attack, new_sqlite(sqlite_template, tmp_path)))
