"""A look that is passed over by what holds would have found nothing."""

from pathlib import Path

import pytest
import yaml

from deploy.bench.cases.conversations import ConversationFile
from deploy.bench.cases.player import ConversationPlayer, PlayTally
from schemas.intent import Understood
from services.interpretation import second_pass
from services.understanding.correction.said import Said

CALLS = Path(__file__).parents[2] / "conversations"


def _asked_all_the_same(look: second_pass._Look) -> second_pass._Look:
    def read(said: Said, found: Understood) -> Understood | None:
        meant = look.reader(said, found)
        meant = look.or_else(said, found) if meant is None and look.or_else is not None else meant
        assert meant is None or not look.where & ~second_pass._holds(said, found), (look.reader, said.text)
        return meant

    return second_pass._Look(look.takes, read)


@pytest.mark.parametrize("name", ["en/balances", "en/corrections", "en/stories", "ja/balances", "ja/refused_parts"])
def test_what_is_passed_over_finds_nothing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(second_pass, "_LOOKS", tuple(map(_asked_all_the_same, second_pass._LOOKS)))
    file = ConversationFile.model_validate(yaml.safe_load((CALLS / f"{name}.yaml").read_text(encoding="utf-8")))
    player, played = ConversationPlayer.of(file.customer), PlayTally()
    for conversation in file.conversations:
        player.play(conversation, played)
    assert played.turns
    assert not played.failures
