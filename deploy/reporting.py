"""How every benchmark reports: a table for people, one flat JSON object for machines."""

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path

import numpy as np
import orjson
from rich.console import Console
from rich.table import Table

from app.qa.figures import Figure, machine


def percentile(values: Sequence[float], q: float) -> float:
    """The q-th percentile (0 … 100) by linear interpolation; NaN of nothing."""
    return float(np.percentile(values, q)) if values else float("nan")


def is_binding(rule: str) -> bool:
    """Whether a turn was ended by the wait before what can't be undone."""
    return ".binding@" in rule


def publish(name: str, workload: str, figures: Mapping[str, Figure], json_file: Path | None) -> None:
    """Print the figures, and write them with workload, machine and version as one flat JSON object."""
    table = Table("figure", "value", title=f"{name}: {workload}", title_justify="left")
    for key, value in figures.items():
        table.add_row(key, f"{value:.4g}" if isinstance(value, float) else str(value))
    Console().print(table)
    if json_file is not None:
        head: dict[str, Figure] = {"bench": name, "workload": workload, "machine": machine()}
        head["tellerline"] = version("tellerline")
        json_file.write_bytes(orjson.dumps(head | dict(figures), option=orjson.OPT_INDENT_2))
