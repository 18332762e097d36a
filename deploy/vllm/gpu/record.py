"""What a GPU session knows: its servers, what is left of its time, and its tables, written down with every row."""

from __future__ import annotations

import json
import math
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Row = dict[str, Any]


@dataclass
class GpuSession:
    """`until` is on the monotonic clock; `quick` sends few requests; `pids` are the servers' process groups."""

    out: Path
    urls: dict[str, str]
    until: float
    quick: bool = False
    tokenizer: Path | None = None
    pids: dict[str, int] = field(default_factory=dict)
    tables: dict[str, list[Row]] = field(default_factory=dict)
    skipped: list[str] = field(default_factory=list)
    done: bool = False

    @property
    def left_s(self) -> float:
        """Seconds of the budget that are left."""
        return self.until - time.monotonic()

    def count(self, full: int) -> int:
        """How many requests a step sends; few in a rehearsal."""
        return max(2, full // 20) if self.quick else full

    def add(self, title: str, *rows: Row) -> None:
        """Append rows to a table and write everything, so that what comes after can't cost them. NaN becomes None."""
        known = [{key: None if _nothing(value) else value for key, value in row.items()} for row in rows]
        self.tables.setdefault(title, []).extend(known)
        self.save()

    def save(self) -> None:
        """Write session.json and session.md."""
        body = {"done": self.done, "tables": self.tables, "skipped": self.skipped, "urls": self.urls}
        _write(self.out / "session.json", json.dumps(body, indent=1, ensure_ascii=False))
        _write(self.out / "session.md", "\n".join(table(title, rows) for title, rows in self.tables.items()))


def _write(path: Path, text: str) -> None:
    """In one step, since it may be read or cut off at any time."""
    beside = path.with_suffix(".part")
    beside.write_text(text, encoding="utf-8")
    beside.replace(path)


def table(title: str, rows: list[Row]) -> str:
    """A Markdown table of rows that share their keys."""
    columns = list(dict.fromkeys(key for row in rows for key in row))
    lines = [f"### {title}", "", "| " + " | ".join(columns) + " |", "|" + " --- |" * len(columns)]
    for row in rows:
        cells = [_cell(row.get(column)) for column in columns]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _nothing(value: object) -> bool:
    return isinstance(value, float) and math.isnan(value)


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.2f}" if abs(value) < 1 else f"{value:.1f}"
    return "" if value is None else str(value)
