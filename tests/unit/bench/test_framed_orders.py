"""Orders with words around them: what keeps them stays right, what takes them back reads nothing back."""

from pathlib import Path

import pytest

from deploy.bench.cases.exchanges import Exchange, ExchangeOutcome
from deploy.bench.cases.frames import framed, frames, orders, tried
from deploy.bench.cases.player import ConversationPlayer

FILES = sorted((Path(__file__).parents[2] / "data" / "frames").glob("*.yaml"))
SEND = {"amount": "50.00 USD", "payee": "emily-morgan"}


def exchange(*turns: str) -> Exchange:
    return Exchange("orders", turns, SEND, earlier="", unseen=False, before=0)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_frame_has_one_place(path: Path) -> None:
    file = frames(path)
    assert all(frame.count("{}") == 1 for frame in (*file.keeping, *file.undoing))


def test_a_sentence_inside_has_no_capital() -> None:
    assert framed(exchange("Send it"), "um {}", "en").turns == ("um send it",)
    assert framed(exchange("I owe it"), "um {}", "en").turns == ("um I owe it",)
    assert framed(exchange("Send it"), "{} please", "en").turns == ("Send it please",)


def test_several_turns_are_no_order_for_a_frame() -> None:
    assert list(orders([exchange("send emily fifty dollars", "yes")])) == []


def test_a_plain_order_is_right_in_every_frame_that_keeps_it_and_read_back_in_none_that_undoes_it() -> None:
    player, (english, _) = ConversationPlayer.of("alex-morgan"), FILES
    told = list(tried(player, exchange("send emily fifty dollars"), frames(english), "en"))
    lost = [judged.exchange.turns[0] for keeps, judged in told if keeps and judged.outcome is not ExchangeOutcome.RIGHT]
    again = [j.exchange.turns[0] for keeps, j in told if not keeps and j.outcome is ExchangeOutcome.WRONG]
    assert (lost, again) == ([], [])
