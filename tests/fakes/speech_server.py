"""A fake of a server with OpenAI's `/v1/audio/speech`: it hums instead of speaking, and fails on demand."""

import asyncio
import json
from dataclasses import dataclass, field

from tests.fakes.http import Asked, FakeHttpServer

PER_CHARACTER = 480
"""Bytes of sound for a character of input: a hundredth of a second at 24 kHz."""


@dataclass
class FakeSpeechServer(FakeHttpServer):
    """`status`, `before_s` and `stall_s` (waits), `body` (instead of a hum), `odd` (odd sizes) shape the answer."""

    status: int = 200
    stall_s: float = 0.0
    before_s: float = 0.0
    body: bytes | None = None
    odd: bool = False
    asked: list[dict[str, object]] = field(default_factory=list)
    left: int = 0

    def __post_init__(self) -> None:
        super().__init__()

    async def answer(self, asked: Asked, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Chunked PCM, in two pieces with a pause between."""
        assert (asked.method, asked.path) == ("POST", "/v1/audio/speech")
        wanted = json.loads(asked.body)
        self.asked.append(wanted | {"authorization": asked.headers.get("authorization")})
        try:
            return await self._answer(len(wanted["input"]), reader, writer)
        except ConnectionError:
            self.left += 1
            return False

    async def _answer(self, characters: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        await asyncio.sleep(self.before_s)
        if self.status != 200:
            writer.write(f"HTTP/1.1 {self.status} No\r\nContent-Length: 0\r\n\r\n".encode())
            await writer.drain()
            return True
        sound = bytes(range(1, 241)) * (PER_CHARACTER * characters // 240) if self.body is None else self.body
        cut = len(sound) // 2 + (1 if self.odd else 0)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: audio/pcm\r\nTransfer-Encoding: chunked\r\n\r\n")
        for piece in (sound[:cut], sound[cut:]):
            if piece:
                writer.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
                await writer.drain()
            if self.stall_s:
                gone = asyncio.create_task(reader.read(1))
                await asyncio.wait({gone}, timeout=self.stall_s)
                self.left += gone.done()
                if gone.done():
                    return False
                gone.cancel()
        writer.write(b"0\r\n\r\n")
        await writer.drain()
        return True
