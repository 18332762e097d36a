"""Manifests in Parquet say what the same ones say as CSV and as JSON lines; pyarrow comes with Ray."""

import json
from pathlib import Path

import pytest

pa = pytest.importorskip("pyarrow", reason="pyarrow comes with Ray: `make test-ray`")

from pyarrow import csv, parquet  # noqa: E402 - after it is known to be there

from app.qa.replay.manifests.readers import load, read  # noqa: E402
from schemas.errors import MalformedMessage  # noqa: E402

ROWS = """call,turn,text,intent,amount_minor,currency,booked,payee,locale,tags.kind
one,2,yes,confirm|affirm,,,,,en-US,young
one,1,send fifty dollars to dave,transfer_money,5000,USD,yes,david-oconnor,en-US,young
two,1,残高を教えて,balance_inquiry,,,,,ja-JP,
"""
CASES = [
    {
        "id": "one",
        "locale": "en-US",
        "turns": [{"text": "send fifty", "expect": {"intent": ["transfer_money"]}}],
        "tags": {"a": "c"},
    },
    {"id": "two", "locale": "ja-JP", "turns": [{"text": "残高", "after_s": 2.5}, {"text": "はい"}], "tags": {"a": "b"}},
]


def test_flat_columns_are_those_of_csv(tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_text(ROWS, encoding="utf-8")
    parquet.write_table(csv.read_csv(tmp_path / "m.csv"), tmp_path / "m.parquet")
    table = parquet.read_table(tmp_path / "m.parquet")
    assert {str(table.schema.field(name).type) for name in ("turn", "amount_minor")} == {"int64"}
    assert load(tmp_path / "m.parquet").cases == load(tmp_path / "m.csv").cases
    floats = table.set_column(4, "amount_minor", table["amount_minor"].cast("double"))  # as pandas leaves gaps
    parquet.write_table(floats, tmp_path / "f.parquet")
    assert load(tmp_path / "f.parquet").cases == load(tmp_path / "m.csv").cases


def test_nested_columns_are_the_fields_of_json_lines(tmp_path: Path) -> None:
    (tmp_path / "m.jsonl").write_text("\n".join(map(json.dumps, CASES)))
    parquet.write_table(pa.Table.from_pylist(CASES), tmp_path / "m.parquet")
    assert load(tmp_path / "m.parquet").cases == load(tmp_path / "m.jsonl").cases


def test_what_is_wrong_is_told(tmp_path: Path) -> None:
    path = tmp_path / "m.parquet"
    parquet.write_table(pa.table({"id": ["a"], "text": ["hello"], "mood": ["good"], "locale": ["en-US"]}), path)
    with pytest.raises(MalformedMessage, match=r"m\.parquet: unknown columns 'mood'"):
        load(path)
    parquet.write_table(pa.table({"id": ["a"], "audio": [{"bytes": b"RIFF", "path": "a.wav"}]}), path)
    assert "the recording lies in the table" in read(path)[1][0]
    path.write_bytes(b"PAR1 and nothing more")
    with pytest.raises(MalformedMessage, match="no Parquet"):
        load(path)
