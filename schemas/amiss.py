"""What is wrong with what was given, in words that say what to write; no value of it is repeated."""

from collections.abc import Collection, Iterator, Sequence
from typing import Final

from pydantic import ValidationError
from pydantic_core import ErrorDetails

_EXTRA: Final = "extra_forbidden"
_SAID: Final = {
    "missing": "is missing",
    _EXTRA: "holds a name that is none here",
    "union_tag_not_found": "is missing its {discriminator}",
    "union_tag_invalid": "write one of {expected_tags} as its {discriminator}",
    "json_invalid": "no JSON: {error}",
    "string_type": "write a text",
    "string_pattern_mismatch": "write what fits {pattern}",
    "string_too_short": "write at least {min_length} characters",
    "string_too_long": "write at most {max_length} characters",
    "too_short": "write at least {min_length}",
    "too_long": "write at most {max_length}",
    "greater_than": "write more than {gt}",
    "greater_than_equal": "write at least {ge}",
    "less_than": "write less than {lt}",
    "less_than_equal": "write at most {le}",
    "bool_type": "write true or false",
    "bool_parsing": "write true or false",
    "int_parsing": "write a whole number",
    "float_parsing": "write a number",
    "datetime_from_date_parsing": "write a day, or a moment such as 2026-01-15T17:00Z",
    "tuple_type": "write a list",
    "list_type": "write a list",
    "dict_type": "write an object",
    "model_type": "write an object",
    "model_attributes_type": "write an object",
}
"""By pydantic's kinds of faults, where its own words are a programmer's; in brackets what our schema tells."""


def faults(
    wrong: ValidationError | Sequence[ErrorDetails], names: Collection[str] | None = None, *, own_file: bool = False
) -> Iterator[str]:
    """Every fault with its place, each once: of `names` alone, of a file of one's own with names that are none."""
    found = wrong.errors(include_url=False, include_input=False) if isinstance(wrong, ValidationError) else wrong
    found = [one for one in found if not _follows(one, found)]
    told = {(place(one, names, own_file=own_file), fault(one, own_file=own_file)): None for one in found}
    yield from (f"{at}: {said}" if at else said for at, said in told)


def _follows(one: ErrorDetails, found: Sequence[ErrorDetails]) -> bool:
    """Whether a list is told to be too short for what is wrong within it, which is told by itself."""
    at = one["loc"]
    return one["type"] == "too_short" and any(len(o["loc"]) > len(at) and o["loc"][: len(at)] == at for o in found)


def fault(found: ErrorDetails, *, own_file: bool = False) -> str:
    """One fault, without its place."""
    if own_file and found["type"] == _EXTRA:
        return "no such name"
    if (said := _SAID.get(found["type"])) is not None:
        return said.format_map({name: str(value).replace("'", "") for name, value in found.get("ctx", {}).items()})
    return found["msg"].removeprefix("Value error, ").replace("Input should be ", "write ")


def place(found: ErrorDetails, names: Collection[str] | None = None, *, own_file: bool = False) -> str:
    """Where a fault is; "" is the whole."""
    known = found["loc"] if own_file or found["type"] != _EXTRA else found["loc"][:-1]
    return ".".join(str(at) for at in known if names is None or isinstance(at, int) or at in names)
