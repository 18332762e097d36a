"""The items of a conversation: what was said, and what a client has added to it."""

from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from schemas.wire.realtime.lenient import Lenient

MAX_ID: Final = 128
ItemName = Annotated[str, Field(min_length=1, max_length=MAX_ID)]
Role = Literal["user", "assistant", "system"]
Status = Literal["in_progress", "completed", "incomplete"]


class Shown(BaseModel):
    """Something that clients are shown: nothing else is in it, and it never changes."""

    model_config = ConfigDict(extra="forbid", frozen=True)


# What a client adds


class PartWish(Lenient):
    """A part of a message; sounds and pictures in it are let through unread."""

    type: str
    text: str | None = None
    transcript: str | None = None


class ItemWish(Lenient):
    """An item that a client adds: a message, a call of a function, or what came of one."""

    type: Literal["message", "function_call", "function_call_output"]
    id: ItemName | None = None
    role: Role | None = None
    content: list[PartWish] | None = None
    call_id: Annotated[str, Field(max_length=MAX_ID)] = ""
    name: Annotated[str, Field(max_length=MAX_ID)] = ""
    arguments: str = ""
    output: str = ""


# What is shown


class InputText(Shown):
    """Words that were written."""

    type: Literal["input_text"] = "input_text"
    text: str


class InputAudio(Shown):
    """Words that were spoken; null while they are not known, and where they are not to be told."""

    type: Literal["input_audio"] = "input_audio"
    transcript: str | None = None


class OutputText(Shown):
    """Words of a reply."""

    type: Literal["output_text"] = "output_text"
    text: str


class OutputAudio(Shown):
    """A reply that was spoken."""

    type: Literal["output_audio"] = "output_audio"
    transcript: str


ShownPart = Annotated[InputText | InputAudio | OutputText | OutputAudio, Field(discriminator="type")]


class ShownItem(Shown):
    """The head of every item."""

    id: str
    object: Literal["realtime.item"] = "realtime.item"
    status: Status = "completed"


class Message(ShownItem):
    """Something that somebody said."""

    type: Literal["message"] = "message"
    role: Role
    content: tuple[ShownPart, ...] = ()


class FunctionCall(ShownItem):
    """A call of a function, which only a client may have added."""

    type: Literal["function_call"] = "function_call"
    call_id: str
    name: str
    arguments: str


class FunctionCallOutput(ShownItem):
    """What a client says came of a function."""

    type: Literal["function_call_output"] = "function_call_output"
    call_id: str
    output: str


Item = Annotated[Message | FunctionCall | FunctionCallOutput, Field(discriminator="type")]
