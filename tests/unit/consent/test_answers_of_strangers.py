"""Answers to a read-back by a stranger to the grammar: none moves money but a yes, and most yeses do at once."""

from pathlib import Path

import pytest
import yaml

from deploy.bench.cases.conversations import Turn
from deploy.bench.cases.player import ConversationPlayer, PlayTally
from schemas.decision import Confirm, Execute, SubmitTransfer

ANSWERS = yaml.load(
    (Path(__file__).parents[2] / "data" / "answers_garden.yaml").read_text(encoding="utf-8"), yaml.CSafeLoader
)
ORDERS = {
    "en": ("alex-morgan", "send fifty dollars to emily morgan"),
    "ja": ("takahashi-misaki", "妹に五千円送って"),
}
AT_ONCE = {"en": 0.9, "ja": 0.85}
"""Of the yeses; at first sight it was 9 and 16 of 24."""


def moves(player: ConversationPlayer, order: str, answer: str) -> bool:
    call = player.call(PlayTally())
    assert any(isinstance(decision, Confirm) for decision in call.play(Turn(say=order))[1])
    return any(isinstance(d, Execute) and isinstance(d.action, SubmitTransfer) for d in call.play(Turn(say=answer))[1])


@pytest.mark.parametrize("language", ORDERS)
def test_only_a_yes_moves_money(language: str) -> None:
    customer, order = ORDERS[language]
    player = ConversationPlayer.of(customer)
    moved = {row["said"]: moves(player, order, row["said"]) for row in ANSWERS[language]}
    assert [row["said"] for row in ANSWERS[language] if row["meaning"] != "yes" and moved[row["said"]]] == []
    yeses = [row["said"] for row in ANSWERS[language] if row["meaning"] == "yes"]
    assert sum(moved[said] for said in yeses) >= AT_ONCE[language] * len(yeses)
