"""Reading a chat completion: validated, bounded, and strict about everything but the fields we do not need."""

from collections.abc import AsyncIterator
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from schemas.errors import ModelUnavailable

MAX_REPLY_BYTES: Final = 64 * 1024
MAX_ANSWER_CHARACTERS: Final = 64


class Unreadable(Exception):
    """The server answered, but not with a line that was offered. `reason` is a stable code."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class _Wire(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class _Message(_Wire):
    content: str | None = None
    refusal: str | None = None
    tool_calls: list[object] | None = None


class _Choice(_Wire):
    message: _Message
    finish_reason: str | None = None


class _CachedTokens(_Wire):
    cached_tokens: int | None = None


class Usage(_Wire):
    """Token counts, as far as the server tells them."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    prompt_tokens_details: _CachedTokens | None = None


class Completion(_Wire):
    """The part of a chat completion that is used."""

    object: Literal["chat.completion"]
    model: str = ""
    choices: list[_Choice]
    usage: Usage | None = None


_LINE: Final = TypeAdapter(str)


async def read_bounded(chunks: AsyncIterator[bytes]) -> bytes:
    """The body of a reply. Raises ModelUnavailable past MAX_REPLY_BYTES."""
    body = bytearray()
    async for chunk in chunks:
        body += chunk
        if len(body) > MAX_REPLY_BYTES:
            raise ModelUnavailable("the reply is larger than any answer can be")
    return bytes(body)


def completion(body: bytes) -> Completion:
    """A completion out of a reply's body. Raises ModelUnavailable: what is no completion is no model."""
    try:
        return Completion.model_validate_json(body)
    except ValidationError as error:
        raise ModelUnavailable(f"the reply is no chat completion: {error.error_count()} faults") from None


def line(reply: Completion) -> str:
    """The answered line. Raises Unreadable."""
    if len(reply.choices) != 1:
        raise Unreadable("no_choice")
    choice = reply.choices[0]
    if choice.message.refusal:
        raise Unreadable("refused")
    if choice.message.tool_calls:
        raise Unreadable("tool_call")
    if choice.finish_reason != "stop":
        raise Unreadable("truncated" if choice.finish_reason == "length" else "not_finished")
    content = choice.message.content or ""
    if not content:
        raise Unreadable("empty")
    if len(content) > MAX_ANSWER_CHARACTERS:
        raise Unreadable("too_long")
    try:
        return _LINE.validate_json(content, strict=True)
    except ValidationError:
        raise Unreadable("not_json") from None
