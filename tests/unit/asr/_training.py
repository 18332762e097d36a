"""Modules of the training code that need no torch; they lie side by side in deploy/asr and import one another."""

import importlib
import sys
from pathlib import Path
from types import ModuleType
from typing import Final

FOLDER: Final = Path(__file__).parents[3] / "deploy" / "asr"


def training(name: str) -> ModuleType:
    """One of them, by its name."""
    sys.path.insert(0, str(FOLDER))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(FOLDER))
