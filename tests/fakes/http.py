"""A small HTTP/1.1 server on a real socket, for fakes that must be able to hang up, stall and lie at any byte."""

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Self


@dataclass(frozen=True)
class Asked:
    """One request. Header names are in lower case."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


class FakeHttpServer:
    """`async with` listens on `url`; connections are kept alive while `answer` says so, and cut at the end."""

    host, port = "127.0.0.1", 0
    """Where it listens; a free port unless one is set before."""

    def __init__(self) -> None:
        self.url = ""
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.Task[None]] = set()

    async def answer(self, asked: Asked, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Write the reply; False hangs up after it. `reader` tells when the client leaves."""
        raise NotImplementedError

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, self.host, self.port)
        self.url = f"http://{self.host}:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._open:
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        try:
            with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
                while await self.answer(await _asked(reader), reader, writer):
                    pass
        finally:
            self._open.discard(task)
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()


async def _asked(reader: asyncio.StreamReader) -> Asked:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    method, path, _ = head.split(" ", 2)
    pairs = (line.split(": ", 1) for line in head.split("\r\n")[1:] if ": " in line)
    headers = {name.lower(): value for name, value in pairs}
    return Asked(method, path, headers, await reader.readexactly(int(headers.get("content-length", "0"))))
