"""Manifests that are tables: CSV, TSV and Parquet. A row is a turn; rows that share `call` are one call."""

import csv
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from itertools import pairwise
from operator import itemgetter
from pathlib import Path
from typing import Any, Final

from app.meant import meant
from app.qa.replay.manifests import formats
from app.qa.replay.manifests.formats import FAULT
from schemas.errors import ConfigInvalid, MalformedMessage

Raw = dict[str, Any]
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

    Spreadsheets separate by `;` where a comma is a decimal point, and may say so: `sep=;` is their first line. In a
    TSV a line is a row: quotation marks are the caller's, but around a whole cell.
    """
    with path.open(encoding="utf-8-sig", newline="") as file:
        first = file.readline().rstrip("\r\n").strip('"')
        said = first.lower().startswith("sep=")
        mark = "\t" if path.suffix.lower() == ".tsv" else max(",;\t", key=first.count)
        if not said:
            file.seek(0)
        tabbed = path.suffix.lower() == ".tsv"
        plain: Any = {"quoting": csv.QUOTE_NONE} if tabbed else {}
        rows = csv.DictReader(file, delimiter=mark, restkey="", strict=mark != "\t", **plain)
        rows.fieldnames = [(_unquoted(name) if tabbed else name).strip() for name in rows.fieldnames or ()]
        numbered = (
            (f"{path.name}:{rows.line_num + said}", {k: _unquoted(v) for k, v in row.items()} if tabbed else row)
            for row in rows
        )
        yield from _table(path, f"{path.name}:{1 + said}", rows.fieldnames, numbered)


def _unquoted(cell: Any) -> Any:
    """A cell without the marks that a spreadsheet puts around it."""
    whole = isinstance(cell, str) and len(cell) > 1 and cell[0] == cell[-1] == '"'
    return cell[1:-1].replace('""', '"') if whole and '"' not in cell[1:-1].replace('""', "") else cell


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
        yield from _common_voice(path, head, columns, rows)
        return
    if strange := [n for n in columns if n and n not in _COLUMNS and not n.startswith(_NAMED)]:
        near = [(n, meant(n.lower(), _COLUMNS)) for n in strange]
        hints = "; ".join(f"for {n!r}, did you mean {like!r}?" for n, like in near if like)
        told = f"{head}: unknown columns {', '.join(map(repr, strange))}"
        yield path.name, {FAULT: f"{told}: {hints}" if hints else told}
        if not names & {"audio", "text", "dtmf"}:
            return  # a row of nothing is no fault of its own
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


def _common_voice(
    path: Path, head: str, columns: Sequence[str], rows: Iterable[tuple[str, Mapping[str, str | None]]]
) -> Iterator[tuple[str, Raw]]:
    labels = _COLUMNS - {"locale", "id"}
    if ours := [name for name in columns if name in labels or name.startswith(_NAMED)]:
        yield path.name, {FAULT: f"{head}: beside `path` and `sentence` nobody reads {', '.join(map(repr, ours))}"}
    for where, row in rows:
        try:
            _cells(where, row)
            yield where, formats.common_voice(dict(row), path.parent, where)
        except MalformedMessage as error:
            yield where, {FAULT: error.message}


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
    return {k: cell for k, v in row.items() if k and v and (cell := v.strip())}


def _case(cells: Mapping[str, str]) -> Raw:
    return {k: cells[k] for k in _CASE_COLUMNS if k in cells} | {"tags": _named("tags.", cells)}


def _named(prefix: str, cells: Mapping[str, str]) -> dict[str, str]:
    return {k.removeprefix(prefix): v for k, v in cells.items() if k.startswith(prefix)}


def _number(where: str, cells: Mapping[str, str], row: int) -> int:
    said = cells.get("turn", str(row))
    whole, _, rest = said.partition(".")  # spreadsheets write 1 as 1.0
    if not whole.isdecimal() or rest.strip("0"):
        raise MalformedMessage(f"{where}: turn is not a whole number: {said!r:.40}")
    return int(whole)


def _turn(where: str, cells: Mapping[str, str]) -> Raw:
    turn: Raw = {k: cells[k] for k in _TURN_COLUMNS if k in cells}
    if turn.get("channel", "").isdecimal():
        turn["channel"] = int(turn["channel"])
    expect: Raw = {k: cells[k] for k in _NAME_COLUMNS if k in cells}
    for column in ("intent", "decision", "outcome", "reply", "route"):
        if "|" in expect.get(column, ""):
            expect[column] = [name.strip() for name in expect[column].split("|") if name.strip()]
    slots: Raw = dict(_named("slots.", cells))
    if slots.get("choice", "").isdecimal():
        slots["choice"] = int(slots["choice"])
    amount, booked = _amount(where, cells)
    if amount and booked:  # what is booked was said in an earlier turn
        expect["money"] = [amount | {"payee": expect.pop("payee", None)}]
    elif amount:
        slots["amount"] = amount
    if slots:
        expect["slots"] = slots | ({"payee": expect["payee"]} if "payee" in expect else {})
    return turn | ({"expect": expect} if expect else {})


def _amount(where: str, cells: Mapping[str, str]) -> tuple[Raw, bool]:
    """The sum that a row names, and whether it is booked. Raises MalformedMessage."""
    booked = _BOOKED.get(cells.get("booked", "no").lower())
    if booked is None or (booked and "amount_minor" not in cells):
        raise MalformedMessage(f"{where}: booked is yes or no, and yes has an amount_minor")
    if "amount_minor" not in cells:
        if "currency" in cells:
            raise MalformedMessage(f"{where}: a currency without an amount_minor")
        return {}, booked
    if not cells["amount_minor"].isdecimal() or "currency" not in cells:
        raise MalformedMessage(f"{where}: amount_minor is not a whole number with a currency")
    return {"amount_minor": int(cells["amount_minor"]), "currency": cells["currency"]}, booked
