"""Manifests that are tables: CSV, TSV and Parquet. A row is a turn; rows that share `call` are one call."""

import csv
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from itertools import pairwise
from operator import itemgetter
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
_NAMED: Final = ("tags.", "slots.")
_BOOKED: Final = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}
_COLUMNS: Final = frozenset(
    {*_TURN_COLUMNS, *_NAME_COLUMNS, *_CASE_COLUMNS, "id", "call", "turn", "amount_minor", "currency", "booked"}
)


def separated(path: Path) -> Iterator[tuple[str, Raw]]:
    """Where each case of a CSV or TSV is, and what it says; what can't be read under FAULT.

    Spreadsheets separate by `;` where a comma is a decimal point, and may say so: `sep=;` is their first line.
    """
    with path.open(encoding="utf-8-sig", newline="") as file:
        first = file.readline().rstrip("\r\n").strip('"')
        said = first.lower().startswith("sep=")
        mark = "\t" if path.suffix.lower() == ".tsv" else max(",;\t", key=first.count)
        if not said:
            file.seek(0)
        rows = csv.DictReader(file, delimiter=mark, restkey="", strict=mark != "\t")
        rows.fieldnames = [name.strip() for name in rows.fieldnames or ()]
        numbered = ((f"{path.name}:{rows.line_num + said}", row) for row in rows)
        yield from _table(path, f"{path.name}:{1 + said}", rows.fieldnames, numbered)


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
    path: Path, head: str, columns: Sequence[str], rows: Iterable[tuple[str, Mapping[str, str | None]]]
) -> Iterator[tuple[str, Raw]]:
    """The cases of rows in which every cell is text, in the order of `turn` (or of the file)."""
    names = set(columns)
    if formats.is_common_voice(names):
        yield from ((where, formats.common_voice(dict(row), path.parent, where)) for where, row in rows)
        return
    if strange := [n for n in columns if n and n not in _COLUMNS and not n.startswith(_NAMED)]:
        yield path.name, {FAULT: f"{head}: unknown columns {', '.join(map(repr, strange))}"}
    if doubled := [name for name, count in Counter(columns).items() if name and count > 1]:
        yield path.name, {FAULT: f"{head}: columns twice: {', '.join(map(repr, doubled))}"}
    calls: dict[tuple[str, int], list[tuple[int, str, Raw, Raw]]] = {}
    for number, (where, row) in enumerate(rows, 2):
        try:
            if cells := _cells(where, row):
                key = (cells["call"], 0) if "call" in cells else (cells.get("id") or f"row-{number}", number)
                found = _number(where, cells, number), where, _case(cells), _turn(where, cells)
                calls.setdefault(key, []).append(found)
        except MalformedMessage as error:
            yield where, {FAULT: error.message}
    for (name, _), turns in calls.items():
        yield _call(name, sorted(turns, key=itemgetter(0)))


def _call(name: str, turns: list[tuple[int, str, Raw, Raw]]) -> tuple[str, Raw]:
    """Rows of one call, in their order. What one says of the call no other contradicts."""
    _, first, case, _ = turns[0]
    for (before, *_), (number, where, other, _) in pairwise(turns):
        if number == before:
            return where, {FAULT: f"{where}: {name!r} has two turns {number}"}
        if differs := [k for k in _CASE_COLUMNS if k in other and case.setdefault(k, other[k]) != other[k]]:
            return where, {FAULT: f"{where}: {name!r} has another {differs[0]} in its row before"}
    return first, case | {"id": name, "turns": [turn for *_, turn in turns]}


def _cells(where: str, row: Mapping[str, str | None]) -> dict[str, str]:
    if any(row.get("") or ()):
        raise MalformedMessage(f"{where}: a cell beyond the named columns")
    return {k: v for k, v in row.items() if k and v}


def _case(cells: Mapping[str, str]) -> Raw:
    return {k: cells[k] for k in _CASE_COLUMNS if k in cells} | {"tags": _named("tags.", cells)}


def _named(prefix: str, cells: Mapping[str, str]) -> dict[str, str]:
    return {k.removeprefix(prefix): v for k, v in cells.items() if k.startswith(prefix)}


def _number(where: str, cells: Mapping[str, str], row: int) -> int:
    if not (said := cells.get("turn", str(row))).isdecimal():
        raise MalformedMessage(f"{where}: turn is not a whole number")
    return int(said)


def _turn(where: str, cells: Mapping[str, str]) -> Raw:
    turn: Raw = {k: cells[k] for k in _TURN_COLUMNS if k in cells}
    if turn.get("channel", "").isdecimal():
        turn["channel"] = int(turn["channel"])
    expect: Raw = {k: cells[k] for k in _NAME_COLUMNS if k in cells}
    for column in ("intent", "decision", "outcome", "reply", "route"):
        if "|" in expect.get(column, ""):
            expect[column] = expect[column].split("|")
    slots: Raw = dict(_named("slots.", cells))
    booked = _BOOKED.get(cells.get("booked", "no").lower())
    if booked is None or (booked and "amount_minor" not in cells):
        raise MalformedMessage(f"{where}: booked is yes or no, and yes has an amount_minor")
    if "amount_minor" in cells:
        if not cells["amount_minor"].isdecimal() or "currency" not in cells:
            raise MalformedMessage(f"{where}: amount_minor is not a whole number with a currency")
        amount = {"amount_minor": int(cells["amount_minor"]), "currency": cells["currency"]}
        if booked:  # what is booked was said in an earlier turn
            expect["money"] = [amount | {"payee": expect.pop("payee", None)}]
        else:
            slots["amount"] = amount
    if slots:
        expect["slots"] = slots | ({"payee": expect["payee"]} if "payee" in expect else {})
    return turn | ({"expect": expect} if expect else {})
