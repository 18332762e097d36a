"""Money that is told to go both to somebody and to an own account is read back as neither."""

from itertools import product

import pytest

from deploy.bench.cases.conversations import Turn
from deploy.bench.cases.exchanges import Exchange, ExchangeOutcome, judge
from deploy.bench.cases.player import ConversationPlayer, PlayTally
from schemas.decision import Confirm

PEOPLE = ("田中さん", "妹", "佐藤健")
ACCOUNTS = ("貯蓄口座", "定期預金", "定期", "普通口座")
ORDERS = (
    "{who}に{account}へ五千円",
    "{who}に{account}へ五千円送ってください",
    "{account}に{who}へ五千円振り込んで",
    "五千円を{who}に{account}にお願いします",
    "{who}に五千円を{account}に入れてください",
    "{who}へ五千円、{account}に送金してください",
    "{who}の{account}に五千円振り込んで",
    "{who}さ{account}さ五千円送ってけろ",
)


@pytest.fixture(scope="module")
def player() -> ConversationPlayer:
    return ConversationPlayer.of("takahashi-misaki")


@pytest.mark.parametrize("order", ORDERS)
def test_neither_is_read_back(player: ConversationPlayer, order: str) -> None:
    for who, account in product(PEOPLE, ACCOUNTS):
        call, said = player.call(PlayTally()), order.format(who=who, account=account)
        for turn in (said, "はい"):
            _, decisions = call.play(Turn(say=turn))
            assert not any(isinstance(each, Confirm) for each in decisions), (said, turn)


@pytest.mark.parametrize(
    ("said", "order"),
    [
        ("普通から定期に五千円移して", {"to": "misaki-teiki"}),
        ("普通から妹に五千円送って", {"payee": "sato-hanako"}),
        ("妹に五千円送って、定期に一万円移して", {"payee": "sato-hanako"}),
        ("妹に、じゃなくて定期に五千円移して", {"to": "misaki-teiki"}),
        ("妹に五千円送って / 定期に移して", {"to": "misaki-teiki"}),
    ],
)
def test_one_receiver_is_read_back(player: ConversationPlayer, said: str, order: dict[str, str]) -> None:
    found = judge(player, Exchange("one", tuple(said.split(" / ")), order, "", False, 0))
    assert found.outcome in {ExchangeOutcome.RIGHT, ExchangeOutcome.ASKED}, found.said
