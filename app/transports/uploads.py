"""Bodies as they arrive: who sends one is known before it is read, and all that are half read fit into a bound."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request

from schemas.audio import AudioFormat, Encoding, Samples
from schemas.errors import Busy, MalformedMessage, TooLarge, UnsupportedAudio
from services.audio.decoder_pool import DecoderPool
from services.audio.files import read_raw

RAW_TYPES = {
    "audio/pcmu": Encoding.MULAW,
    "audio/basic": Encoding.MULAW,
    "audio/pcma": Encoding.ALAW,
    "audio/l16": Encoding.PCM16,
}
"""Headerless audio, by media type."""
FILE_TYPES = ("audio/wav", "audio/flac", "audio/ogg", "audio/mpeg")
AT_ONCE = 8
"""Bodies of the greatest length that are held at once; of shorter ones as many more."""
RETRY_AFTER_S = 2.0


class Room:
    """So many bytes that bodies may take together. One event loop uses it."""

    def __init__(self, size: int) -> None:
        self._free = size

    def take(self, size: int) -> None:
        """Hold some. Raises Busy."""
        if size > self._free:
            raise Busy("too much is being sent", retry_after_s=RETRY_AFTER_S)
        self._free -= size

    def give(self, size: int) -> None:
        """Hold them no more."""
        self._free += size

    @contextmanager
    def held(self, size: int) -> Iterator[None]:
        """Hold some for the duration of a block. Raises Busy."""
        self.take(size)
        try:
            yield
        finally:
            self.give(size)


class Uploads:
    """Reads a gateway's bodies, of at most `limit` bytes each, and decodes recordings. One event loop uses it."""

    def __init__(self, limit: int, decoders: DecoderPool) -> None:
        self._limit = limit
        self._room = Room(AT_ONCE * limit)
        self._decoders = decoders

    @asynccontextmanager
    async def body(self, request: Request, most: int | None = None) -> AsyncIterator[bytes]:
        """The body, refused as soon as it is too long, whatever its header says. Raises TooLarge, Busy."""
        body, held, most = bytearray(), 0, self._limit if most is None else min(most, self._limit)
        try:
            if _promised(request) > most:
                raise TooLarge(f"at most {most} bytes are taken")
            async for chunk in _arriving(request):
                body += chunk
                if len(body) > most:
                    raise TooLarge(f"at most {most} bytes are taken")
                self._room.take(len(chunk))
                held += len(chunk)
            yield bytes(body)
        finally:
            self._room.give(held)

    async def decode(self, body: bytes, content_type: str, rate: int) -> Samples:
        """The sound of a body. Raises UnsupportedAudio, MalformedAudio, TooLarge, Busy."""
        media_type = content_type.partition(";")[0].strip().lower()
        if media_type in RAW_TYPES:
            encoding = RAW_TYPES[media_type]
            form = AudioFormat(encoding, rate if encoding is Encoding.PCM16 else 8_000)
            return await run_in_threadpool(read_raw, body, form)
        if media_type.startswith("audio/") or media_type in {"", "application/octet-stream", "application/ogg"}:
            return await self._decoders.decode(body)
        raise UnsupportedAudio(f"write one as Content-Type: {', '.join((*FILE_TYPES, *RAW_TYPES))}")


async def _arriving(request: Request) -> AsyncIterator[bytes]:
    """A body's parts. Raises MalformedMessage where its sender goes away in the middle: nobody hears of it."""
    try:
        async for chunk in request.stream():
            yield chunk
    except ClientDisconnect:
        raise MalformedMessage("the request was not sent to its end") from None


def _promised(request: Request) -> int:
    """The length that the head promises; 0 where it says none. No number of ours is that long."""
    length = request.headers.get("content-length", "")
    return int(length) if length.isdecimal() and len(length) <= 18 else 0  # noqa: PLR2004 - digits of an exabyte
