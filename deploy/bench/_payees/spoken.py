"""Names that people said over a telephone, as a recogniser heard them, and the book that they are sought in.

One JSON object a line: `{"nbest": [...], "target": ID}` in the one file, `{"id": ID, "name": ...}` in the other. Names
of EVI (PolyAI-LDN/evi-paper) are easily written so.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final
from zlib import crc32

import orjson

from deploy.bench._payees.sample import PayeeNaming, Setting
from deploy.bench._payees.stock import HALVES, Person

_CARRIER: Final = "send twenty pounds to {}"


def spoken(names: Path, book: Path, half: str) -> Setting:
    """The names of one half, or of both (`all`), in the whole book; whoever is named is in one half only.

    A name is said alone, or in a command. Raises KeyError for a target that is not in the book.
    """
    rows = list(_rows(book))
    places = {str(row["id"]): place for place, row in enumerate(rows)}
    persons = tuple(Person("en", "spoken", tuple(str(row["name"]).lower().split())) for row in rows)
    said = [row for row in _rows(names) if half not in HALVES or HALVES[crc32(row["target"].encode()) % 2] == half]
    return Setting(persons, tuple(_call(row["nbest"], places[row["target"]]) for row in said))


def _call(nbest: list[str], meant: int) -> PayeeNaming:
    return PayeeNaming("en", meant, tuple(nbest), tuple(_CARRIER.format(name) for name in nbest))


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_bytes().splitlines():
        yield orjson.loads(line)
