"""A database that says nothing of a write: it did it, or it did not."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from schemas.errors import StoreUnavailable
from services.store import Store


@dataclass
class Silence:
    """Of the coming writes to a store: how many go unanswered, and whether they are done all the same.

    `only` are the names of the writes that this is about; all, where there are none.
    """

    writes: int = 0
    done: bool = False
    only: set[str] = field(default_factory=set)

    def over(self, store: Store) -> Store:
        """The store, whose answers this may keep back."""
        store.execute = self._kept_back(store.execute)  # type: ignore[method-assign]
        store.transact = self._kept_back(store.transact)  # type: ignore[method-assign]
        return store

    def _kept_back(self, write: Callable[..., Any]) -> Callable[..., Any]:
        async def writing(name: str, *given: Any) -> Any:
            if self.writes <= 0 or (self.only and name not in self.only):
                return await write(name, *given)
            self.writes -= 1
            if self.done:
                await write(name, *given)
            raise StoreUnavailable("silence")

        return writing
