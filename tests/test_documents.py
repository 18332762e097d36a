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
