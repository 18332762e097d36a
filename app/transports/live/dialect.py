"""What a door speaks: the only part of a call's transport in which doors differ. Sans I/O."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from schemas.call import CallConfig, CallEvent, CallInput
from schemas.errors import BadInput
from schemas.ids import Locale


@dataclass(frozen=True, slots=True)
class Given:
    """What a message of a client's comes to: inputs of the call, answers of the door's own, a newer token.

    Or a refusal. `cause` is the client's id of the event.
    """

    inputs: tuple[CallInput, ...] = ()
    answers: tuple[object, ...] = ()
    token: str | None = None
    refused: BadInput | None = None
    cause: str | None = None


Message = str | bytes
"""A message to a client, of text or binary."""


class Dialect(Protocol):
    """One call's protocol."""

    @property
    def config(self) -> CallConfig:
        """How the call begins."""
        ...

    @property
    def named(self) -> Locale | None:
        """The language that the client asked for before the call, if any."""
        ...

    def begin(self, locale: Locale) -> None:
        """The call begins in this language."""
        ...

    def opening(self) -> list[str]:
        """The first messages."""
        ...

    def sound(self, data: bytes) -> Given:
        """Take a binary message."""
        ...

    def read(self, text: str) -> Given:
        """Take a text message."""
        ...

    def encode(self, event: CallEvent, *, audible: bool) -> Sequence[Message]:
        """The messages that tell of `event`, in order; `audible`: the caller may be hearing a reply now."""
        ...

    def farewell(self) -> list[str]:
        """The last messages of a call that came to its own end."""
        ...
