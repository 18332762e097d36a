"""What code knows a rule by is the name of one: a rule that is renamed would leave its reader without a word."""

import re
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[3]
ROOMS = ("services/understanding", "services/interpretation")
READS_RULES = re.compile(r"\bis_rule\(|\.by\(\"|\.by\(\*?_[A-Z]")
NAME = re.compile(r"\"([a-z_]+\.[a-z_]+)\"")
IN_CODE = re.compile(r"\"(dates\.[a-z_]+)\"|cues\.rule\(\"([a-z_]+)\"\)")


def texts(folder: str) -> list[str]:
    return [path.read_text(encoding="utf-8") for path in (ROOT / folder).rglob("*.py")]


def rules() -> set[str]:
    """The rules of sentences, without their languages, and those that code makes."""
    files = (
        yaml.load(path.read_text(encoding="utf-8"), yaml.CSafeLoader)
        for path in (ROOT / "rules/intents").rglob("*.yaml")
    )
    made = {f"{file['id'].split('.')[-1]}.{each['id']}" for file in files for each in file.get("templates", ())}
    for text in texts("services/normalization") + texts("services/understanding"):
        made |= {date or f"cue_phrases.{cue}" for date, cue in IN_CODE.findall(text)}
    return made | {"intents.told"}


def test_every_name_is_a_rules() -> None:
    known_by = {
        name for room in ROOMS for text in texts(room) if READS_RULES.search(text) for name in NAME.findall(text)
    }
    assert len(known_by) > 20
    assert known_by <= rules()
