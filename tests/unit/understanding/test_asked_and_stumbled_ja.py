"""Japanese questions how and whether money can be sent offer no order, and what is said twice at once means no more."""

import pytest

from deploy.bench.cases.conversations import Turn
from deploy.bench.cases.player import ConversationPlayer, PlayTally
from schemas.decision import Clarify, Confirm, Decision


@pytest.fixture(scope="module")
def player() -> ConversationPlayer:
    return ConversationPlayer.of("takahashi-misaki")


def first(player: ConversationPlayer, said: str) -> list[Decision]:
    return player.call(PlayTally()).play(Turn(say=said))[1]


@pytest.mark.parametrize(
    "said",
    [
        "送金ってどうやるんですか、妹に五千円なんですけど",
        "妹に五千円振り込めますか、土曜でも",
        "妹に五千円送れますか、夜でも",
        "妹に五千円の振込、日曜でもできますか",
        "妹に五千円送れるんですか",
        "妹に五千円送っても大丈夫ですか",
        "妹に五千円、明日でも間に合いますか",
        "妹に五千円、何時までに送れますか",
        "妹に五千円、送り方がわからないんです",
        "電気代、コンビニでも払えますか",
    ],
)
def test_questions_how_and_whether_offer_no_order(player: ConversationPlayer, said: str) -> None:
    decisions = first(player, said)
    assert not any(isinstance(each, Confirm) for each in decisions)
    asked = [each.reply for each in decisions if isinstance(each, Clarify)]
    assert not any("offer.transfer" in repr(reply) or "offer.bill" in repr(reply) for reply in asked)


@pytest.mark.parametrize(
    ("said", "order"),
    [
        ("あ、電気、電気代の支払いを", "misaki-denki"),
        ("水道、水道代を払いたい", "misaki-suido"),
        ("け、携帯、携帯代を払いたい", "misaki-keitai"),
        ("電気の、電気の料金を払ってください", "misaki-denki"),
        ("妹、妹に五千円", "sato-hanako"),
        ("佐藤、えっと、佐藤健に五千円送って", "sato-ken"),
    ],
)
def test_what_is_said_twice_at_once_means_no_more(player: ConversationPlayer, said: str, order: str) -> None:
    confirm = next(each for each in first(player, said) if isinstance(each, Confirm))
    assert order in repr(confirm.order)


def test_what_is_corrected_is_not_taken_for_a_stumble(player: ConversationPlayer) -> None:
    confirm = [each for each in first(player, "妹、妹じゃなくて大家さんに五千円") if isinstance(each, Confirm)]
    assert all("tanaka-ichiro" in repr(each.order) for each in confirm)


@pytest.mark.parametrize(
    "stop", ["送らないで", "送らないでください", "送らんといて", "送らねえでけろ", "送らんでええ", "やめて"]
)
def test_what_is_told_not_to_be_sent_is_not_read_back(player: ConversationPlayer, stop: str) -> None:
    for order in ("妹に三万円は", "妹に三万円", "大家さんへ五千円は"):
        assert not any(isinstance(each, Confirm) for each in first(player, f"{stop}、{order}")), (stop, order)
