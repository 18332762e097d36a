"""What a caller whom nobody has named may be offered: a person, and nothing of anybody's."""

import pytest

from schemas.decision import Clarify, Handoff, Reply
from schemas.ids import RuleId
from schemas.intent import Intent, Understood
from services.call.stranger import for_a_stranger
from services.dialogue import UserUtterance


@pytest.mark.parametrize(
    ("offer", "intent", "kept"),
    [
        ("offer.person", Intent.HUMAN_HANDOFF, True),
        ("offer.human", None, True),
        ("offer.transfer_money", Intent.TRANSFER_MONEY, False),
    ],
)
def test_only_a_person_is_offered(offer: str, intent: Intent | None, kept: bool) -> None:
    asked = Clarify(Reply(RuleId(offer)))
    said = for_a_stranger(UserUtterance("words", Understood(intent)), asked)
    assert (said == asked) is kept
    assert kept or isinstance(said, Handoff)
