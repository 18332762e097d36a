"""A company that sends bills is the caller's own only where it sends one to this caller."""

import pytest

from deploy.bench.cases.conversations import Turn
from deploy.bench.cases.differences import order_rows
from deploy.bench.cases.player import ConversationPlayer, PlayTally
from rules.bank import demo_customers
from schemas.decision import Clarify, Confirm
from schemas.intent import SlotName

SAYINGS = ["pay my {} bill", "put 20 dollars on my {} bill", "please get my {} bill paid", "could you pay the {} bill"]


def _player(biller: str) -> ConversationPlayer:
    base = next(c for c in demo_customers() if c.customer == "alex-morgan")
    named = {"name": biller, "aliases": ()}
    payees = tuple(p.model_copy(update=named) if p.id == "bluewave-mobile" else p for p in base.payees)
    return ConversationPlayer(base.model_copy(update={"payees": payees}))


@pytest.mark.parametrize("saying", SAYINGS)
def test_the_callers_own_biller_is_its_bill(saying: str) -> None:
    _, said = _player("Verizon Wireless").call(PlayTally()).play(Turn(say=saying.format("verizon")))
    assert {order_rows(d.order)["bill"] for d in said if isinstance(d, Confirm)} == {"alex-phone"}


@pytest.mark.parametrize("saying", [*SAYINGS, "pay 40 dollars to {}", "pay off my {} phone bill", "take care of {}"])
@pytest.mark.parametrize("brand", ["verizon", "t-mobile", "AT&T", "duke energy", "thames water", "amex"])
def test_a_company_is_never_taken_for_another_of_its_kind(saying: str, brand: str) -> None:
    call = _player("Bluewave Mobile").call(PlayTally())
    _, said = call.play(Turn(say=saying.format(brand)))
    assert not any(isinstance(d, Confirm) for d in said)
    asked = [d.slot for d in said if isinstance(d, Clarify)]
    assert asked
    assert set(asked) <= {SlotName.BILL, SlotName.PAYEE, None}
