"""A language nobody wrote code for: Indonesian, as data alone."""

import shutil
from pathlib import Path

import pytest

import rules.load
from rules.load import ROOT
from schemas.ids import Locale
from schemas.span import MoneyValue
from services.normalization import Normalizer

WRITTEN = ROOT.parent / "tests/data/recipes/language"


@pytest.fixture
def indonesian(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Normalizer:
    root = tmp_path / "rules"
    shutil.copytree(ROOT / "locales", root / "locales")
    for folder in ("locales", "normalize"):
        shutil.copytree(WRITTEN / folder, root / folder, dirs_exist_ok=True)
    monkeypatch.setattr(rules.load, "ROOT", root)
    return Normalizer(Locale("id-ID"))


@pytest.mark.parametrize(
    ("text", "rupiah"),
    [
        ("kirim lima ratus ribu rupiah ke budi", 500_000),
        ("dua puluh lima ribu rupiah", 25_000),
        ("satu juta dua ratus lima puluh ribu rupiah", 1_250_000),
        ("seratus tiga puluh rupiah", 130),
    ],
)
def test_amounts(indonesian: Normalizer, text: str, rupiah: int) -> None:
    (span,) = indonesian.normalize(text)
    assert span.value == MoneyValue(100 * rupiah, "IDR")
    assert span.rule == "normalize.id.money.major@1"


def test_digits_and_rule_names(indonesian: Normalizer) -> None:
    (span,) = indonesian.normalize("nol dua satu tiga")
    assert (span.value, span.rule) == ("0213", "normalize.id.digits.spoken@1")
