"""Indexes kept between calls: bounded, per customer, never shared across customers."""

from collections import OrderedDict
from collections.abc import Sequence
from datetime import date
from hashlib import blake2b
from typing import Final

from schemas.ids import CustomerId
from schemas.payee import Payee
from services.payees.index import PayeeIndex

MAX_BOOKS: Final = 64
"""Indexes kept at once; a full book of 10,000 takes some 10 MB."""
MAX_HELD_PAYEES: Final = 200_000
"""Payees in all kept indexes together."""


def content_version(payees: Sequence[Payee], today: date | None = None) -> str:
    """A version that changes with anything the index is built from (hex)."""
    digest = blake2b(repr(today).encode(), digest_size=16)
    for payee in payees:
        said = (payee.id, payee.name, payee.kana, *payee.aliases, payee.relationship, payee.bank, payee.account_last4)
        shown = f"{payee.version}\x1e{payee.last_paid}\x1e" + "\x1f".join(said) + "\x1d"
        digest.update(shown.encode())
    return digest.hexdigest()


class IndexCache:
    """The most recently used indexes, keyed by customer and the version of the book.

    Another version of a customer's book replaces the former one. Owned by one thread: the event loop looks with `peek`,
    has a missing index built elsewhere (`PayeeIndex.build`: about 0.1 s for 10,000 payees), and keeps it with `put`.
    """

    def __init__(self, max_books: int = MAX_BOOKS, max_payees: int = MAX_HELD_PAYEES) -> None:
        self._max_books, self._max_payees = max_books, max_payees
        self._kept: OrderedDict[CustomerId, tuple[str, PayeeIndex]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._kept)

    def peek(self, customer: CustomerId, version: str) -> PayeeIndex | None:
        """This customer's index of this version, if it is kept."""
        kept = self._kept.get(customer)
        if kept is None or kept[0] != version:
            return None
        self._kept.move_to_end(customer)
        return kept[1]

    def put(self, customer: CustomerId, version: str, index: PayeeIndex) -> None:
        """Keep an index; the least recently used ones go when there are too many."""
        self._kept[customer] = (version, index)
        self._kept.move_to_end(customer)
        held = sum(len(each) for _, each in self._kept.values())
        while len(self._kept) > 1 and (len(self._kept) > self._max_books or held > self._max_payees):
            _, (_, dropped) = self._kept.popitem(last=False)
            held -= len(dropped)

    def get(self, customer: CustomerId, payees: Sequence[Payee], version: str, today: date | None = None) -> PayeeIndex:
        """This customer's index of this version, built here and now when it is not kept. Raises TooLarge."""
        index = self.peek(customer, version)
        if index is None:
            index = PayeeIndex.build(payees, today)
            self.put(customer, version, index)
        return index

    def forget(self, customer: CustomerId) -> None:
        """Drop a customer's index."""
        self._kept.pop(customer, None)
