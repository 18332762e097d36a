"""What the learned reader proposes to first sentences that no rule reads: what is wanted, and no money for the rest."""

from collections.abc import Iterator

import pytest

from deploy.bench.cases.conversations import Turn
from deploy.bench.cases.labelled import filled
from deploy.bench.cases.player import PlayTally
from schemas.decision import Clarify, Confirm, Decision
from schemas.intent import Route
from tests.harness.callers import Book, Caller, Line, came_out, comes_to, order_of, written


def of_money(said: list[Decision]) -> bool:
    """Whether money is offered to be sent, or a bill to be paid, or an order is read back."""
    offers = ("offer.transfer", "offer.bill_payment", "offer.bill_of")
    return any(isinstance(d, Confirm) or (isinstance(d, Clarify) and d.reply.id.startswith(offers)) for d in said)


class English(Book):
    """The English sentences of one file."""

    def __init__(self, name: str) -> None:
        super().__init__("en", f"en_{name}")
        self.said = self.further[name]

    def outcome(self, line: Line) -> str:
        """`right`, `offered` (right after a yes), `money` (offered for nothing), `quiet` or `missed`."""
        call = self.player.call(PlayTally())
        for text in line.before:
            call.play(Turn(say=text))
        _, said = call.play(Turn(say=line.text))
        if set(line.right) <= {"none", "held"}:
            return "money" if of_money(said) else "quiet"
        if any(comes_to(call, said, "", right) for right in line.right):
            return "right"
        if not any(isinstance(d, Clarify) for d in said):
            return "missed"
        fork = call.fork()
        _, then = fork.play(Turn(say="yes"))
        return "offered" if any(comes_to(fork, then, order_of(said), right) for right in line.right) else "missed"


class Japanese(Caller):
    """The Japanese sentences."""

    def outcome(self, text: str, intent: str, slots: dict[str, str]) -> str:
        """As for English; `offered` where it is asked about with no slot that is another."""
        if intent == "none":
            return "money" if of_money([self.says(text)[1]]) else "quiet"
        if came_out(self, text, {intent}, slots):
            return "right"
        heard, decision = self.says(text)
        found = filled(heard.slots, "JPY")
        fits = all(found.get(name, value) == value for name, value in slots.items() if name != "date")
        asked = isinstance(decision, Clarify) and heard.route is Route.CLARIFY
        return "offered" if asked and heard.intent == intent and fits else "missed"


def japanese(data: dict[str, object]) -> Iterator[tuple[str, str, dict[str, str]]]:
    """Text, intent and slots of each line of a file, the traps last."""
    for kind in data["said"].values():  # type: ignore[attr-defined]
        for intent, lines in kind.items():
            for text, _, given in (line.partition(" => ") for line in lines.splitlines()):
                yield text, intent, dict(pair.split("=") for pair in given.split())
    yield from ((line, "none", {}) for line in str(data["traps"]).splitlines())


def apart(number: int) -> bool:
    """Whether a sentence of a file that is else learned from is kept apart."""
    return number % 3 == 0


def test_english_sentences_that_were_never_learned_from() -> None:
    book = English("orchard")
    came = [book.outcome(line) for line in book.said]
    assert len(came) == 150
    assert came.count("money") <= 3, [line.text for line, out in zip(book.said, came, strict=True) if out == "money"]
    assert came.count("right") + came.count("offered") >= 52


def test_japanese_sentences_that_were_never_learned_from() -> None:
    caller, rows = Japanese(), list(japanese(written("ja_orchard")))
    came = [caller.outcome(*row) for row in rows]
    assert len(came) == 120
    assert came.count("money") <= 3, [row[0] for row, out in zip(rows, came, strict=True) if out == "money"]
    assert came.count("right") + came.count("offered") >= 48


@pytest.mark.parametrize(("name", "least"), [("garden", 30), ("library", 49)])
def test_english_thirds_that_were_kept_apart(name: str, least: int) -> None:
    book = English(name)
    came = [book.outcome(line) for number, line in enumerate(book.said) if apart(number)]
    assert came.count("right") + came.count("offered") >= least
    assert came.count("money") == 0
