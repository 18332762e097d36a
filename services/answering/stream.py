"""Reading a streamed chat completion: server-sent events out of bytes, bounded in every direction."""

from collections.abc import AsyncGenerator, AsyncIterator
from typing import Final

from pydantic import BaseModel, ConfigDict, ValidationError

from schemas.errors import ModelUnavailable

MAX_LINE_BYTES: Final = 64 * 1024
MAX_STREAM_BYTES: Final = 1024 * 1024
"""About a thousand times an answer: each of its tokens comes in an event of some 200 bytes."""
_DATA: Final = b"data:"
_DONE: Final = b"[DONE]"


class _StreamPart(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class _Delta(_StreamPart):
    role: str | None = None
    content: str | None = None

    @property
    def generated(self) -> bool:
        """Whether it stands for tokens, be they no text at all. The event that tells the role stands for none."""
        return bool(self.content) or (self.content is not None and self.role is None)


class _StreamChoice(_StreamPart):
    delta: _Delta | None = None


class _StreamEvent(_StreamPart):
    choices: list[_StreamChoice]


async def deltas(body: AsyncIterator[bytes]) -> AsyncGenerator[str, None]:
    """The words of each event that stands for tokens, "" where these are no text, until the server is done or gone.

    Raises ModelUnavailable at an event that is none of a completion, and past the bounds.
    """
    async for line in _lines(body):
        if not line.startswith(_DATA):
            continue  # a comment, a blank between two events, or a field that we do not need
        data = line.removeprefix(_DATA).strip()
        if data == _DONE:
            return
        words = _words(data)
        if words is not None:
            yield words


async def _lines(body: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    rest, received = b"", 0
    async for part in body:
        received += len(part)
        *lines, rest = (rest + part).split(b"\n")
        if received > MAX_STREAM_BYTES or len(rest) > MAX_LINE_BYTES:
            raise ModelUnavailable("the stream is larger than any answer can be")
        for line in lines:
            yield line
    yield rest


def _words(data: bytes) -> str | None:
    try:
        event = _StreamEvent.model_validate_json(data)
    except ValidationError as error:
        raise ModelUnavailable(f"an event is no part of a completion: {error.error_count()} faults") from None
    told = [choice.delta.content or "" for choice in event.choices if choice.delta and choice.delta.generated]
    return "".join(told) if told else None
