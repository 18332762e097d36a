"""Watches the GPU beside a run: use, memory, clocks."""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
from types import TracebackType
from typing import Self

QUERY = "utilization.gpu,memory.used,clocks.sm,power.draw"


class Watch:
    """`with Watch() as seen:` samples nvidia-smi about twice a second; without it, nothing is recorded."""

    def __init__(self, every_s: float = 0.5) -> None:
        self._every_s = every_s
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)
        self.samples: list[tuple[float, float, float, float]] = []

    def __enter__(self) -> Self:
        if shutil.which("nvidia-smi"):
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(timeout=5)

    def _sample(self) -> None:
        command = ["nvidia-smi", f"--query-gpu={QUERY}", "--format=csv,noheader,nounits", "-i", _card()]
        while not self._stop.wait(self._every_s):
            done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)
            parts = done.stdout.strip().split(",")
            if len(parts) == len(QUERY.split(",")) and all(p.strip().replace(".", "").isdigit() for p in parts):
                use, memory, clock, power = (float(p) for p in parts)
                self.samples.append((use, memory, clock, power))

    def figures(self) -> dict[str, float | str]:
        """Mean use (percent), most memory (MiB), lowest and highest SM clock (MHz)."""
        if not self.samples:
            return {"gpu_use_mean_percent": "", "gpu_memory_most_mib": ""}
        use, memory, clocks, _ = zip(*self.samples, strict=True)
        return {
            "gpu_use_mean_percent": sum(use) / len(use),
            "gpu_memory_most_mib": max(memory),
            "sm_clock_least_mhz": min(clocks),
            "sm_clock_most_mhz": max(clocks),
        }


def _card() -> str:
    """The first card the servers may use, as nvidia-smi numbers them."""
    return os.environ.get("CUDA_VISIBLE_DEVICES", "0").split(",")[0] or "0"  # noqa: TID251 - CUDA's, not a setting
