"""Cards that are gone or found, in words of no template: which are locked or asked about, and which are not."""

import pytest

from deploy.bench.cases.conversations import Turn
from deploy.bench.cases.player import PlayTally
from schemas.intent import Intent, Route
from tests.harness.callers import Book


@pytest.fixture(scope="module")
def book() -> Book:
    return Book("en")


@pytest.mark.parametrize(
    "said",
    [
        "don't lock my debit card",
        "my sister's debit card was stolen",
        "what happens if I lose my debit card",
        "I haven't lost my debit card",
        "my friend says someone stole his credit card",
        "I found a credit card in the street",
        "please don't unlock my credit card, I haven't found it",
    ],
)
def test_what_is_not_asked_of_an_own_card_is_not_offered(book: Book, said: str) -> None:
    understood, _ = book.player.call(PlayTally()).play(Turn(say=said))
    assert understood.rule is None or "carded" not in understood.rule


@pytest.mark.parametrize(
    ("said", "intent", "route"),
    [
        ("my debit card has gone walkabout", Intent.CARD_LOCK, Route.CLARIFY),
        ("somebody pinched my purse, freeze my credit card", Intent.CARD_LOCK, Route.FAST),
        ("my credit card was in my coat, can you switch it back on", Intent.CARD_UNLOCK, Route.CLARIFY),
    ],
)
def test_what_is_said_of_an_own_card_is_done_or_asked_about(
    book: Book, said: str, intent: Intent, route: Route
) -> None:
    understood, _ = book.player.call(PlayTally()).play(Turn(say=said))
    assert (understood.intent, understood.route) == (intent, route)
