"""Who recognises what a benchmark plays."""

from enum import StrEnum
from pathlib import Path


class HeardBy(StrEnum):
    """The bundled recogniser, or one that is told what was said."""

    BUNDLED = "bundled"
    ORACLE = "oracle"

    def command(self, corpus: Path | None) -> tuple[str, ...]:
        """What Python is given to run a service that hears so; nothing for the usual one."""
        if self is HeardBy.BUNDLED:
            return ()
        return ("-m", "deploy.bench._calls.oracle", *([str(corpus)] if corpus else []))
