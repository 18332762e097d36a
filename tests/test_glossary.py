"""The words of the house: each is one thing, and the type that bears it exists."""

import re
from importlib import import_module

from tests.harness.tree import ROOT

ROWS = re.findall(
    r"^\| ([a-z -]+) \| `([\w.]+)\.(\w+)` \| (.+) \|$",
    (ROOT / "deploy/glossary.md").read_text(encoding="utf-8"),
    re.MULTILINE,
)


def test_every_word_names_a_type_that_exists() -> None:
    missing = [word for word, module, name, _ in ROWS if not hasattr(import_module(module), name)]
    assert not missing


def test_a_word_is_one_thing_and_there_are_few() -> None:
    assert 30 <= len(ROWS) <= 40
    for column in (0, 2, 3):
        assert len({row[column] for row in ROWS}) == len(ROWS)


def test_a_type_is_called_by_its_word() -> None:
    odd = [(word, name) for word, _, name, _ in ROWS if re.sub(r"[ -]", "", word) not in name.lower()]
    assert not odd
