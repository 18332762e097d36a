"""Messages of JSON, read without trust: every field is asked for by its type, and nothing is repeated in an error."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import orjson

from app.transports.events.decode import unbase64
from app.transports.telephone.line import LineEvent, Pressed
from rules.locales import locale_rules
from schemas.errors import MalformedMessage, TooLarge
from schemas.ids import Locale
from schemas.json_names import DOUBLED, doubled_name

MAX_MESSAGE: Final = 64 * 1024
MAX_WORD: Final = 512
"""Characters of a field that is no sound."""
MAX_STATEMENT: Final = 4_096
MAX_GIVEN: Final = 8_192
KEYS: Final = frozenset("0123456789*#ABCD")


@dataclass(frozen=True, slots=True)
class Fields:
    """One object of a message."""

    values: Mapping[str, Any]

    @classmethod
    def read(cls, text: str | bytes) -> "Fields":
        """A whole message. Raises MalformedMessage, TooLarge."""
        if len(text) > MAX_MESSAGE:
            raise TooLarge(f"a message has at most {MAX_MESSAGE} bytes")
        try:
            values = orjson.loads(text)
            doubled = doubled_name(text)
        except (orjson.JSONDecodeError, ValueError, RecursionError):
            raise MalformedMessage("the message is not JSON") from None
        if doubled is not None:
            raise MalformedMessage(DOUBLED)
        if not isinstance(values, dict):
            raise MalformedMessage("the message is no object")
        return cls(values)

    def word(self, name: str, default: str | None = None, *, most: int = MAX_WORD) -> str:
        """A text, or a number as text: carriers write their counters either way. Raises MalformedMessage."""
        value = self.values.get(name, default)
        if isinstance(value, int) and not isinstance(value, bool):
            value = str(value)
        if not isinstance(value, str) or len(value) > most:
            raise MalformedMessage(f"{name} is no text of at most {most} characters")
        return value

    def number(self, name: str, default: int | None = None) -> int:
        """A whole number that is not negative, also as text. Raises MalformedMessage."""
        value = self.word(name, None if default is None else str(default), most=18)
        if not (value.isascii() and value.isdecimal()):
            raise MalformedMessage(f"{name} is no number")
        return int(value)

    def counted(self, name: str) -> int | None:
        """The same, where it is one."""
        try:
            return self.number(name)
        except MalformedMessage:
            return None

    def part(self, name: str) -> "Fields":
        """An object within it. Raises MalformedMessage."""
        value = self.values.get(name)
        if not isinstance(value, dict):
            raise MalformedMessage(f"{name} is no object")
        return Fields(value)

    def maybe(self, name: str) -> "Fields":
        """The same, empty where there is none. Raises MalformedMessage."""
        return self.part(name) if self.values.get(name) is not None else Fields({})

    def given(self, name: str) -> "Fields":
        """What the bridge gave the call: an object, JSON in a text, or `a=b,c=d`. Raises MalformedMessage."""
        text = self.word(name, most=MAX_GIVEN).strip() if isinstance(self.values.get(name), str) else None
        if text is None:
            pairs = dict(self.maybe(name).values)
        elif text.startswith("{"):
            pairs = dict(Fields.read(text).values)
        else:
            split = (part.partition("=") for part in text.split(",") if part)
            pairs = {key.strip(): value.strip() for key, _, value in split}
        return Fields({key.removeprefix("X-PH-"): value for key, value in pairs.items()})

    def sound(self, name: str) -> bytes:
        """Base64. Raises MalformedMessage, MalformedAudio."""
        return unbase64(self.word(name, most=MAX_MESSAGE))

    def keys(self, name: str) -> list[LineEvent]:
        """A key of a telephone, if it is one. Raises MalformedMessage."""
        return pressed(self.word(name, most=8))

    def statement(self) -> str | None:
        """The bridge's signed statement, where there is one. Raises MalformedMessage."""
        return self.word("statement", "", most=MAX_STATEMENT) or None

    def locale(self, name: str = "locale") -> Locale | None:
        """A language of ours. Raises MalformedMessage, UnsupportedLocale."""
        tag = Locale(self.word(name, "", most=16))
        if tag:
            locale_rules(tag)
        return tag or None


def pressed(key: str) -> list[LineEvent]:
    """What a key says that a line tells of. A flash of the hook, or a bridge's word for a tone, is no key."""
    key = key.upper()
    return [Pressed(key)] if key in KEYS else []


def packed(**message: object) -> str:
    """A message as text."""
    return orjson.dumps(message).decode()
