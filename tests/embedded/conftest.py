"""A small real model on this machine's CPU."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.embedded.server import Start, free_port, serving


@pytest.fixture(scope="session")
def embedded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where the session's server answers."""
    with serving(tmp_path_factory.mktemp("embedded") / "server.log", free_port()) as server:
        yield server.url


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts a server that a test may kill; called again, one in its place."""
    port = free_port()
    with ExitStack() as stack:
        yield lambda: stack.enter_context(serving(tmp_path / "server.log", port))
