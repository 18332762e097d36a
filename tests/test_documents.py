"""What documents say of the tree is so: every path that they name is there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
DOCUMENTS = sorted(
    str(path.relative_to(ROOT))
    for path in (*ROOT.glob("*.md"), *ROOT.glob("deploy/**/*.md"), *ROOT.glob("services/**/*.md"))
    if not {"node_modules", ".venv"} & set(path.parts) and path.name != "CHANGELOG.md"
)
NAMED = re.compile(r"`((?:app|services|schemas|rules|deploy|tests)/[\w./-]+)`")
PLACEHOLDER = re.compile(r"NAME|LANGUAGE")
RECIPE = {r"\bid-ID\b": "en-US", r"(?<![a-z])id(?![a-z])": "en"}
"""The newcomer's language is not there; what it is copied from is."""


def there(name: str) -> bool:
    for written, copied in RECIPE.items():
        name = re.sub(written, copied, name)
    return (ROOT / name).exists()


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_path_that_a_document_names_is_there(document: str) -> None:
    named = set(NAMED.findall((ROOT / document).read_text(encoding="utf-8")))
    assert not sorted(name for name in named if not PLACEHOLDER.search(name) and not there(name))


def test_the_map_of_understanding_has_every_module_once() -> None:
    """A newcomer finds each, and none that is gone."""
    room = ROOT / "services/understanding"
    there_are = {str(path.relative_to(room).with_suffix("")) for path in room.rglob("*.py") if path.stem != "__init__"}
    told = (ROOT / "deploy/newcomers.md").read_text(encoding="utf-8").partition("## Find your way in understanding")[2]
    rows = [row.strip("| ").split(" | ") for row in told.partition("| --- | --- | --- |")[2].splitlines() if row]
    named = [f"{folder.strip('`')}/{name}" for folder, _, modules in rows for name in re.findall(r"`(\w+)`", modules)]
    assert sorted(named) == sorted(there_are)
