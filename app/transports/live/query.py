"""What an address says of the call that it opens: a word that is not known is refused, never passed over."""

from collections.abc import Mapping
from typing import Final, TypeVar

from fastapi import WebSocket

from rules.locales import locale_rules
from schemas.errors import BadInput
from schemas.ids import Locale

Choice = TypeVar("Choice")
SWITCH: Final[Mapping[str, bool]] = {"": True, "1": True, "true": True, "0": False, "false": False}
"""A name alone switches on."""


def chosen(socket: WebSocket, name: str, choices: Mapping[str, Choice], default: Choice) -> Choice:
    """What is meant by the word under a name; `default` where there is none. Raises BadInput."""
    words = {choices.get(word) for word in socket.query_params.getlist(name)}
    if not words:
        return default
    if len(words) > 1 or None in words:
        raise BadInput(f"{name}: write one of {', '.join(word for word in choices if word)}")
    return next(word for word in words if word is not None)


def language(socket: WebSocket) -> Locale | None:
    """The locale that the address names, if it does. Raises UnsupportedLocale."""
    tag = Locale(socket.query_params.get("locale", ""))
    if not tag:
        return None
    locale_rules(tag)
    return tag
