"""What one card carries: `python -m deploy.vllm.sweep.capacity CSV --goal-ms 100 --metric ttft --price 3`.

For each server of a sweep's CSV: requests and tokens a second at every level, the knee (the last level whose p95 keeps
the goal), and what a thousand requests cost there at a price an hour.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LEVEL = "max-concurrency="
HOUR_S = 3600


@dataclass(frozen=True)
class Level:
    """One server with so many requests at once: its p95 in milliseconds, requests and tokens a second."""

    at_once: int
    p95_ms: float
    requests_s: float
    tokens_s: float

    def thousand(self, price_hour: float) -> float:
        """What a thousand requests cost at this load, in the price's currency."""
        return price_hour / HOUR_S / self.requests_s * 1000


def levels(rows: Sequence[dict[str, Any]], metric: str) -> dict[str, list[Level]]:
    """Every server's levels in their order; runs that vLLM's generator did not make have no throughput and are left."""
    found: dict[str, list[Level]] = defaultdict(list)
    for row in rows:
        if str(row["varied"]).startswith(LEVEL) and row["output_throughput"]:
            tokens_s = float(row["output_throughput"])
            requests_s = tokens_s * int(row["completed"]) / int(row["output_tokens"])
            at_once = int(str(row["varied"]).removeprefix(LEVEL))
            found[f"{row['server']} {row['label']}"].append(
                Level(at_once, float(row[f"p95_{metric}_ms"]), requests_s, tokens_s)
            )
    return {name: sorted(of, key=lambda level: level.at_once) for name, of in found.items()}


def knee(of: Sequence[Level], goal_ms: float) -> Level | None:
    """The last level before the first that breaks the goal; None where none keeps it."""
    kept = None
    for level in of:
        if level.p95_ms > goal_ms:
            break
        kept = level
    return kept


def table(found: dict[str, list[Level]], metric: str, goal_ms: float, price_hour: float) -> str:
    """Markdown: a row a level, the knee marked."""
    lines = [
        f"| server | at once | {metric} p95, ms | requests/s | tokens/s | a thousand at {price_hour:g} an hour |",
        "|---|---|---|---|---|---|",
    ]
    for name, of in found.items():
        best = knee(of, goal_ms)
        for level in of:
            mark = f" **knee at {goal_ms:g} ms**" if level == best else ""
            lines.append(
                f"| {name} | {level.at_once} | {level.p95_ms:.0f}{mark} | {level.requests_s:.1f} | "
                f"{level.tokens_s:.0f} | {level.thousand(price_hour):.4f} |"
            )
    return "\n".join(lines) + "\n"


def main(arguments: list[str]) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("csv", type=Path)
    parser.add_argument("--metric", choices=("ttft", "e2el"), default="e2el")
    parser.add_argument("--goal-ms", type=float, required=True)
    parser.add_argument("--price", type=float, required=True, help="of the card, an hour")
    given = parser.parse_args(arguments)
    rows = list(csv.DictReader(given.csv.read_text(encoding="utf-8").splitlines()))
    print(table(levels(rows, given.metric), given.metric, given.goal_ms, given.price))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
