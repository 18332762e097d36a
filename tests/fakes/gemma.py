"""FakeGemma: an OpenAI-compatible server over real HTTP that stands in for vLLM where no model can run.

By default it behaves like a constrained model with random weights: it answers any line its schema allows. A test may
give it any other behaviour, down to the bytes, the pauses and the hang-ups.
"""

import asyncio
import json
import random  # noqa: TID251 - seeded where it is used
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.fakes.http import Asked, FakeHttpServer

Body = dict[str, Any]


@dataclass(frozen=True)
class Reply:
    """One HTTP reply. Each part is bytes to send, or seconds to wait. `hang_up` drops the connection unfinished."""

    parts: Sequence[bytes | float] = ()
    status: int = 200
    content_type: str = "application/json"
    hang_up: bool = False
    headers: dict[str, str] = field(default_factory=dict)


def completion(content: str | None, finish: str | None = "stop", *, after_s: float = 0.0, **message: object) -> Reply:
    """A whole chat completion."""
    body = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 0,
        "model": "fake-gemma",
        "choices": [
            {"index": 0, "message": {"role": "assistant", "content": content, **message}, "finish_reason": finish}
        ],
        "usage": {"prompt_tokens": 400, "completion_tokens": 5, "total_tokens": 405, "prompt_tokens_details": None},
    }
    return Reply([after_s, json.dumps(body, ensure_ascii=False).encode()])


def chunk(delta: Body, finish: str | None = None) -> bytes:
    """One server-sent event of a streamed completion."""
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    body = {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": "fake-gemma", "choices": [choice]}
    return b"data: " + json.dumps(body, ensure_ascii=False).encode() + b"\n\n"


def stream(*deltas: str, finish: str = "stop", drip_s: float = 0.0, done: bool = True) -> Reply:
    """A streamed completion, `drip_s` seconds before every delta."""
    parts: list[bytes | float] = [chunk({"role": "assistant", "content": ""})]
    for delta in deltas:
        parts += [drip_s, chunk({"content": delta})]
    parts.append(chunk({}, finish))
    if done:
        parts.append(b"data: [DONE]\n\n")
    return Reply(parts, content_type="text/event-stream")


def random_weights(seed: int) -> Callable[[Body], Reply]:
    """A constrained model without sense: any answer of the schema, or noise where none is asked."""
    rng = random.Random(seed)

    def behave(body: Body) -> Reply:
        wanted = body.get("response_format", {}).get("json_schema", {}).get("schema", {})
        if "enum" in wanted:
            return completion(json.dumps(rng.choice(wanted["enum"]), ensure_ascii=False))
        words = [rng.choice(["fee", "9", "yen", "[1]", ".", " is", "手数料", "。"]) for _ in range(24)]
        return stream(*words) if body.get("stream") else completion("".join(words))

    return behave


class FakeGemma(FakeHttpServer):
    """`async with FakeGemma(behave) as server:` listens on `server.url`; `requests` keeps the latest bodies."""

    def __init__(self, behave: Callable[[Body], Reply] | None = None, metrics: str = "") -> None:
        super().__init__()
        self.behave = behave or random_weights(0)
        self.metrics = metrics
        self.requests: deque[Body] = deque(maxlen=1000)
        self.hang_ups = 0
        self.in_flight = 0
        self.most_in_flight = 0

    async def answer(self, asked: Asked, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """One reply, unless the client leaves before its end."""
        reply = self._route(asked)
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        sending = asyncio.ensure_future(self._send(writer, reply))
        leaving = asyncio.ensure_future(reader.read(1))
        try:
            await asyncio.wait({sending, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if not sending.done():
                self.hang_ups += 1  # the client left before the end, which aborts the request
                return False
            return sending.result() and not leaving.done()
        finally:
            self.in_flight -= 1
            for pending in (sending, leaving):
                pending.cancel()
            await asyncio.gather(sending, leaving, return_exceptions=True)

    def _route(self, asked: Asked) -> Reply:
        if (asked.method, asked.path) == ("POST", "/v1/chat/completions"):
            body: Body = json.loads(asked.body)
            self.requests.append(body)
            return self.behave(body)
        answers: dict[str, Reply] = {
            "/health": Reply([b""]),
            "/version": Reply([b'{"version":"0.24.0"}']),
            "/v1/models": Reply([b'{"object":"list","data":[{"id":"fake-gemma","max_model_len":2048}]}']),
            "/metrics": Reply([self.metrics.encode()], content_type="text/plain"),
        }
        return answers.get(asked.path, Reply([b'{"detail":"Not Found"}'], status=404))

    @staticmethod
    async def _send(writer: asyncio.StreamWriter, reply: Reply) -> bool:
        head = f"HTTP/1.1 {reply.status} X\r\ncontent-type: {reply.content_type}\r\ntransfer-encoding: chunked\r\n"
        writer.write((head + "".join(f"{k}: {v}\r\n" for k, v in reply.headers.items()) + "\r\n").encode())
        for part in reply.parts:
            if isinstance(part, float):
                await asyncio.sleep(part)
            elif part:
                writer.write(f"{len(part):x}\r\n".encode() + part + b"\r\n")
                await writer.drain()
        if not reply.hang_up:
            writer.write(b"0\r\n\r\n")
        await writer.drain()
        return not reply.hang_up
