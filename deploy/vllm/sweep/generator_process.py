"""The load generator of `generator.py` as a process that stays beside a sweep."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Self

from deploy.vllm.random_weights import environment


class Generator:
    """Called with the arguments of `vllm bench serve` it runs it and gives its fault, "" where it did well."""

    def __init__(self, python: str, payload: Path, log: Path) -> None:
        self._log = log.open("wb")
        self._process = subprocess.Popen(
            [python, str(Path(__file__).with_name("generator.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
            env=dict(os.environ) | environment(payload),  # noqa: TID251 - the child inherits it
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with self._process, self._log:
            self._process.kill()

    def __call__(self, argv: list[str]) -> str:
        """Run once. Where the process has ended, that is the fault."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            print(json.dumps(argv), file=self._process.stdin, flush=True)
            return str(json.loads(self._process.stdout.readline()))
        except (BrokenPipeError, ValueError):
            return f"the load generator ended: see {self._log.name}"
