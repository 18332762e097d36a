"""What a client has written since the last reply, and whether it has asked for one that is still to come."""

from dataclasses import dataclass

from schemas.call import AskIn
from schemas.wire.client import MAX_TYPED


@dataclass
class _Written:
    """Words of the user in the one item that was added since the last reply, and when they came."""

    item: str
    words: str
    at: float


class AskedFor:
    """`waits`: a reply was asked for, and has not begun."""

    def __init__(self) -> None:
        self.waits = False
        self._written: _Written | None = None
        self._added = 0

    def add(self) -> bool:
        """An item is added, or refused: something else was said. Whether it is the first since the last reply."""
        self._written, self._added = None, self._added + 1
        return self._added == 1

    def write(self, item: str, words: str | None, at: float) -> None:
        """That item holds what the caller typed, should a reply be asked for next."""
        if words is not None and 0 < len(words) <= MAX_TYPED:
            self._written = _Written(item, words, at)

    def remove(self, item: str) -> None:
        """The client took an item out."""
        if self._written is not None and self._written.item == item:
            self._written = None

    def ask(self) -> AskIn:
        """The client asks for a reply."""
        written = self._written
        self.settle()
        self.waits = True
        return AskIn(written.words, written.at) if written else AskIn()

    def settle(self) -> None:
        """A reply has begun, or the caller has spoken."""
        self.waits, self._written, self._added = False, None, 0
