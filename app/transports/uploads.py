"""Bodies as they arrive: who sends one is known before it is read, and all that are half read fit into a bound."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from email.message import Message
from typing import Final

import numpy as np
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request

from schemas.audio import AudioFormat, Encoding, Samples
from schemas.errors import Busy, MalformedMessage, TooLarge, UnsupportedAudio
from services.audio.channels import Channel
from services.audio.decoder_pool import DecoderPool
from services.audio.files import read_raw

RAW_TYPES = {
    "audio/pcmu": Encoding.MULAW,
    "audio/basic": Encoding.MULAW,
    "audio/pcma": Encoding.ALAW,
    "audio/l16": Encoding.PCM16,
}
"""Headerless audio, by media type."""
HEADS: Final = (b"RIFF", b"OggS", b"fLaC", b"ID3", b".snd", b"FORM")
"""What files with a header begin with."""
G711_RATE: Final = 8_000
RAW_RATES: Final = range(8_000, 48_001)
ORDERS: Final = {"little-endian": False, "big-endian": True}
FILE_TYPES = ("audio/wav", "audio/flac", "audio/ogg", "audio/mpeg")
AT_ONCE = 8
"""Bodies of the greatest length that are held at once; of shorter ones as many more."""
RETRY_AFTER_S = 2.0


@dataclass(frozen=True, slots=True)
class SaidOfSound:
    """What a client says of its sound beside the media type; null where it says nothing."""

    rate: int | None = None
    channel: Channel | None = None


@dataclass(frozen=True, slots=True)
class Headerless:
    """How headerless sound is to be read. `big`: the more significant byte of a sample comes first."""

    form: AudioFormat
    big: bool = False


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

    async def decode(self, body: bytes, content_type: str, said: SaidOfSound) -> Samples:
        """The sound of a body. Raises UnsupportedAudio, MalformedAudio, TooLarge, Busy."""
        media_type = content_type.partition(";")[0].strip().lower()
        if media_type in RAW_TYPES:
            if body.startswith(HEADS):
                raise UnsupportedAudio(f"the body is a file with a header, and {media_type} has none")
            return await run_in_threadpool(read, body, headerless(content_type, said.rate))
        if media_type.startswith("audio/") or media_type in {"", "application/octet-stream", "application/ogg"}:
            return await self._decoders.decode(body, said.channel)
        raise UnsupportedAudio(f"write one as Content-Type: {', '.join((*FILE_TYPES, *RAW_TYPES))}")


def headerless(content_type: str, rate: int | None) -> Headerless:
    """By the media type with its parameters, and the `rate` that was given beside it. Raises UnsupportedAudio.

    The parameters are RFC 2586's `rate` and `channels`, and `endianness`, as some write it.
    """
    message = Message()
    message["content-type"] = content_type
    encoding = RAW_TYPES[message.get_content_type()]
    rates, own = {rate} if rate is not None else set(), str(message.get_param("rate", ""))
    if own:
        rates.add(int(own) if own.isascii() and own.isdecimal() and len(own) <= 6 else 0)  # noqa: PLR2004 - digits
    if encoding is not Encoding.PCM16:
        rates.add(G711_RATE)
    if len(rates) > 1:
        raise UnsupportedAudio(f"one rate is taken, and {G711_RATE} of G.711 alone")
    chosen = rates.pop() if rates else G711_RATE
    if chosen not in RAW_RATES:
        raise UnsupportedAudio(f"the rate is {RAW_RATES.start} to {RAW_RATES.stop - 1} Hz")
    if str(message.get_param("channels", "1")) != "1":
        raise UnsupportedAudio("headerless audio has one channel")
    order = str(message.get_param("endianness", "little-endian")).lower()
    if order not in ORDERS:
        raise UnsupportedAudio(f"endianness is {' or '.join(ORDERS)}")
    return Headerless(AudioFormat(encoding, chosen), encoding is Encoding.PCM16 and ORDERS[order])


def read(body: bytes, said: Headerless) -> Samples:
    """The sound of a headerless body. Raises MalformedAudio, TooLarge."""
    if said.big and len(body) % 2 == 0:
        body = np.frombuffer(body, ">i2").astype("<i2").tobytes()
    return read_raw(body, said.form)


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
