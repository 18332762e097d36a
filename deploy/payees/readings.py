"""Build rules/payees/surnames_ja.xz and given_ja.xz from japanese-personal-name-dataset (MIT).

    python deploy/payees/readings.py .../japanese_personal_name_dataset/dataset

Surnames keep every reading, most frequent first. Given names keep the forms of one or two kanji (of three for 子-, 美-
and 郎-names) of readings that many forms share: rarer ones come from the customer's own book, which stores kana.
"""

import csv
import lzma
import sys
from pathlib import Path

from services.payees import fold

TARGET = Path(__file__).parents[2] / "rules/payees"
LONG = 3
COMMON = 6
"""Kanji forms that a given name's reading must have to be kept."""


def surnames(folder: Path) -> dict[str, list[str]]:
    """Kanji → readings, by falling population."""
    table: dict[str, list[str]] = {}
    with (folder / "last_name_org.csv").open(encoding="utf-8") as file:
        for kanji, _, kana, _ in csv.reader(file):
            _add(table, kanji, kana)
    return table


def given(folder: Path) -> dict[str, list[str]]:
    """Reading → kanji forms, for the readings that many forms share."""
    table: dict[str, list[str]] = {}
    for name in ("first_name_man_org.csv", "first_name_woman_org.csv"):
        with (folder / name).open(encoding="utf-8") as file:
            for kana, _, *forms in csv.reader(file):
                for form in forms:
                    if fold.has_kanji(form) and len(form) <= (LONG if form[-1] in "子郎美" else LONG - 1):
                        _add(table, kana, form)
    return {fold.japanese(kana): forms for kana, forms in table.items() if len(forms) >= COMMON}


def _add(table: dict[str, list[str]], key: str, value: str) -> None:
    values = table.setdefault(fold.japanese(key) if fold.has_kanji(key) else key, [])
    value = fold.japanese(value)
    if value not in values:
        values.append(value)


def _text(title: str, table: dict[str, list[str]]) -> str:
    head = [
        f"#{title}@1",
        "# Facts from japanese-personal-name-dataset 0.4.0, MIT, (c) 2022 shuheilocale: NOTICE.md",
    ]
    return "\n".join((*head, *(f"{key}\t{' '.join(values)}" for key, values in table.items()))) + "\n"


if __name__ == "__main__":
    source = Path(sys.argv[1])
    for name, table in (("surnames", surnames(source)), ("given", given(source))):
        packed = lzma.compress(_text(f"payees.{name}", table).encode(), preset=9 | lzma.PRESET_EXTREME)
        (TARGET / f"{name}_ja.xz").write_bytes(packed)
