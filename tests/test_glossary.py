"""The words of the house: each is one thing, and the type that bears it exists."""

import ast
import re
from collections import defaultdict
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).parent.parent
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


def test_no_two_classes_share_a_name() -> None:
    """But for the protocols' own messages, which are called as their protocols call them."""
    places: dict[str, list[str]] = defaultdict(list)
    for room in ("app", "schemas", "services"):
        for path in sorted((ROOT / room).rglob("*.py")):
            where = str(path.relative_to(ROOT))
            classes = [] if where.startswith("schemas/wire/") else ast.parse(path.read_text(encoding="utf-8")).body
            for node in classes:
                if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                    places[node.name].append(where)
    assert len(places) > 500, "the classes were not found"
    assert not {name: where for name, where in places.items() if len(where) > 1}
