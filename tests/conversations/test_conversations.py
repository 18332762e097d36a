"""Every conversation in the folder beside this file, through the real stages."""

from pathlib import Path

import pytest

from deploy.bench.cases.conversations import ConversationFile, conversations
from deploy.bench.cases.player import ConversationPlayer, PlayTally

HERE = Path(__file__).parent
FILES = list(conversations(HERE))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.id)
def test_conversations(file: ConversationFile) -> None:
    player, played = ConversationPlayer.of(file.customer), PlayTally()
    for conversation in file.conversations:
        player.play(conversation, played)
    assert played.failures == []


def test_there_are_enough_of_them() -> None:
    for language in ("en", "ja"):
        ids = [c.id for f in FILES if f.id.split(".")[1] == language for c in f.conversations]
        assert len(ids) >= 150


def test_replies_are_short_and_whole() -> None:
    played = PlayTally()
    for file in FILES:
        player = ConversationPlayer.of(file.customer)
        for conversation in file.conversations[:12]:
            player.play(conversation, played)
    assert played.spoken
    for said in played.spoken:
        assert 0 < len(said) <= 330, said
        assert "{" not in said, said
        assert "None" not in said, said
