"""Any server that speaks OpenAI's `POST /v1/audio/speech`: streamed, with a deadline, behind a breaker."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass, field
from typing import Final

import httpx

from schemas.errors import Busy, SpeechUnavailable
from schemas.ids import Locale
from services.guard import Attempts
from services.ports import Breaker
from services.speech.engine import Sound

_CHUNK: Final = 4_800
"""Bytes of a piece: a tenth of a second at 24 kHz."""
_LONGEST_S: Final = 60.0
_CONTAINERS: Final = (b"RIFF", b"OggS", b"fLaC", b"ID3", b"\xff\xfb", b"\xff\xf3")
"""What sound in a container begins with: noise, if it were played as samples."""


@dataclass(frozen=True, slots=True)
class SpeechEndpoint:
    """Where a server speaks. `rate` is that of its `pcm`; `voice` speaks for locales that have none of their own."""

    url: str
    model: str
    key: str = field(default="", repr=False)
    voice: str = "alloy"
    rate: int = 24_000
    first_s: float = 2.0
    stall_s: float = 1.5
    in_flight: int = 16


class RemoteEngine:
    """`SpeechEngine` over HTTP. One event loop uses it."""

    def __init__(self, endpoint: SpeechEndpoint, voices: Mapping[str, str], breaker: Breaker) -> None:
        """`voices` by locale."""
        self._endpoint = endpoint
        self._voices = dict(voices)
        self._attempts = Attempts(breaker, endpoint.in_flight)
        headers = {"Authorization": f"Bearer {endpoint.key}"} if endpoint.key else {}
        self._http = httpx.AsyncClient(
            headers=headers, timeout=httpx.Timeout(endpoint.first_s, read=None), trust_env=False
        )

    @property
    def version(self) -> str:
        """The endpoint and its model."""
        return f"{self._endpoint.url}#{self._endpoint.model}"

    async def sound(
        self,
        words: str,
        locale: Locale,
        voice: str,
        *,
        any_time: bool = False,  # noqa: ARG002 - an endpoint does not ask
    ) -> AsyncGenerator[Sound, None]:
        """A clause as it comes. Raises SpeechUnavailable, Busy."""
        full = Busy("too much is being said", retry_after_s=1.0)
        with self._attempts.begin(full, SpeechUnavailable("the speech endpoint keeps failing")):
            try:
                async with aclosing(self._pieces(words, locale, voice)) as pieces:
                    async for piece in pieces:
                        yield Sound(piece, self._endpoint.rate)
            except (httpx.HTTPError, TimeoutError) as error:
                raise SpeechUnavailable(f"the speech endpoint failed: {type(error).__name__}") from error

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def _pieces(self, words: str, locale: Locale, voice: str) -> AsyncGenerator[bytes, None]:
        """Whole samples as they come. Raises httpx.HTTPError, TimeoutError, SpeechUnavailable."""
        place = self._endpoint
        asked = {
            "model": place.model,
            "input": words,
            "voice": voice or self._voices.get(locale, place.voice),
            "response_format": "pcm",
        }
        address = place.url.rstrip("/") + "/v1/audio/speech"
        async with AsyncExitStack() as stack:
            async with asyncio.timeout(place.first_s):
                answer = await stack.enter_async_context(self._http.stream("POST", address, json=asked))
            if not answer.is_success:
                raise SpeechUnavailable(f"the speech endpoint answered {answer.status_code}")
            body = answer.aiter_bytes(_CHUNK)
            left, size = b"", 0
            while (piece := await self._next(body, begun=size > 0)) is not None:
                if not size and piece.startswith(_CONTAINERS):
                    raise SpeechUnavailable("the speech endpoint sends a container, not pcm")
                size += len(piece)
                if size > _LONGEST_S * place.rate * 2:
                    raise SpeechUnavailable("the speech endpoint does not come to an end")
                piece = left + piece
                left = piece[len(piece) & ~1 :]
                yield piece[: len(piece) & ~1]
            if not size:
                raise SpeechUnavailable("the speech endpoint said nothing")

    async def _next(self, body: AsyncIterator[bytes], *, begun: bool) -> bytes | None:
        """What comes next, None at the end. How long it was waited for alone counts, not how long it is played."""
        async with asyncio.timeout(self._endpoint.stall_s if begun else self._endpoint.first_s):
            return await anext(body, None)
