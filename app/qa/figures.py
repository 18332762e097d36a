"""What a figure is, and the machine that it was taken on."""

import os
import platform
from pathlib import Path

Figure = str | int | float | bool | None


def machine() -> str:
    """The machine in words: processor, cores, Python."""
    name = platform.machine()
    info = Path("/proc/cpuinfo")
    if info.is_file():
        models = [line.partition(":")[2].strip() for line in info.read_text().splitlines() if "model name" in line]
        name = models[0] if models else name
    return f"{name}, {os.cpu_count()} cores, Python {platform.python_version()}"
