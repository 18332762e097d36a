"""What code knows a rule by is the name of one: a rule that is renamed would leave its reader without a word."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[3]
KNOWN_BY = re.compile(r'"\.([a-z_]+)@"?')
IN_RULES = re.compile(r"\bid: (?:[a-z]+\.)*([a-z_]+)\b|^ +([a-z_]+):", re.MULTILINE)
IN_CODE = re.compile(r"\"(?:dates\.)?([a-z_]+)\"")


def names(pattern: re.Pattern[str], folder: str, kind: str) -> set[str]:
    texts = (path.read_text(encoding="utf-8") for path in (ROOT / folder).rglob(f"*.{kind}"))
    return {name for text in texts for found in pattern.finditer(text) for name in found.groups() if name}


def test_every_name_is_a_rules() -> None:
    known_by = names(KNOWN_BY, "services", "py")
    assert len(known_by) > 20
    assert known_by <= names(IN_RULES, "rules", "yaml") | names(IN_CODE, "services", "py")
