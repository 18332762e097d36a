"""Rules taken away one by one: an order comes out as it was, or nothing is read back; never another order."""

from collections.abc import Sequence

import pytest

from deploy.bench.cases.labelled import Judge
from deploy.bench.cases.player import ConversationPlayer
from schemas.banking import TransferOrder
from schemas.decision import Confirm
from tests.harness.taken_away import mutants

SAID = {
    "alex-morgan": (
        "send two hundred fifty five dollars to emily",
        "send fifty dollars to emily tomorrow from savings",
        "send fifty dollars to emily on friday",
        "please send ken sato twenty dollars and fifty cents",
        "pay my phone bill from savings tomorrow",
        "move a thousand dollars from checking to savings on december first",
        "send fifty, no, sixty dollars to ken sato",
        "send fifty dollars to emily, sorry, to maria",
        "pay fifty dollars on my credit card bill",
        "send fifty dollars to emily by friday",
        "send fifty dollars to emily after the 20th",
        "send fifty dollars to emily next week",
        "send fifty dollars to emily within three days",
        "send fifty dollars to emily from the joint account",
        "don't send fifty dollars to emily",
        "should i send fifty dollars to emily",
        "get fifty dollars back from emily",
        "send fifty dollars to emily if she asks",
        "send sixty dollars instead of fifty to emily",
        "pay my phone bill and my water bill",
    ),
    "takahashi-misaki": (
        "佐藤花子さんに三万五千円送って",
        "佐藤花子さんに五千円を明日普通から送ってください",
        "金曜日に田中さんに一万円振り込んで",
        "普通から定期に三万円移して",
        "電気代を定期から明日払って",
        "佐藤花子さんに五千円、いや六千円送って",
        "田中さんじゃなくて佐藤花子さんに五千円送って",
        "佐藤花子さんに20日以降に五千円送って",
        "佐藤花子さんに年内に五千円送って",
        "佐藤花子さんに週明けに五千円送って",
        "佐藤花子さんに金曜日までに五千円送って",
        "佐藤花子さんに共同口座から五千円送って",
        "佐藤花子さんに一万円払わせて",
        "佐藤花子さんに一万円返してほしい",
        "佐藤花子さんに給料が入ったら五千円送って",
        "佐藤花子さんに3万2送って",
        "佐藤花子さんに五千円送らないで",
        "水道とガスを払って",
    ),
}


def ordered(judge: Judge, text: str) -> TransferOrder | None:
    _, decision = judge.hear(text)
    return decision.order if isinstance(decision, Confirm) else None


def others(player: ConversationPlayer, customer: str, sentences: Sequence[str]) -> tuple[list[str], int]:
    judge, found, tried = Judge(player, customer), list[str](), 0
    for text in sentences:
        meant = ordered(judge, text)
        for away in mutants(player, text):
            tried += 1
            made = ordered(judge, text)
            if made is not None and made != meant:
                found.append(f"{text} without {away}: {made}")
    return found, tried


@pytest.mark.parametrize("part", [0, *(pytest.param(part, marks=pytest.mark.slow) for part in range(1, 12))])
@pytest.mark.parametrize("customer", list(SAID))
def test_no_rule_taken_away_makes_another_order(customer: str, part: int) -> None:
    found, tried = others(ConversationPlayer.of(customer), customer, SAID[customer][part::12])
    assert tried > 120
    assert found == []


@pytest.mark.parametrize("customer", list(SAID))
def test_every_rule_is_put_back(customer: str) -> None:
    player = ConversationPlayer.of(customer)
    judge, text = Judge(player, customer), SAID[customer][0]
    before = ordered(judge, text)
    assert before is not None
    assert sum(ordered(judge, text) is None for _ in mutants(player, text)) > 0
    assert ordered(judge, text) == before
