"""Manifests that are tables: CSV, TSV and Parquet. A row is a turn; rows that share `call` are one call."""

import csv
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import Any, Final

from app.qa.replay.manifests import formats
from schemas.errors import ConfigInvalid, MalformedMessage

Raw = dict[str, Any]
FAULT: Final = "\x00fault"
"""Key of an object that stands for a line that can't be read."""
_TURN_COLUMNS: Final = ("audio", "text", "dtmf", "channel", "encoding", "rate", "start", "end", "after_s")
_NAME_COLUMNS: Final = ("transcript", "intent", "decision", "outcome", "reply", "route", "payee")
_CASE_COLUMNS: Final = ("locale", "customer", "now")
_COLUMNS: Final = frozenset(
    {*_TURN_COLUMNS, *_NAME_COLUMNS, *_CASE_COLUMNS, "id", "call", "turn", "amount_minor", "currency", "booked"}
)


def separated(path: Path) -> Iterator[tuple[str, Raw]]:
    """Where each case of a CSV or TSV is, and what it says; what can't be read under FAULT."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = csv.DictReader(file, dialect="excel-tab" if path.suffix.lower() == ".tsv" else "excel")
        numbered = ((f"{path.name}:{number}", row) for number, row in enumerate(rows, 2))
        yield from _table(path, f"{path.name}:1", rows.fieldnames or (), numbered)


def parquet(path: Path) -> Iterator[tuple[str, Raw]]:
    """As `separated`; a table with columns in columns has a case in a row, with the fields of JSON lines.

    Raises ConfigInvalid where pyarrow, an extra, is not installed; MalformedMessage where this is no Parquet.
    """
    try:
        import pyarrow as pa
        from pyarrow.parquet import ParquetFile
    except ModuleNotFoundError as error:
        raise ConfigInvalid("Parquet needs pyarrow, which `make ray` installs: or write the table as CSV") from error
    try:
        with ParquetFile(path) as file:
            schema = file.schema_arrow
            rows = (row for batch in file.iter_batches(1_000) for row in batch.to_pylist())
            numbered = ((f"{path.name}:{number}", row) for number, row in enumerate(rows, 1))
            if any(pa.types.is_nested(kind) for kind in schema.types):
                yield from ((where, _object(where, row)) for where, row in numbered)
            else:
                texts = ((where, {name: _text(value) for name, value in row.items()}) for where, row in numbered)
                yield from _table(path, path.name, schema.names, texts)
    except pa.ArrowException as error:
        raise MalformedMessage(f"{path.name}: no Parquet: {str(error).splitlines()[0]:.200}") from error


def _object(where: str, row: Raw) -> Raw:
    """A row of nested columns as an object, without what is null."""
    if isinstance(row.get("audio"), dict):
        return {FAULT: f"{where}: the recording lies in the table: write it to a file, and its name in `audio`"}
    found: Raw = _stated(row)
    return found


def _stated(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _stated(part) for name, part in value.items() if part is not None}
    if isinstance(value, list):
        return [_stated(part) for part in value]
    return value.isoformat() if isinstance(value, date) else value


def _text(value: object) -> str | None:
    """A cell as CSV would have it. Whole numbers of a column with gaps come as fractions."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, date):
        return value.isoformat()
    return None if value is None else str(value)


def _table(
    path: Path, head: str, columns: Iterable[str], rows: Iterable[tuple[str, Mapping[str, str | None]]]
) -> Iterator[tuple[str, Raw]]:
    """The cases of rows in which every cell is text, in the order of `turn` (or of the file)."""
    names = set(columns)
    if formats.is_common_voice(names):
        yield from ((where, formats.common_voice(dict(row), path.parent, where)) for where, row in rows)
        return
    if strange := [name for name in columns if name not in _COLUMNS and not name.startswith("tags.")]:
        yield path.name, {FAULT: f"{head}: unknown columns {', '.join(map(repr, strange))}"}
    calls: dict[str, list[tuple[int, str, Raw, Raw]]] = {}
    for number, (where, row) in enumerate(rows, 2):
        cells = {k: v for k, v in row.items() if k and v}
        case: Raw = {k: cells[k] for k in _CASE_COLUMNS if k in cells}
        case["tags"] = {k.removeprefix("tags."): v for k, v in cells.items() if k.startswith("tags.")}
        key = cells.get("call") or cells.get("id") or f"row-{number}"
        turn = int(cells["turn"]) if cells.get("turn", "").isdigit() else number
        try:
            calls.setdefault(key, []).append((turn, where, case, _turn(where, cells)))
        except MalformedMessage as error:
            yield where, {FAULT: error.message}
    for key, turns in calls.items():
        turns.sort(key=lambda turn: turn[0])
        _, where, case, _ = turns[0]
        yield where, case | {"id": key, "turns": [turn[3] for turn in turns]}


def _turn(where: str, cells: Mapping[str, str]) -> Raw:
    turn: Raw = {k: cells[k] for k in _TURN_COLUMNS if k in cells}
    if turn.get("channel", "").isdigit():
        turn["channel"] = int(turn["channel"])
    expect: Raw = {k: cells[k] for k in _NAME_COLUMNS if k in cells}
    for column in ("intent", "decision", "outcome", "reply", "route"):
        if "|" in expect.get(column, ""):
            expect[column] = expect[column].split("|")
    if "amount_minor" in cells:
        if not cells["amount_minor"].isdigit():
            raise MalformedMessage(f"{where}: amount_minor is not a whole number")
        amount = {"amount_minor": int(cells["amount_minor"]), "currency": cells.get("currency")}
        expect["slots"] = {"amount": amount}
        if cells.get("booked", "").lower() in {"yes", "true", "1"}:
            expect["money"] = [amount | {"payee": cells.get("payee")}]
    return turn | ({"expect": expect} if expect else {})
