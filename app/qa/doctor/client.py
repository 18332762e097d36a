"""HTTP to the endpoint under examination, beneath any client library, so that what is sent is what is meant."""

import re
import time
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import Any, Self

import httpx
import orjson

MAX_BODY = 8 * 1024 * 1024
_SAMPLE = re.compile(r"^([a-zA-Z_:][\w:]*)(\{[^}]*\})? ([0-9.eE+-]+|NaN|\+Inf)$", re.MULTILINE)
_LABEL = re.compile(r'(\w+)="([^"]*)"')

Body = dict[str, Any]


class Endpoint:
    """An OpenAI-compatible server. `async with` closes its connections."""

    def __init__(self, url: str, key: str = "", timeout_s: float = 60.0) -> None:
        self.url = url.rstrip("/")
        self._key = key
        limits = httpx.Limits(max_connections=64)
        self._http = httpx.AsyncClient(timeout=timeout_s, trust_env=False, limits=limits)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._http.aclose()

    async def ask(self, method: str, path: str, body: Body | None = None, *, key: bool = True) -> httpx.Response:
        """One request, with the key or without. Raises httpx.HTTPError."""
        headers = {"authorization": f"Bearer {self._key}"} if key and self._key else {}
        return await self._http.request(method, self.url + path, json=body, headers=headers)

    async def json(self, path: str) -> Body | None:
        """A JSON object from a GET; None where there is none."""
        try:
            reply = await self.ask("GET", path)
            found = orjson.loads(reply.content[:MAX_BODY]) if reply.is_success else None
        except (httpx.HTTPError, orjson.JSONDecodeError):
            return None
        return found if isinstance(found, dict) else None

    async def chat(self, **body: object) -> tuple[Body, float]:
        """A completion's body and its milliseconds. Raises httpx.HTTPError, ValueError of a body that is no object."""
        began = time.perf_counter()
        reply = await self.ask("POST", "/v1/chat/completions", body)
        reply.raise_for_status()
        found = orjson.loads(reply.content[:MAX_BODY])
        if not isinstance(found, dict):
            raise ValueError("the reply is no object")  # noqa: TRY004 - a fault of the server's, as bad JSON is
        return found, (time.perf_counter() - began) * 1000

    async def arrivals(self, **body: object) -> list[float]:
        """When each chunk with tokens of a streamed completion came, milliseconds. Raises httpx.HTTPError.

        Before the first there is one that names the role; whether a token has visible text does not matter.
        """
        began = time.perf_counter()
        async with self._streamed(body) as reply:
            reply.raise_for_status()
            chunks = (line async for line in reply.aiter_lines() if line.startswith("data: {"))
            return [(time.perf_counter() - began) * 1000 async for _ in chunks][1:]

    async def leave_early(self, **body: object) -> None:
        """Begin a streamed completion and hang up after its first bytes."""
        async with self._streamed(body) as reply:
            async for _ in reply.aiter_raw():
                return

    def _streamed(self, body: Body) -> AbstractAsyncContextManager[httpx.Response]:
        headers = {"authorization": f"Bearer {self._key}"} if self._key else {}
        return self._http.stream(
            "POST", f"{self.url}/v1/chat/completions", json=body | {"stream": True}, headers=headers
        )

    async def metrics(self) -> "MetricsPage":
        """The Prometheus samples of now; none where the server has no such route."""
        try:
            reply = await self.ask("GET", "/metrics")
        except httpx.HTTPError:
            return MetricsPage("")
        return MetricsPage(reply.text if reply.is_success else "")


class MetricsPage:
    """Samples of a Prometheus page, summed over their labels."""

    def __init__(self, text: str) -> None:
        self._samples = [
            (name, dict(_LABEL.findall(labels)), float(value)) for name, labels, value in _SAMPLE.findall(text)
        ]

    def total(self, name: str) -> float | None:
        """The sum of a metric's samples; None where it is absent."""
        found = [value for sample, _, value in self._samples if sample == name]
        return sum(found) if found else None

    def by(self, name: str, label: str) -> dict[str, float]:
        """A metric's samples by one label."""
        return {labels[label]: value for sample, labels, value in self._samples if sample == name and label in labels}


def content(completion: Body) -> str:
    """The text of a completion; empty where there is none."""
    try:
        return completion["choices"][0]["message"]["content"] or ""
    except (KeyError, IndexError, TypeError):
        return ""


def cached_tokens(completion: Body) -> int | None:
    """How many prompt tokens came from the cache, if the server tells."""
    try:
        found = completion["usage"]["prompt_tokens_details"]["cached_tokens"]
    except (KeyError, TypeError):
        return None
    return found if isinstance(found, int) else None
