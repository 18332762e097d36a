"""What is wrong with a message that is no event, without repeating what was sent."""

from collections.abc import Collection
from typing import Final

from pydantic import ValidationError
from pydantic_core import from_json

from schemas import amiss
from schemas.errors import MalformedMessage, UnknownEvent

MAX_SAID: Final = 400
"""Characters of what is said to be wrong."""


class Refused(MalformedMessage):
    """An event that can't be read. `param` is where, `cause` the client's own id of it."""

    def __init__(self, message: str, param: str | None = None, cause: str | None = None) -> None:
        super().__init__(message)
        self.param = param
        self.cause = cause


def told(invalid: ValidationError, names: Collection[str]) -> tuple[str, str]:
    """What is wrong, and where first, by `names` alone; "" is the event itself. Raises UnknownEvent."""
    errors = invalid.errors(include_url=False, include_input=False)
    for error in errors:
        if error["type"] == "union_tag_invalid" and not error["loc"]:
            raise UnknownEvent(f"no event of the protocol: {amiss.fault(error)}")
    return "; ".join(amiss.faults(errors, names))[:MAX_SAID], amiss.place(errors[0], names)


def cause_of(message: str, most: int) -> str | None:
    """The event_id of an event that is wrong elsewhere, of at most so many characters."""
    try:
        event = from_json(message)
    except ValueError:
        return None
    cause = event.get("event_id") if isinstance(event, dict) else None
    return cause if isinstance(cause, str) and len(cause) <= most else None
