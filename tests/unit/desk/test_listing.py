"""Which recorded turns are listed: filters, pages, samples."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from app.qa.desk.reviews import ReviewState
from app.qa.desk.turns import Filters, ListedTurn, page, sample
from schemas.errors import BadInput

NOON = datetime(2026, 3, 4, 12, 0, tzinfo=UTC)
ONE = ListedTurn(
    "c", 1, NOON, "en-US", "balance_inquiry", "execute", None, 0.9, None, False, False, ReviewState.MACHINE, None
)
MANY = [replace(ONE, call=f"c{n % 7}", turn=n, at=NOON + timedelta(seconds=n // 3)) for n in range(1, 51)]


@pytest.mark.parametrize(
    ("wanted", "other"),
    [
        ({"intent": "balance_inquiry"}, {"intent": "card_lock"}),
        ({"decision": "refuse"}, {"decision": "execute"}),
        ({"decision": "refuse"}, {"outcome": "confirm"}),
        ({"state": ReviewState.DISPUTED}, {"state": ReviewState.MACHINE}),
        ({"locale": "ja-JP"}, {"locale": "en-US"}),
        ({"money": True}, {"money": False}),
    ],
)
def test_filters_by_value(wanted: dict[str, Any], other: dict[str, Any]) -> None:
    filters = Filters(**wanted)
    assert filters.fit(replace(ONE, **wanted))
    assert not filters.fit(replace(ONE, **other))


@pytest.mark.parametrize(
    ("filters", "fits", "does_not"),
    [
        (Filters(decision="refuse"), {"decision": "confirm", "outcome": "refuse"}, {"decision": "confirm"}),
        (Filters(handoff=True), {"outcome": "handoff"}, {}),
        (Filters(handoff=False), {}, {"decision": "handoff"}),
        (Filters(error=True), {"error": "bank_unavailable"}, {}),
        (Filters(below=0.5), {"confidence": 0.4}, {"confidence": 0.5}),
        (Filters(since=NOON), {}, {"at": NOON - timedelta(seconds=1)}),
        (Filters(until=NOON), {"at": NOON - timedelta(seconds=1)}, {}),
        (Filters(to_review_by="ann"), {}, {"withheld": True}),
        (Filters(to_review_by="ann"), {"state": ReviewState.DISPUTED, "first": "ann"}, {"state": ReviewState.SETTLED}),
        (
            Filters(to_review_by="ann"),
            {"state": ReviewState.REVIEWED, "first": "bob"},
            {"state": ReviewState.REVIEWED, "first": "ann"},
        ),
    ],
)
def test_filters(filters: Filters, fits: dict[str, Any], does_not: dict[str, Any]) -> None:
    assert filters.fit(replace(ONE, **fits))
    assert not filters.fit(replace(ONE, **does_not))


def test_pages_are_all_of_it_once_newest_first() -> None:
    seen: list[ListedTurn] = []
    after = None
    while True:
        found = page(MANY, Filters(), 7, after)
        assert found.total == 50
        seen += found.turns
        after = found.after
        if after is None:
            break
        assert len(found.turns) == 7
    assert seen == sorted(MANY, key=lambda turn: turn.place, reverse=True)


def test_a_page_goes_on_where_its_last_turn_was_erased() -> None:
    first = page(MANY, Filters(), 10, None)
    left = [turn for turn in MANY if turn not in first.turns]
    assert page(left, Filters(), 10, first.after).turns == page(MANY, Filters(), 20, None).turns[10:]


@pytest.mark.parametrize("after", ["", "x", "1~c", "1~c~x", "-1~c~1", "1~c~1~2"])
def test_places_that_no_page_named(after: str) -> None:
    with pytest.raises(BadInput):
        page(MANY, Filters(), 10, after)


def test_a_sample_is_the_same_for_the_same_seed() -> None:
    drawn = sample(MANY, Filters(), 10, "week 9")
    assert drawn == sample(list(reversed(MANY)), Filters(), 10, "week 9")
    assert (len(drawn.turns), drawn.total, drawn.after) == (10, 50, None)
    assert set(drawn.turns) != set(sample(MANY, Filters(), 10, "week 10").turns)


def test_a_turn_that_goes_takes_no_other_ones_place_in_a_sample() -> None:
    drawn = sample(MANY, Filters(), 10, "s")
    left = sample([turn for turn in MANY if turn != drawn.turns[0]], Filters(), 10, "s")
    assert len(set(left.turns) & set(drawn.turns)) == 9


def test_every_turn_is_as_likely_to_be_drawn() -> None:
    counts = dict.fromkeys(MANY, 0)
    for seed in range(400):
        for turn in sample(MANY, Filters(), 10, str(seed)).turns:
            counts[turn] += 1
    assert min(counts.values()) > 45  # 80 are expected of each
    assert max(counts.values()) < 120
