"""A list that is cut says how many more there are; one more is named as soon as counted."""

from dataclasses import replace

import pytest

from schemas.decision import Clarify, Reply
from schemas.ids import BillId, CardId
from schemas.intent import Intent
from services.dialogue.advance import advance
from services.dialogue.bills import bills_due
from services.dialogue.events import Facts
from services.dialogue.phases import Task
from services.dialogue.rules import dialogue_rules
from services.dialogue.state import Memory
from tests.harness.dialogue import FACTS

LISTED, OFFERED = dialogue_rules().bills_listed, dialogue_rules().choices


def having(bills: int, cards: int = 1) -> Facts:
    bill, card = FACTS.profile.bills[0], replace(FACTS.profile.cards[0], locked=False)
    things = {
        "bills": tuple(replace(bill, id=BillId(f"bill-{n}"), name=f"bill {n}") for n in range(bills)),
        "cards": tuple(replace(card, id=CardId(f"card-{n}"), name=f"card {n}") for n in range(cards)),
    }
    return replace(FACTS, profile=replace(FACTS.profile, **things))


def named(intent: Intent, facts: Facts, things: str) -> tuple[object, ...]:
    _, decision = advance(Memory(), Task(intent), facts)
    assert isinstance(decision, Clarify)
    found = decision.reply.params[things]
    assert isinstance(found, tuple)
    return found


@pytest.mark.parametrize(("bills", "told", "more"), [(LISTED + 1, LISTED + 1, None), (LISTED + 2, LISTED, 2)])
def test_bills_that_are_due(bills: int, told: int, more: int | None) -> None:
    said = bills_due(Task(Intent.BILL_INQUIRY), having(bills))
    rows = said.params["bills"]
    assert isinstance(rows, tuple)
    assert (len(rows), said.params.get("count")) == (told, more)


@pytest.mark.parametrize(
    ("intent", "things"), [(Intent.BILL_PAYMENT, "bills"), (Intent.CARD_LOCK, "cards")], ids=["bills", "cards"]
)
def test_what_is_offered(intent: Intent, things: str) -> None:
    assert len(named(intent, having(OFFERED + 1, OFFERED + 1), things)) == OFFERED + 1
    *offered, others = named(intent, having(OFFERED + 3, OFFERED + 3), things)
    assert len(offered) == OFFERED
    assert isinstance(others, Reply)
    assert (others.id, others.params["count"]) == (f"name.other_{things}", 3)
