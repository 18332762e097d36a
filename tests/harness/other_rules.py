"""Rules that read something else than ours."""

import shutil
from pathlib import Path

import rules


def other_rules(folder: Path) -> Path:
    """A copy, in a folder of that one, in which a hundred is a hundred and ten."""
    copied = folder / "rules"
    shutil.copytree(Path(rules.__file__).parent, copied)
    numbers = copied / "normalize/en/numbers.yaml"
    numbers.write_text(numbers.read_text().replace("hundred: {value: 100,", "hundred: {value: 110,", 1))
    return copied
