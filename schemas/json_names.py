"""JSON whose objects say each name once: of two values a reader takes the first or the last, and nobody is told."""

import json
from collections.abc import Sequence
from typing import Any


def told_once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """An object of its names and values, as `json.loads` hands them over. Raises ValueError, with the doubled name."""
    made: dict[str, Any] = {}
    for name, value in pairs:
        if name in made:
            raise ValueError(name)
        made[name] = value
    return made


def doubled_name(text: bytes) -> str | None:
    """The first name that an object of well-formed JSON says twice, if any does."""
    try:
        json.loads(text, object_pairs_hook=told_once)
    except ValueError as error:
        return str(error)
    return None
