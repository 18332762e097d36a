"""Nothing said about money is ignored: corrections within one breath count, and what no rule reads is asked about."""

from pathlib import Path

import pytest

from deploy.bench.cases.exchanges import (
    ExchangeOutcome,
    JudgedExchange,
    exchange_files,
    exchanges,
    judge,
    least,
    name_of,
)
from deploy.bench.cases.player import ConversationPlayer

DATA = Path(__file__).parents[2] / "data"
CORRECTIONS = exchange_files(DATA / "corrections")
UNREAD = exchange_files(DATA / "unread")
EACH = 3
"""Of so many exchanges one is had here, and all in long runs and by `tellerline bench exchanges`."""
SAMPLED = 0.06
"""By so much less may come out right of those."""


def judged(path: Path, each: int) -> list[JudgedExchange]:
    customer, lines = exchanges(path)
    player = ConversationPlayer.of(customer)
    return [judge(player, line) for line in lines[::each]]


def corrections_count(path: Path, each: int, allowed: float = 0.0) -> None:
    found = judged(path, each)
    assert [one for one in found if one.outcome is ExchangeOutcome.WRONG] == []
    well = sum(one.outcome in {ExchangeOutcome.RIGHT, ExchangeOutcome.ASKED} for one in found)
    assert well >= (least(path) - allowed) * len(found)


def test_there_are_enough_of_them() -> None:
    sizes = {name_of(path): len(exchanges(path)[1]) for path in CORRECTIONS}
    assert min(sizes.values()) >= 35
    assert sum(sizes.values()) >= 2_850
    assert all(least(path) >= 0.75 for path in CORRECTIONS)


@pytest.mark.parametrize("path", CORRECTIONS, ids=name_of)
def test_corrections_count(path: Path) -> None:
    corrections_count(path, EACH, SAMPLED)


@pytest.mark.slow
@pytest.mark.parametrize("path", CORRECTIONS, ids=name_of)
def test_all_corrections_count(path: Path) -> None:
    corrections_count(path, 1)


@pytest.mark.parametrize("path", UNREAD, ids=name_of)
def test_no_default_stands_for_what_was_said(path: Path) -> None:
    assert [one for one in judged(path, 1) if one.outcome is ExchangeOutcome.WRONG] == []
