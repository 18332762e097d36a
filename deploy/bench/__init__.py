"""What measures our claims: `tellerline bench NAME` runs a module of this folder, in a checkout."""

from pathlib import Path
from typing import Final

CHECKOUT: Final = str(Path(__file__).parents[2])
"""Where a child process finds this package."""
