"""Records of a sweep as CSV, as a table, and as plots (SVG without a plotting library)."""

from __future__ import annotations

import csv
import html
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
FONT = 'font-family="sans-serif" font-size="11"'
WIDTH, BAR, GAP, LEFT = 720, 16, 8, 300

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


def as_plot(title: str, rows: Sequence[Record], metric: str = "e2el") -> str:
    """Horizontal bars of p50 with p95 behind them, one a row, as SVG."""
    values = [(_name(row), _number(row[f"p50_{metric}_ms"]), _number(row[f"p95_{metric}_ms"])) for row in rows]
    most = max([1.0, *(p95 for _, _, p95 in values), *(p50 for _, p50, _ in values)])
    scale = (WIDTH - LEFT - 90) / most
    height = 40 + len(values) * (BAR + GAP)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" {FONT}>',
        f'<text x="8" y="20" font-size="14">{html.escape(title)}: {metric}, p50 (dark) and p95, ms</text>',
    ]
    for place, (name, p50, p95) in enumerate(values):
        y = 34 + place * (BAR + GAP)
        parts += [
            f'<text x="{LEFT - 8}" y="{y + 12}" text-anchor="end">{html.escape(name)}</text>',
            f'<rect x="{LEFT}" y="{y}" width="{p95 * scale:.1f}" height="{BAR}" fill="#9db7d5"/>',
            f'<rect x="{LEFT}" y="{y}" width="{p50 * scale:.1f}" height="{BAR}" fill="#2f5d8c"/>',
            f'<text x="{LEFT + p95 * scale + 6:.1f}" y="{y + 12}">{p50:.0f} / {p95:.0f}</text>',
        ]
    return "\n".join([*parts, "</svg>"]) + "\n"


def _name(row: Record) -> str:
    return " ".join(str(row[key]) for key in ("server", "label", "varied") if row[key])[:52]


def _number(value: object) -> float:
    return float(value) if isinstance(value, (int, float)) else 0.0
