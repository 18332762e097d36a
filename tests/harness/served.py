"""The whole application behind its own server on a real socket: real stages, a real ledger; the recogniser may be fake.

`served` shares the test's event loop, `served_in_thread` has a loop of its own, for tests that are not asynchronous.
"""

import asyncio
import socket
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.server import make_server
from services.ports import Recognizer
from tests.harness.app import Routes, Running, composed


@dataclass(frozen=True)
class Served(Running):
    """A running gateway and where it listens."""

    port: int

    @property
    def http(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def calls(self) -> str:
        return f"ws://127.0.0.1:{self.port}/v1/calls"


@asynccontextmanager
async def served(
    state: Path, recognizer: Recognizer | None, further: tuple[Routes, ...] = (), **settings: Any
) -> AsyncIterator[Served]:
    """Compose, listen, take down."""
    async with composed(state, recognizer, further, **({"drain_seconds": 2.0} | settings)) as (made, given, app):
        server = make_server(app, given, made.admission)
        with socket.socket() as listening:
            listening.bind(("127.0.0.1", 0))
            listening.listen(256)  # a client that comes before the server has started waits here
            serving = asyncio.create_task(server.serve([listening]))
            try:
                yield Served(made, listening.getsockname()[1])
            finally:
                server.should_exit = True
                await serving


@contextmanager
def served_in_thread(state: Path, recognizer: Recognizer, **settings: object) -> Iterator[Served]:
    """The same in a thread."""
    ready, leave = threading.Event(), threading.Event()
    found: list[Served] = []

    async def serve() -> None:
        async with served(state, recognizer, **settings) as running:
            found.append(running)
            ready.set()
            await asyncio.to_thread(leave.wait)

    def run() -> None:
        try:
            asyncio.run(serve())
        finally:
            ready.set()

    thread = threading.Thread(target=run)
    thread.start()
    ready.wait()
    try:
        yield found[0]
    finally:
        leave.set()
        thread.join()
