"""Where the time of one confirmed transfer goes."""

import time
from collections.abc import Awaitable, Callable
from typing import Any

from deploy.reporting import percentile
from services.store import Store


async def phases_of(store: Store, work: Callable[[], Awaitable[Any]]) -> dict[str, float]:
    """Medians, in milliseconds, of the phases of a confirmation, while `work` confirms one transfer at a time."""
    spent, banked, settled = list[float](), list[float](), list[float]()
    at: dict[str, float] = {}

    def mark(point: str) -> None:
        at[point] = time.perf_counter()
        if point == "ledger.settle:committed":
            spent.append(at["ledger.confirm:committed"] - at["ledger.confirm:begin"])
            banked.append(at["ledger.settle:begin"] - at["ledger.confirm:committed"])
            settled.append(at["ledger.settle:committed"] - at["ledger.settle:begin"])

    ignored, store.probe = store.probe, mark
    await work()
    store.probe = ignored
    phases = {"spend": spent, "bank": banked, "settle": settled}
    return {f"alone_{name}_p50_ms": percentile(values, 50) * 1000 for name, values in phases.items()}
