"""Orders with noise inside: each kind disturbs one thing, and none makes another order of them."""

from itertools import islice
from pathlib import Path

import pytest

from deploy.bench.cases.disturbed import disturbed, noise
from deploy.bench.cases.exchanges import Exchange, ExchangeOutcome, JudgedExchange, exchange_files, exchanges, judge
from deploy.bench.cases.frames import orders
from deploy.bench.cases.player import ConversationPlayer
from deploy.bench.cases.swapped import swapped, swaps

DATA = Path(__file__).parents[2] / "data"
FILES = sorted((DATA / "noise").glob("*.yaml"))


def exchange(said: str) -> Exchange:
    return Exchange("orders", (said,), {"amount": "50.00 USD"}, earlier="", unseen=False, before=0)


def test_each_kind_disturbs_one_thing() -> None:
    english, _ = map(noise, FILES)
    said = "send fifty to emily"
    made = [each.turns[0].split() for each in disturbed(exchange(said), english)]
    filled, again, without, misheard = made
    assert len(set(filled) - set(said.split())) >= 1
    assert len(again) > 4
    assert set(again) == set(said.split())
    assert without == ["send", "fifty", "emily"]
    assert len(misheard) == 4
    assert misheard != said.split()
    assert made == [each.turns[0].split() for each in disturbed(exchange(said), english)]


def test_one_word_has_nothing_inside() -> None:
    assert list(disturbed(exchange("hello"), noise(FILES[0]))) == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_no_noise_makes_another_order(path: Path) -> None:
    inside, judged = noise(path), list[JudgedExchange]()
    for file in exchange_files(DATA / "corrections", path.stem):
        customer, lines = exchanges(file)
        player = ConversationPlayer.of(customer)
        right = (line for line in islice(orders(lines), 2) if judge(player, line).outcome is ExchangeOutcome.RIGHT)
        judged += [judge(player, other) for line in right for other in disturbed(line, inside)]
    assert len(judged) > 50
    assert [each.said for each in judged if each.outcome is ExchangeOutcome.WRONG] == []


def test_other_values_stand_in_the_places_of_those_that_are_read_back() -> None:
    said = "send fifty dollars to emily on friday"
    amount, day = swapped(ConversationPlayer.of("alex-morgan"), exchange(said), swaps(DATA / "swaps/en.yaml"))
    assert "send fifty dollars" not in amount.turns[0]
    assert amount.order["amount"] != "50.00 USD"
    assert "friday" not in day.turns[0]
    assert {**amount.order, "amount": ""} == {**day.order, "amount": "", "on": amount.order["on"]}
