"""Nothing said about money is ignored: corrections within one breath count, and what no rule reads is asked about."""

from pathlib import Path

import pytest

from deploy.bench.cases.exchanges import ExchangeOutcome, JudgedExchange, exchanges, judge
from deploy.bench.cases.player import ConversationPlayer

DATA = Path(__file__).parents[2] / "data"


def judged(kind: str, language: str) -> list[JudgedExchange]:
    customer, lines = exchanges(DATA / kind / f"{language}.yaml")
    player = ConversationPlayer.of(customer)
    return [judge(player, line) for line in lines]


@pytest.mark.parametrize(
    ("language", "share"),
    [
        ("en", 0.98),
        ("ja", 0.97),
        ("en_callers", 0.96),
        ("ja_callers", 0.96),
        ("ja_kinds", 0.97),
        ("en_telephone", 0.94),
        ("en_again", 0.95),
        ("en_street", 0.95),
        ("en_market", 0.93),
        ("en_station", 0.96),
        ("en_harbour", 0.94),
        ("ja_street", 0.96),
        ("ja_station", 0.96),
        ("ja_harbour", 0.96),
        ("en_hall", 0.95),
        ("ja_hall", 0.94),
        ("en_ferry", 0.95),
        ("ja_ferry", 0.95),
        ("en_orchard", 0.95),
        ("ja_orchard", 0.95),
        ("en_kitchen", 0.94),
        ("ja_kitchen", 0.97),
        ("en_tram", 0.96),
        ("ja_tram", 0.98),
        ("en_library", 0.94),
        ("en_garden", 0.95),
        ("en_attic", 0.93),
        ("en_attic2", 0.9),
        ("en_pier", 0.92),
        ("en_quay", 0.86),
        ("en_lantern", 0.82),
        ("en_brook", 0.8),
        ("ja_library", 0.97),
        ("ja_pantry", 0.96),
        ("ja_cellar", 0.93),
        ("ja_garden", 0.79),
        ("ja_attic", 0.95),
        ("ja_terrace", 0.97),
        ("ja_veranda", 0.95),
        ("ja_lantern", 0.86),
        ("ja_balcony", 0.9),
        ("ja_stairs", 0.93),
        ("ja_lighthouse", 0.82),
        ("ja_arcade", 0.98),
        ("ja_bakery", 0.97),
        ("ja_ropeway", 0.81),
    ],
)
def test_corrections_count(language: str, share: float) -> None:
    found = judged("corrections", language)
    assert [each for each in found if each.outcome is ExchangeOutcome.WRONG] == []
    assert len(found) >= (
        40
        if language.endswith(
            (
                "_street",
                "_market",
                "_harbour",
                "_ferry",
                "_orchard",
                "_tram",
                "_garden",
                "_pantry",
                "_cellar",
                "_attic",
                "_attic2",
                "_quay",
                "_veranda",
                "_balcony",
                "_stairs",
                "_lighthouse",
                "_arcade",
                "_bakery",
                "_ropeway",
                "en_lantern",
                "en_brook",
            )
        )
        else 120
    )
    assert sum(each.outcome in {ExchangeOutcome.RIGHT, ExchangeOutcome.ASKED} for each in found) >= share * len(found)


@pytest.mark.parametrize(
    "language",
    [
        "en",
        "ja",
        "en_callers",
        "ja_callers",
        "en_spoken_of",
        "en_pier",
        "ja_terrace",
        "ja_veranda",
        "ja_balcony",
        "ja_stairs",
    ],
)
def test_no_default_stands_for_what_was_said(language: str) -> None:
    found = judged("unread", language)
    assert [each for each in found if each.outcome is ExchangeOutcome.WRONG] == []
