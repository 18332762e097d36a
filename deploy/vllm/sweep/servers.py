"""Starting and stopping engines for a measurement."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import time
import urllib.error
import urllib.request
from http import HTTPStatus
from pathlib import Path
from types import TracebackType
from typing import Self

from deploy.vllm.serving import Profile

START_S = 600.0


class Engine:
    """A profile's server as a process group of its own, logging to a file. `launcher` stands in for `vllm serve`.

    `model` replaces the profile's (a local folder); `more` are further flags, such as `--load-format dummy`.
    """

    def __init__(self, profile: Profile, log: Path, *, launcher: str = "", model: str = "", more: str = "") -> None:
        self.profile = profile
        self.log = log
        self.url = f"http://127.0.0.1:{profile.port}"
        command = profile.command()
        if launcher:
            flags = command[command.index(profile.model) :]
            command = [*shlex.split(launcher), *flags]
        if model:
            command[command.index(profile.model)] = model
        self._command = [*command, *shlex.split(more)]
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int | None:
        """The process group; None where nothing was started."""
        return None if self._process is None else self._process.pid

    def start(self) -> Self:
        """Start without waiting."""
        with self.log.open("wb") as log:
            self._process = subprocess.Popen(
                self._command,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                env=dict(os.environ) | self.profile.env,  # noqa: TID251 - the child inherits it
            )
        return self

    def ready(self, within_s: float = START_S) -> bool:
        """Whether /health answers in time; False at once where the process has ended."""
        until = time.monotonic() + within_s
        while time.monotonic() < until:
            if self._process is not None and self._process.poll() is not None:
                return False
            try:
                with urllib.request.urlopen(self.url + "/health", timeout=2) as reply:  # noqa: S310 - http on loopback
                    if reply.status == HTTPStatus.OK:
                        return True
            except (urllib.error.URLError, OSError):
                pass
            time.sleep(1.0)
        return False

    def stop(self) -> None:
        """End the whole process group."""
        if self._process is None or self._process.poll() is not None:
            return
        os.killpg(self._process.pid, signal.SIGTERM)
        try:
            self._process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait(timeout=30)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
