"""All rules, entry by entry, as they are written: what two runs are held to of rules that no turn uses."""

import hashlib
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

from pydantic import JsonValue

from app.qa.replay.provenance import HASH
from app.qa.replay.records.journal import RuleEntries
from rules.load import as_written, load_table, read, rule_files

_APART: Final = ("qa/", "payees/NOTICE.md")
"""What judges calls, and what is said of where tables come from, decides none."""
_NAMES: Final = ("id", "name")
"""What the members of a list are told apart by."""
ORDER: Final = "#order"
"""Behind the place of a list whose members have names: in which order they stand."""
_HEAD: Final = frozenset({"id", "version"})


@lru_cache(maxsize=1)
def rule_entries() -> RuleEntries:
    """What each rule says, by its file's id and its place there; of packed tables a hash. Raises RulesInvalid."""
    found: dict[str, list[JsonValue]] = {}
    for path in rule_files():
        if not path.startswith(_APART):
            for entry, leaf in _entries(path):
                found.setdefault(entry, []).append(leaf)
    return {entry: tuple(leaves) for entry, leaves in found.items()}


def _entries(path: str) -> Iterator[tuple[str, JsonValue]]:
    if path.endswith((".yaml", ".json")):
        body = as_written(path)
        rest = {name: value for name, value in body.items() if name not in _HEAD}
        yield from _below(f"{body.get('id', _dotted(path))}:", rest)
    elif path.endswith(".tsv"):
        rule, rows = load_table(path)
        for row in rows:
            words = [word for cell in row for word in cell.split()]
            yield from ((f"{rule.partition('@')[0]}:{words[0]}", word) for word in words)
    else:
        yield _dotted(path), hashlib.sha256(read(path)).hexdigest()[:HASH]


def _dotted(path: str) -> str:
    return path.rpartition(".")[0].replace("/", ".")


def _below(place: str, value: Any) -> Iterator[tuple[str, JsonValue]]:
    """The leaves below a place; members of a list are one entry, but for those that have a name."""
    if isinstance(value, dict) and value:
        for name, part in value.items():
            yield from _below(f"{place}{'' if place.endswith(':') else '.'}{name}", part)
    elif isinstance(value, list) and value:
        for member in value:
            name = next((member[key] for key in _NAMES if key in member), None) if isinstance(member, dict) else None
            yield from _below(place if name is None else f"{place}.{name}", member)
            if name is not None:
                yield f"{place}{ORDER}", str(name)
    else:
        yield place, value if isinstance(value, (str, int, float, bool, type(None))) else str(value)
