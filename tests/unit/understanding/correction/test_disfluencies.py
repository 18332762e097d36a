"""Half words, doubled words and digits that spell a number mean no more; evidence stays in the caller's own words."""

from pathlib import Path

import pytest

from deploy.bench.cases.exchanges import exchange_files, exchanges
from deploy.bench.cases.player import ConversationPlayer
from schemas.intent import Evidence, Intent, Slots, Understood
from schemas.transcript import Transcript
from services.dialogue import DialogueState
from tests.fakes.desk import FakeDesk

DATA = Path(__file__).parents[3] / "data" / "corrections"
ALEX = "alex-morgan"


@pytest.fixture(scope="module")
def player() -> ConversationPlayer:
    return ConversationPlayer.of(ALEX)


def understood(player: ConversationPlayer, said: str) -> Understood:
    facts = player.facts(FakeDesk.of(ALEX))
    return player.understand(Transcript.typed(said, player.locale), DialogueState(), facts)


def evidence(found: Understood) -> list[Evidence]:
    slots = [slot.evidence for name in Slots.__slots__ if (slot := getattr(found.slots, name)) is not None]
    return [*slots, *(mention.evidence for mention in found.unresolved), *found.unread]


@pytest.mark.parametrize(
    ("said", "minor", "payee"),
    [
        ("send ken sato twen- thirty dollars", 3000, "ken-sato"),
        ("send forty dollars to dave I mean ken ken sato", 4000, "ken-sato"),
        ("send ninety no nineteen one nine dollars to maria", 1900, "maria-castellano"),
        ("send thirty no thirteen that's one three dollars to maria", 1300, "maria-castellano"),
        ("send fifteen, no, five zero dollars to maria", 5000, "maria-castellano"),
    ],
)
def test_the_words_are_read_without_them(player: ConversationPlayer, said: str, minor: int, payee: str) -> None:
    found = understood(player, said)
    assert found.slots.amount is not None
    assert found.slots.payee is not None
    assert (found.intent, found.slots.amount.value.amount_minor) == (Intent.TRANSFER_MONEY, minor)
    assert (found.slots.payee.value, found.unread) == (payee, ())


@pytest.mark.parametrize(
    "said",
    [
        "send fif- hundred dollars to emily",  # half of the number
        "not tomorrow but send fifty dollars to emily",  # what is denied is of another kind than what follows
        "send fifty dollars to emily, fifty dollars fifty",
    ],
)
def test_what_may_mean_more_is_not_left_out(player: ConversationPlayer, said: str) -> None:
    found = understood(player, said)
    asked = found.unread or found.unresolved or found.doubted
    assert asked or found.slots.amount is None or found.slots.payee is None


@pytest.mark.parametrize("part", [0, *(pytest.param(part, marks=pytest.mark.slow) for part in range(1, 10))])
def test_evidence_is_in_the_callers_own_words(player: ConversationPlayer, part: int) -> None:
    """A tenth of all that is said in the corpora of corrections; the others by `make test-slow`."""
    lines = [line for path in exchange_files(DATA, "en") for line in exchanges(path)[1]]
    turns = sorted({turn for line in lines for turn in line.turns})[part::10]
    assert len(turns) > 160
    for said in turns:
        for each in evidence(understood(player, said)):
            assert said[each.start : each.end].strip(" ,.;:!—–-") == each.surface.strip(" ,.;:!—–-")
