"""The conversation as a client sees it: its items in order. It is for showing; nothing is ever decided by it."""

from collections.abc import Sequence
from typing import Final

from app.transports.realtime.failures import Refusal
from schemas.wire.realtime.items import (
    FunctionCall,
    FunctionCallOutput,
    InputAudio,
    InputText,
    Item,
    ItemWish,
    Message,
    OutputAudio,
    OutputText,
    PartWish,
    ShownPart,
)
from schemas.wire.unreadable import Refused

MAX_ITEMS: Final = 512
MAX_SIZE: Final = 1 << 20
"""Characters of all items; past either bound the oldest are forgotten."""
ROOT: Final = "root"
"""What a client calls the place before the first item."""
UNKNOWN: Final = "no item has this id"


class Items:
    """Items in order, by id."""

    def __init__(self) -> None:
        self._items: dict[str, Item] = {}
        self._order: list[str] = []
        self._size = 0

    @property
    def last(self) -> str | None:
        """The id of the last item."""
        return self._order[-1] if self._order else None

    def add(self, item: Item, after: str | None = None) -> str | None:
        """Put an item after another one, or at the end; the id of the one before it.

        Raises Refusal: it is there, or the other one is not.
        """
        if item.id in self._items:
            raise Refusal(
                "item_create_duplicate_item_id", "an item with this id is part of the conversation", "item.id"
            )
        if after is not None and after != ROOT and after not in self._items:
            raise Refusal("item_create_invalid_previous_item_id", UNKNOWN, "previous_item_id")
        at = 0 if after == ROOT else self._order.index(after) + 1 if after else len(self._order)
        before = self._order[at - 1] if at else None
        self._order.insert(at, item.id)
        self._items[item.id] = item
        self._size += _size(item)
        self._forget()
        return before

    def put(self, item: Item) -> str | None:
        """Put an item of our own at the end, also where a client has used its id; the id of the one before it."""
        self.remove(item.id)
        return self.add(item)

    def change(self, item: Item) -> str | None:
        """An item has become this one; the id of the one before it. One that is no more changes nothing."""
        if item.id not in self._items:
            return None
        self._size += _size(item) - _size(self._items[item.id])
        self._items[item.id] = item
        at = self._order.index(item.id)
        return self._order[at - 1] if at else None

    def get(self, name: str) -> Item | None:
        """The item with this id."""
        return self._items.get(name)

    def remove(self, name: str) -> None:
        """Take an item out, if it is there."""
        if name in self._items:
            self._size -= _size(self._items.pop(name))
            self._order.remove(name)

    def _forget(self) -> None:
        while len(self._order) > MAX_ITEMS or (self._size > MAX_SIZE and len(self._order) > 1):
            self.remove(self._order[0])


def shown(wish: ItemWish, name: str) -> Item:
    """An item that a client added, as it is shown. Raises Refused where it is none."""
    match wish.type:
        case "message":
            if wish.role is None:
                raise Refused("a message needs a role", "item.role")
            return Message(id=name, role=wish.role, content=tuple(_parts(wish.role, wish.content or ())))
        case "function_call":
            return FunctionCall(id=name, call_id=wish.call_id, name=wish.name, arguments=wish.arguments)
        case "function_call_output":
            return FunctionCallOutput(id=name, call_id=wish.call_id, output=wish.output)


def _parts(role: str, content: Sequence[PartWish]) -> list[ShownPart]:
    """What words a message holds, in parts that fit its role; sounds without words and pictures are left out."""
    parts: list[ShownPart] = []
    for part in content:
        spoken = part.type in {"input_audio", "output_audio", "audio"}
        words = part.transcript if spoken else part.text
        if role == "assistant" and words is not None:
            parts.append(OutputAudio(transcript=words) if spoken else OutputText(text=words))
        elif role == "user" and spoken:
            parts.append(InputAudio(transcript=words))
        elif role != "assistant" and words is not None:
            parts.append(InputText(text=words))
    return parts


def words_of(wish: ItemWish) -> str | None:
    """What a user wrote, in an item of nothing but writing; null for any other."""
    parts = wish.content or []
    if wish.type != "message" or wish.role != "user" or not all(part.type == "input_text" for part in parts):
        return None
    return " ".join(part.text or "" for part in parts) or None


def _size(item: Item) -> int:
    match item:
        case Message():
            return 64 + sum(
                len(getattr(part, "text", None) or getattr(part, "transcript", None) or "") for part in item.content
            )
        case FunctionCall():
            return 64 + len(item.arguments)
        case FunctionCallOutput():
            return 64 + len(item.output)
