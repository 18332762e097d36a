"""The service's version."""

from typing import Final

VERSION: Final = "0.1.0"
