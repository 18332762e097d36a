"""An amount that goes on after a hesitation, two values of one kind, and "not now": put together, or asked about."""

import pytest

from deploy.bench.cases.player import ConversationPlayer
from schemas.intent import Intent, SlotName
from schemas.transcript import Transcript
from services.dialogue import DialogueState
from tests.fakes.desk import FakeDesk

CUSTOMERS = {"en": "alex-morgan", "ja": "takahashi-misaki"}


@pytest.fixture(scope="module")
def players() -> dict[str, ConversationPlayer]:
    return {language: ConversationPlayer.of(customer) for language, customer in CUSTOMERS.items()}


@pytest.mark.parametrize(
    ("language", "said", "amounts"),
    [
        ("en", "send a hundred uh fifty dollars to dave", {15000, 5000}),
        ("en", "send two hundred um and ten dollars to dave", {21000}),
        ("en", "send one thousand er two hundred dollars to maria", {120000, 20000}),
        ("en", "send fifty uh thousand dollars to dave", {5000000, 100000}),
        ("en", "send two hundred uh fifty thousand dollars to dave", {25000000, 5000000}),
        ("en", "pay maria nine hundred uh nine fifty", {90000, 95000}),
        ("en", "send dave forty five dollars, hm, round it up to fifty", {5000}),
        ("ja", "妹に四千、あの、五百円送って", {4500, 500}),
        ("ja", "妹に二万、ええと、三千円振り込みたいです", {23000, 3000}),
        ("ja", "妹に五千、えっと六千円送ってもらえますか", {6000}),
        ("ja", "大家さんに八万円、あ、九万円だ、送って", {90000}),
    ],
)
def test_every_amount_that_may_be_meant_is_kept(
    players: dict[str, ConversationPlayer], language: str, said: str, amounts: set[int]
) -> None:
    player = players[language]
    facts = player.facts(FakeDesk.of(CUSTOMERS[language]))
    amount = player.understand(Transcript.typed(said, player.locale), DialogueState(), facts).slots.amount
    assert amount is not None
    assert {each.amount_minor for each in (amount.value, *amount.readings)} == amounts


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "not now but send fifty dollars to emily"),
        ("en", "not right now but send fifty dollars to emily"),
        ("ja", "今じゃなくて妹に五千円送って"),
    ],
)
def test_what_is_put_off_is_not_for_now(players: dict[str, ConversationPlayer], language: str, said: str) -> None:
    player = players[language]
    facts = player.facts(FakeDesk.of(CUSTOMERS[language]))
    found = player.understand(Transcript.typed(said, player.locale), DialogueState(), facts)
    assert found.intent is Intent.TRANSFER_MONEY
    assert found.slots.date is None
    assert SlotName.DATE in {mention.slot for mention in found.unresolved}
