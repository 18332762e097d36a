"""Starting and ending the small model's server, where `make embedded` has made its environment."""

import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from pathlib import Path

import httpx
import pytest

ROOT = Path(__file__).parents[2]
PYTHON = ROOT / ".venv-embedded/bin/python"
START_S = 300.0

Start = Callable[[], "Embedded"]


class Embedded:
    """One running server."""

    def __init__(self, process: subprocess.Popen[bytes], port: int, log: Path) -> None:
        self.process, self.log = process, log
        self.url = f"http://127.0.0.1:{port}"

    def wait(self) -> None:
        """Until it answers, its model loaded."""
        until = time.monotonic() + START_S
        while time.monotonic() < until and self.process.poll() is None:
            try:
                if httpx.get(f"{self.url}/health", timeout=5, trust_env=False).status_code == HTTPStatus.OK:
                    return
            except httpx.HTTPError:
                pass
            time.sleep(0.2)
        raise AssertionError(self.log.read_text(errors="replace")[-4000:])

    def kill(self) -> None:
        """As a machine's failure would."""
        self.process.kill()
        self.process.wait()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def serving(log: Path, port: int) -> Iterator[Embedded]:
    """A server of its own on a port."""
    if not PYTHON.exists():
        pytest.skip("the small model is not installed: make embedded")
    command = [PYTHON, Path(__file__).with_name("serve.py"), str(port)]
    with log.open("wb") as said, subprocess.Popen(command, stdout=said, stderr=said) as process:
        server = Embedded(process, port, log)
        try:
            server.wait()
            yield server
        finally:
            server.kill()
