"""A language nobody wrote code for: Indonesian, as data alone."""

import shutil
from pathlib import Path

import pytest

import rules.load
from rules.load import ROOT
from schemas.ids import Locale
from schemas.span import MoneyValue
from services.normalize import Normalizer

FILES = {
    "locales/id-ID.yaml": "{id: locale.id-ID, version: 1, language: id, name: Bahasa Indonesia, currency: IDR}",
    "normalize/locales/id-ID.yaml": (
        "{id: normalize.id-ID, version: 1, date_order: dmy, exponent: 2, likely_hours: [7, 18]}"
    ),
    "normalize/id/style.yaml": (
        "{id: normalize.id.style, version: 1, spaced: true, pairs: false, positional: false, joins_digits: true,"
        " title_before: true, next_weekday: coming, dates: named}"
    ),
    "normalize/id/numbers.yaml": (
        "{id: normalize.id.numbers, version: 1,"
        " value: {satu: 1, dua: 2, tiga: 3, empat: 4, lima: 5, enam: 6, tujuh: 7, delapan: 8, sembilan: 9},"
        " scale: {puluh: {value: 10, most: 9, big: false}, ratus: {value: 100, most: 9, big: false},"
        " seratus: {value: 100, most: 1, big: false, bare: true}, ribu: {value: 1000, most: 9999, big: true},"
        " juta: {value: 1000000, most: 9999, big: true}}}"
    ),
    "normalize/id/money.yaml": "{id: normalize.id.money, version: 1, currency: {rupiah: {codes: [IDR]}}}",
    "normalize/id/digits.yaml": (
        "{id: normalize.id.digits, version: 1, digit: {nol: '0', satu: '1', dua: '2', tiga: '3'}}"
    ),
    "normalize/id/dates.yaml": "{id: normalize.id.dates, version: 1, month: {maret: 3}, day: {besok: 1}}",
    "normalize/id/times.yaml": "{id: normalize.id.times, version: 1}",
    "normalize/id/context.yaml": "{id: normalize.id.context, version: 1}",
}


@pytest.fixture
def indonesian(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Normalizer:
    root = tmp_path / "rules"
    shutil.copytree(ROOT / "locales", root / "locales")
    for path, text in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
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
