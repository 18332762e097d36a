"""What is wrong with a message that is no event, without repeating what was sent."""

from collections.abc import Collection

from pydantic import ValidationError
from pydantic_core import from_json

from schemas.errors import UnknownEvent


def faults(invalid: ValidationError, names: Collection[str]) -> tuple[list[str], list[str]]:
    """The kinds of faults, and where they are by `names` alone; "" is the event itself. Raises UnknownEvent."""
    errors = invalid.errors(include_url=False, include_input=False)
    if any(error["type"] == "union_tag_invalid" and not error["loc"] for error in errors):
        raise UnknownEvent("an event type that the protocol does not have")
    places = {".".join(str(at) for at in error["loc"] if isinstance(at, int) or at in names) for error in errors}
    return sorted({error["type"] for error in errors}), sorted(places)


def cause_of(message: str, most: int) -> str | None:
    """The event_id of an event that is wrong elsewhere, of at most so many characters."""
    try:
        event = from_json(message)
    except ValueError:
        return None
    cause = event.get("event_id") if isinstance(event, dict) else None
    return cause if isinstance(cause, str) and len(cause) <= most else None
