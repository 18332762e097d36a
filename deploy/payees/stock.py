"""Build deploy/bench/_payees/names.tsv.xz: names of many cultures in two disjoint halves.

    python deploy/payees/stock.py .../japanese_personal_name_dataset/dataset      (needs Faker)

Facts from Faker 40 (MIT, (c) 2012 Daniele Faraglia) and japanese-personal-name-dataset 0.4.0 (MIT, (c) 2022
shuheilocale).
"""

import csv
import lzma
import sys
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from faker import Faker

from services.payees import fold

TARGET = Path(__file__).parents[2] / "deploy/bench/_payees/names.tsv.xz"
MORE = Path(__file__).with_name("more_names.tsv")
HALVES = ("development", "acceptance")
CULTURES = (
    *("en_US", "en_GB", "en_IN", "en_PK", "en_KE", "ga_IE", "es_MX", "fr_FR", "de_DE", "it_IT", "pl_PL"),
    *("pt_BR", "nl_NL", "sv_SE", "tr_TR", "cs_CZ", "hr_HR", "id_ID", "fi_FI"),
)
EACH = 130
DRAWS = 3000
READABLE = range(2, 13)


def latin(culture: str) -> tuple[list[str], list[str]]:
    """Given and family names of a culture, folded; drawn as often as Faker thinks they occur."""
    fake = Faker(culture)
    fake.seed_instance(1)
    return _clean([fake.first_name() for _ in range(DRAWS)]), _clean([fake.last_name() for _ in range(DRAWS)])


def _clean(names: Iterable[str]) -> list[str]:
    folded = ("".join(fold.words(name)) for name in names)
    return list(dict.fromkeys(n for n in folded if n.isascii() and n.isalpha() and len(n) in READABLE))


def japanese(folder: Path) -> tuple[list[str], list[str]]:
    """Given and family names as kanji/kana."""
    given: list[str] = []
    for name in ("first_name_man_opti.csv", "first_name_woman_opti.csv"):
        with (folder / name).open(encoding="utf-8") as file:
            given.extend(f"{form}/{fold.japanese(kana)}" for kana, _, *forms in csv.reader(file) for form in forms[:2])
    with (folder / "last_name_org.csv").open(encoding="utf-8") as file:
        family = [f"{kanji}/{fold.japanese(kana)}" for kanji, _, kana, _ in csv.reader(file)]
    return list(dict.fromkeys(given)), list(dict.fromkeys(family))[:900]


def main(folder: Path) -> None:
    """Write both halves."""
    random = np.random.default_rng(20)
    rows = ["#bench.payees.names@1", "# half, culture, part of the name, names"]
    for culture in (*CULTURES, "ja_JP"):
        lists = japanese(folder) if culture == "ja_JP" else latin(culture)
        for part, names in zip(("given", "family"), lists, strict=True):
            kept = [names[n] for n in random.permutation(len(names))[: 700 if culture == "ja_JP" else 2 * EACH]]
            rows += [f"{half}\t{culture}\t{part}\t{' '.join(sorted(kept[n::2]))}" for n, half in enumerate(HALVES)]
    for line in MORE.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            culture, part, told = line.split("\t")
            some = told.split()
            rows += [f"{half}\t{culture}\t{part}\t{' '.join(some[n::2])}" for n, half in enumerate(HALVES)]
    TARGET.write_bytes(lzma.compress(("\n".join(rows) + "\n").encode(), preset=9 | lzma.PRESET_EXTREME))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
