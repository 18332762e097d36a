"""JSON in which an object says the same thing twice: parsers take the last of them and tell nobody."""

import json


def said_twice(text: str | bytes) -> str | None:
    """A key that an object of a JSON text has more than once, None where each is said once.

    Raises ValueError where it is no JSON, RecursionError where it is too deep to be looked through.
    """
    twice: list[str] = []

    def look(pairs: list[tuple[str, object]]) -> dict[str, object]:
        found: dict[str, object] = {}
        for key, value in pairs:
            if key in found:
                twice.append(key)
            found[key] = value
        return found

    json.loads(text, object_pairs_hook=look, parse_int=str, parse_float=str)
    return twice[0] if twice else None
