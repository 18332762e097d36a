"""Sentences and all that is found in them: tests/data/normalize-rules, one sentence a line with what it must give.

Written `kind[surface]=value`, then `~ambiguity` and the further readings where there are some; said on 4 March 2026.
"""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from schemas.span import SpanValue, jsonable
from services.normalization import Normalizer

FOLDER = Path(__file__).parents[2] / "data" / "normalize-rules"
NOW = datetime(2026, 3, 4, 12, tzinfo=UTC)


def plain(value: SpanValue) -> str:
    written = jsonable(value)
    if not isinstance(written, dict):
        return str(written)
    if "currency" in written:
        return f"{written['amount_minor']} {written['currency']}"
    return f"{written['start']}..{written['end']}"


def told(locale: str, text: str) -> str:
    """Everything found in a text, on one line."""
    found = []
    for span in Normalizer.for_locale(locale).normalize(text, now=NOW):
        doubt = f" ~{span.ambiguity} {'|'.join(plain(r.value) for r in span.readings)}" if span.ambiguity else ""
        found.append(f"{span.kind}[{span.surface}]={plain(span.value)}{doubt}".strip())
    return "; ".join(found)


def sentences() -> list[tuple[str, str, str]]:
    rows = []
    for file in sorted(FOLDER.glob("*.tsv")):
        for line in file.read_text(encoding="utf-8").splitlines()[1:]:
            text, _, expected = line.partition("\t")
            rows.append((file.stem, text, expected))
    return rows


@pytest.mark.parametrize(("locale", "text", "expected"), sentences())
def test_sentence(locale: str, text: str, expected: str) -> None:
    assert told(locale, text) == expected
