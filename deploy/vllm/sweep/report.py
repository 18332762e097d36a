"""Records of a sweep as CSV and as a table."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Any

METRICS = ("ttft", "tpot", "itl", "e2el")
PERCENTILES = ("p50", "p95", "p99")
COLUMNS = (
    "phase", "server", "label", "varied", "attention", "weights", "completed", "failed",
    "input_tokens", "output_tokens",
    *(f"{p}_{m}_ms" for m in METRICS for p in PERCENTILES),
    "output_throughput", "acceptance_length", "acceptance", "gpu_use_mean_percent", "gpu_memory_most_mib",
)  # fmt: skip
SHOWN = (
    "server", "label", "varied", "p50_ttft_ms", "p95_ttft_ms", "p50_tpot_ms", "p50_e2el_ms", "p95_e2el_ms",
    "p99_e2el_ms",
)  # fmt: skip

Record = dict[str, Any]


def record(raw: dict[str, Any], **about: object) -> Record:
    """One row from a result file of `vllm bench serve` and what is known about the run."""
    row: Record = dict.fromkeys(COLUMNS, "")
    row |= {
        "completed": raw.get("completed", 0),
        "failed": raw.get("failed", 0),
        "input_tokens": raw.get("total_input_tokens", ""),
        "output_tokens": raw.get("total_output_tokens", ""),
        "output_throughput": raw.get("output_throughput", ""),
        "acceptance_length": raw.get("spec_decode_acceptance_length", ""),
        "acceptance": " ".join(f"{rate:.3f}" for rate in raw.get("spec_decode_per_position_acceptance_rates", [])),
    }
    for metric in METRICS:
        for p in PERCENTILES:
            row[f"{p}_{metric}_ms"] = raw.get(
                f"{p}_{metric}_ms", raw.get(f"median_{metric}_ms", "") if p == "p50" else ""
            )
    return row | about


def as_csv(rows: Sequence[Record]) -> str:
    """Every column."""
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def as_table(title: str, rows: Sequence[Record], columns: Sequence[str] = SHOWN) -> str:
    """A Markdown table."""
    lines = [f"### {title}", "", "| " + " | ".join(columns) + " |", "|" + " --- |" * len(columns)]
    lines += ["| " + " | ".join(_cell(row.get(column, "")) for column in columns) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def _cell(value: object) -> str:
    return f"{value:.1f}" if isinstance(value, float) else str(value)
