"""What a setting may hold. Each check says in a line what to write, and repeats no secret."""

import base64
import binascii
import json
import os
import re
from collections.abc import Iterable, Iterator
from io import StringIO
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from dotenv.parser import parse_stream
from pydantic import SecretStr

from schemas.errors import ConfigInvalid
from schemas.json_names import told_once
from schemas.secret import KEY_BYTES

PREFIX: Final = "TELLERLINE_"
"""Of every setting's name in the environment."""
ENV_ENCODING: Final = "utf-8-sig"
"""Of a .env file: an editor's mark of UTF-8 at its start is no part of the first name."""
MIN_BASE64: Final = 16
_KINDS: Final = 8
"""Different characters that a key has at least: 32 random hex digits have fewer once in ten million."""
_REPLACED: Final = re.compile(r"\$\{([^}:]*)\}")
"""What is replaced by another setting's value in a .env file, in whatever quotes."""
_PERIOD: Final = 16
"""Characters that a key does not go on repeating: `change-me-change-me-…` stands in somebody's example."""


def env_names(file: Path) -> Iterator[str]:
    """The names that a .env file sets. Raises ConfigInvalid where it can't be read, or names one with two values."""
    if not file.exists():
        return
    try:
        lines = list(parse_stream(StringIO(file.read_text(ENV_ENCODING))))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigInvalid(f"{file}: no file of UTF-8 that can be read ({type(error).__name__})") from error
    values: dict[str, str | None] = {}
    above = set(os.environ)  # noqa: TID251 - what such a file may name
    for line in lines:
        if line.error:
            raise ConfigInvalid(f"{file}, line {line.original.line}: write NAME=value, or # before what is none")
        if line.key is not None:
            name = line.key.upper()  # settings are read in either case
            if name.startswith(PREFIX) and (unset := _unset(line.value or "", above)):
                raise ConfigInvalid(
                    f"{file}, line {line.original.line}: {line.key} would have nothing in place of ${{{unset}}}, which"
                    " is set nowhere: write it without, or into the environment"
                )
            above.add(line.key)
            if name.startswith(PREFIX) and values.setdefault(name, line.value) != line.value:
                raise ConfigInvalid(f"{file}, line {line.original.line}: {line.key} has two values: write one of them")
            yield line.key


def _unset(value: str, above: set[str]) -> str:
    """What a value wants another's value for that is not there; empty where nothing."""
    return next((name for name in _REPLACED.findall(value) if name not in above), "")


def json_object(given: Any) -> Any:
    """What a text says in JSON, each name once; whether it is an object is its field's to say."""
    if not isinstance(given, str):
        return given
    try:
        return json.loads(given, object_pairs_hook=told_once)
    except (json.JSONDecodeError, RecursionError):
        raise ValueError("write JSON") from None
    except ValueError:  # the name may be a secret in the wrong place
        raise ValueError("a name is there twice: write each once") from None


def word(text: str) -> str:
    """Printable, without blanks around it."""
    if text != text.strip() or not text.isprintable():
        raise ValueError("blanks or characters that do not print: write it without them")
    return text


def single(text: str) -> str:
    """One word: no list, and nothing in brackets."""
    if text.startswith(("[", "{")):
        raise ValueError("write one name, no list")
    return word(text)


def folder(given: Any) -> Any:
    """A folder's or a file's name; an empty one would be the folder that we happen to run in."""
    if given == "":
        raise ValueError("is empty: write a path, or leave the setting out")
    if isinstance(given, str):
        word(given)
    return given


def port(given: Any) -> Any:
    """In digits alone: a container's own check reads it too."""
    if isinstance(given, str) and not (given.isascii() and given.isdecimal()):
        raise ValueError("write a number of 1 to 65535")
    return given


def header(given: SecretStr) -> SecretStr:
    """What can be sent in a header, or nothing."""
    text = given.get_secret_value()
    if not text.isascii() or not text.isprintable() or " " in text:
        raise ValueError("blanks, line breaks or letters that no key has: write the key alone")
    return given


def password(given: SecretStr) -> SecretStr:
    """Any characters; but neither blanks alone nor the line break that ended a file."""
    text = given.get_secret_value()
    if text and (not text.strip() or text != text.strip("\r\n")):
        raise ValueError("blanks alone, or a line break at its end: write the password alone")
    return given


def user(text: str) -> str:
    """Who may stand before the colon of a user and password."""
    if ":" in text:
        raise ValueError("a colon, which ends a user's name: write it without one")
    return word(text)


def secret(given: SecretStr) -> SecretStr:
    """Long enough and all of it the key, or nothing."""
    text = given.get_secret_value()
    if 0 < len(text.encode()) < KEY_BYTES:
        raise ValueError(f"needs at least {KEY_BYTES} bytes; `openssl rand -hex 32` makes one")
    if text.strip() and (text != text.strip() or quoted(text) or text.startswith(("$(", "`"))):
        raise ValueError("blanks or quotes around it, or a command that no shell ran: write the key alone")
    if not text.isprintable():
        raise ValueError("characters that do not print, as an editor may leave: write the key alone")
    return given


def quoted(text: str) -> bool:
    """Whether quotes stand around it: a shell takes them off, a container's file of settings does not."""
    return len(text) > 1 and text[0] == text[-1] and text[0] in "\"'"


def base64_secret(given: SecretStr) -> SecretStr:
    """Base64 of enough bytes, or nothing."""
    text = given.get_secret_value()
    try:
        size = len(base64.b64decode(text, validate=True))
    except (binascii.Error, ValueError):
        size = -1
    if text and size < MIN_BASE64:
        raise ValueError(f"write base64 of at least {MIN_BASE64} bytes")
    return given


def drawn_by_nobody(key: SecretStr) -> bool:
    """Whether a key that is given was not drawn at random."""
    value = key.get_secret_value()
    few = 0 < len(set(value)) < _KINDS
    counted = sum(abs(ord(one) - ord(next_)) == 1 for one, next_ in pairwise(value)) * 2 > len(value)
    return few or counted or any(value and value[step:] == value[:-step] for step in range(1, _PERIOD))


def twice(keys: Iterable[SecretStr]) -> bool:
    """Whether one of them stands there more than once."""
    values = [value for key in keys if (value := key.get_secret_value())]
    return len(set(values)) < len(values)
