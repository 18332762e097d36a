"""JSON whose objects say each name once: of two values a reader takes the first or the last, and nobody is told."""

import json
from collections.abc import Sequence
from typing import Any, Final

DOUBLED: Final = "a name is said twice"
"""What is told of it: not which, which is a stranger's word."""


class DoubledName(ValueError):
    """An object says a name twice; the message is the name."""


def told_once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """An object of its names and values, as `json.loads` hands them over. Raises DoubledName."""
    made: dict[str, Any] = {}
    for name, value in pairs:
        if name in made:
            raise DoubledName(name)
        made[name] = value
    return made


def doubled_name(text: str | bytes) -> str | None:
    """The first name that an object of well-formed JSON says twice, if any does. Raises RecursionError."""
    try:
        json.loads(text, object_pairs_hook=told_once, parse_int=str)
    except DoubledName as error:
        return str(error)
    return None
