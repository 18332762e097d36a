"""Payees whose names hold a day or a number: what is a part of a name is neither."""

import pytest

from deploy.bench.cases.conversations import Turn
from deploy.bench.cases.differences import order_rows
from deploy.bench.cases.player import ConversationPlayer, PlayTally
from schemas.decision import Confirm
from schemas.ids import PayeeId
from schemas.payee import Payee

BOOK = {"friday": "Pat Friday", "hundred": "Grant Hundred", "nine": "Nina Nine", "asahi": "朝日 昇"}
BOOK["sunday"] = "日曜市場"
KANA = {"asahi": "アサヒ ノボル", "sunday": "ニチヨウイチバ"}
EN, JA = "alex-morgan", "takahashi-misaki"


@pytest.mark.parametrize(
    ("customer", "said", "order"),
    [
        (EN, "send fifty dollars to pat friday", {"payee": "friday", "amount": "50.00 USD"}),
        (EN, "pay Pat Friday 40 dollars on monday", {"payee": "friday", "amount": "40.00 USD", "on": "2026-11-23"}),
        (EN, "pay grant hundred 40 dollars", {"payee": "hundred", "amount": "40.00 USD"}),
        (EN, "send nina nine twenty five", {"payee": "nine", "amount": "25.00 USD"}),
        (EN, "send 40 to dave, no, to nina nine", {"payee": "nine", "amount": "40.00 USD"}),
        (JA, "朝日さんに五千円送って", {"payee": "asahi", "amount": "5000 JPY"}),
        (JA, "日曜市場に月曜日に三千円振り込んで", {"payee": "sunday", "amount": "3000 JPY", "on": "2026-11-23"}),
    ],
)
def test_a_part_of_a_name_is_no_day_and_no_amount(customer: str, said: str, order: dict[str, str]) -> None:
    book = tuple(Payee(id=PayeeId(id_), name=name, kana=KANA.get(id_, "")) for id_, name in BOOK.items())
    decisions = ConversationPlayer.of(customer, book).call(PlayTally()).play(Turn(say=said))[1]
    orders = [order_rows(each.order) for each in decisions if isinstance(each, Confirm)]
    assert orders
    assert {name: value for name, value in orders[-1].items() if name != "source"} == order
