"""A later value that no rule read as a correction is asked about; what is read anew says all that was said."""

import pytest

from deploy.bench.cases.conversations import Turn
from deploy.bench.cases.differences import order_rows
from deploy.bench.cases.player import ConversationPlayer, PlayTally
from schemas.decision import Clarify, Confirm, Decision, Execute, LockCard
from schemas.ids import CardId


@pytest.fixture(scope="module")
def player() -> ConversationPlayer:
    return ConversationPlayer.of("alex-morgan")


def said_to(player: ConversationPlayer, *turns: str) -> list[Decision]:
    call, last = player.call(PlayTally()), list[Decision]()
    for turn in turns:
        _, last = call.play(Turn(say=turn))
    return last


@pytest.mark.parametrize(
    ("said", "choices"),
    [
        ("could you send maria nine hundred? she shakes her head. nine twenty, she says", {"90000:", "92000:"}),
        ("send dave ninety dollars because he paid, well the receipt says eighty", {"9000:USD", "8000:"}),
        ("pay dave twenty tomorrow, I don't get paid till friday though, so friday", {"2026-11-19", "2026-11-20"}),
        ("send emily forty on the twenty fourth please. twenty sixth.", {"2026-11-24", "2026-11-26"}),
        ("from 4021 please send emily thirty dollars. 7755 is the one I want", {"alex-checking", "alex-savings"}),
        ("use checking to send emily thirty dollars, belay checking, savings", {"alex-checking", "alex-savings"}),
        (
            "stop the debit card, my wife's got it, it's only the credit card they have",
            {"alex-debit", "alex-credit"},
        ),
    ],
)
def test_both_values_are_offered(player: ConversationPlayer, said: str, choices: set[str]) -> None:
    asked = [each for each in said_to(player, said) if isinstance(each, Clarify)]
    assert choices in [set(each.choices) for each in asked]


@pytest.mark.parametrize(
    "said",
    [
        "could you pass kate eight dollars? I was wrong about that, if she has forty",
        "pay dave twenty tomorrow, I don't get paid till friday though, every month, so friday",
    ],
)
def test_what_is_said_on_a_condition_is_no_later_value(player: ConversationPlayer, said: str) -> None:
    last = said_to(player, said)
    assert not any(isinstance(each, Confirm) for each in last)
    assert not any(each.choices for each in last if isinstance(each, Clarify))


@pytest.mark.parametrize(
    ("turns", "rows"),
    [
        (("send seventy dollars to marcus bell", "that's not what I owe him, it's seventeen"), {"amount": "17.00 USD"}),
        (("send seventy dollars to marcus bell", "no, Sarah Whitfield was the one"), {"payee": "sarah-whitfield"}),
        (("send emily thirty dollars from 7755",), {"source": "alex-savings", "amount": "30.00 USD"}),
        (("take my savings and pay dave sixty dollars",), {"source": "alex-savings", "payee": "david-oconnor"}),
        (("pay clearbrook tomorrow",), {"bill": "alex-water", "on": "2026-11-19"}),
        (("pay bluewave and clearbrook",), {"bill": "alex-phone"}),
        (("pay bluewave and clearbrook", "yes"), {"bill": "alex-water"}),
        (("send ken and dave forty each", "yes"), {"payee": "david-oconnor", "amount": "40.00 USD"}),
        (("on the 24th send marcus bell fifteen bucks",), {"on": "2026-11-24"}),
    ],
)
def test_all_of_it_is_read_back(player: ConversationPlayer, turns: tuple[str, ...], rows: dict[str, str]) -> None:
    read = [order_rows(each.order) for each in said_to(player, *turns) if isinstance(each, Confirm)]
    assert read
    assert rows.items() <= read[-1].items()


@pytest.mark.parametrize("said", ["send money to bluewave", "pay bluewave or clearbrook"])
def test_no_bill_is_paid_that_was_not_named_alone(player: ConversationPlayer, said: str) -> None:
    assert not any(isinstance(each, Confirm) for each in said_to(player, said))


def test_a_command_behind_what_is_dropped_is_done_alone(player: ConversationPlayer) -> None:
    dropped = said_to(player, "send dave forty dollars, forget dave, lock my debit card")
    assert any(isinstance(each, Execute) and each.action == LockCard(CardId("alex-debit")) for each in dropped)
    kept = said_to(player, "send dave forty dollars, not kate, what's my balance")
    assert any(isinstance(each, Confirm) and order_rows(each.order)["payee"] == "david-oconnor" for each in kept)
