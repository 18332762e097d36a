"""English callers of many kinds: whole requests and parts, answers, changes of mind, bills, chains, manners."""

import zlib

import pytest

from tests.harness.callers import Book, Line

FURTHER = {
    "bills": (0.94, 0.88),
    "again": (0.93, 0.86),
    "kinds": (0.91, 0.91),
    "voices": (0.95, 0.68),
    "more": (0.84, 0.86),
    "strangers": (0.94, 0.84),
    "passers": (0.94, 0.62),
    "library": (0.7, 0.48),
    "garden": (0.65, 0.48),
    "porch": (0.7, 0.6),
}
"""Further sentences to the same book: what must come out right of those the grammar was mended by, and of the rest."""
TUNED = "transfer_tuned"


def unread(line: Line) -> bool:
    """Whether the sentence is one of the third that the grammar is mended without."""
    return line.group != TUNED and zlib.crc32(f"{line.before}{line.text}".encode()) % 3 == 0


@pytest.fixture(scope="module")
def came() -> list[tuple[Line, bool, str]]:
    book = Book("en")
    return [(line, *book.came_out(line)) for line in book.lines]


@pytest.mark.parametrize(("kept_apart", "least"), [(False, 0.93), (True, 0.86)])
def test_callers_of_many_kinds_get_where_they_want(
    came: list[tuple[Line, bool, str]], kept_apart: bool, least: float
) -> None:
    mine = [(line, right) for line, right, _ in came if unread(line) == kept_apart]
    assert len(mine) >= 140
    wrong = [line.text for line, right in mine if not right]
    assert len(wrong) <= (1 - least) * len(mine), wrong if not kept_apart else len(wrong)


@pytest.mark.parametrize("group", ["never", "agreed", "waiting", "what_change"])
def test_these_come_out_right_without_exception(came: list[tuple[Line, bool, str]], group: str) -> None:
    assert [line.text for line, right, _ in came if line.group == group and not right] == []


@pytest.fixture(scope="module")
def more() -> dict[str, list[tuple[Line, bool]]]:
    book = Book("en", *(f"en_{name}" for name in FURTHER))
    return {name: [(line, book.came_out(line)[0]) for line in lines] for name, lines in book.further.items()}


@pytest.mark.parametrize("name", FURTHER)
@pytest.mark.parametrize("kept_apart", [False, True])
def test_further_callers_get_where_they_want(
    more: dict[str, list[tuple[Line, bool]]], name: str, kept_apart: bool
) -> None:
    mine = [(line, right) for line, right in more[name] if unread(line) == kept_apart]
    wrong = [line.text for line, right in mine if not right]
    assert len(wrong) <= (1 - FURTHER[name][kept_apart]) * len(mine), len(wrong) if kept_apart else wrong


def test_what_is_no_command_is_never_read_back(more: dict[str, list[tuple[Line, bool]]]) -> None:
    never = [(line, right) for lines in more.values() for line, right in lines if line.group.endswith("_never")]
    assert len(never) >= 195
    assert [line.text for line, right in never if not right] == []
