"""The customer directory every core shares: payees, cards, bills and limits, in our own tables.

A foreign core knows accounts and money; whom a customer pays and which name the payee's bank gives back is kept here.
"""

import re
import unicodedata
from collections.abc import Sequence
from datetime import date, datetime
from functools import partial
from typing import Any, Final

import sqlalchemy as sa
from rapidfuzz import fuzz

from rules.kanji import kanji_variants
from schemas.banking import Account, Bill, Card, CustomerProfile, Limits, PayeeVerification
from schemas.errors import NotFound
from schemas.ids import BillId, CardId, CustomerId, Locale, PayeeId
from schemas.money import Money
from schemas.payee import Payee
from services.banking.banks import tables as t
from services.ports import Clock
from services.store import Store, changed

MAX_PAYEES: Final = 10_000
_CLOSE: Final = 85.0
"""Similarity (0 … 100) from which a holder's name is close to the payee's; below it is another name."""
_SELECTOR: Final = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef\u0591-\u05c7\u0640\u064b-\u065f\u0670]")
"""What chooses how a letter is drawn, and the points that Hebrew and Arabic names are written with or without."""

_BEST_FIRST: Final = (
    PayeeVerification.MATCH, PayeeVerification.CLOSE_MATCH, PayeeVerification.NO_MATCH, PayeeVerification.UNAVAILABLE,
)  # fmt: skip

Row = sa.Row[Any]


class Directory:
    """What every core has of us: payees, cards and bills; every query is scoped to one customer."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def cards(self, customer: CustomerId) -> Sequence[Card]:
        """The customer's cards, in the bank's order."""
        return await self._store.look(partial(cards, customer))

    async def bills(self, customer: CustomerId) -> Sequence[Bill]:
        """The customer's open bills, in the bank's order."""
        return await self._store.look(partial(bills, customer))

    async def payees(self, customer: CustomerId) -> Sequence[Payee]:
        """The customer's payees, at most MAX_PAYEES."""
        wanted = sa.select(t.payees).where(t.payees.c.customer_id == customer).order_by(t.payees.c.id)

        def read(
            connection: sa.Connection,
        ) -> list[Payee]:  # made where they are read: the event loop has no part in it
            return [_payee(row) for row in connection.execute(wanted.limit(MAX_PAYEES))]

        return await self._store.look(read)

    async def payee_row(self, customer: CustomerId, payee: PayeeId) -> Row:
        """A payee with what only the bank sees (holder, route). Raises NotFound."""
        mine = (t.payees.c.customer_id == customer) & (t.payees.c.id == payee)
        row = await self._store.look(lambda connection: connection.execute(sa.select(t.payees).where(mine)).first())
        if row is None:
            raise NotFound("no such payee")
        return row

    async def payee(self, customer: CustomerId, payee: PayeeId) -> Payee:
        """One payee as it stands now. Raises NotFound."""
        return _payee(await self.payee_row(customer, payee))

    async def verify_payee(self, customer: CustomerId, payee: PayeeId) -> PayeeVerification:
        """Compare the payee's name, as written and as read, with the account holder's. Raises NotFound."""
        row = await self.payee_row(customer, payee)
        verdicts = {compare_names(name, row.holder) for name in (row.name, row.kana) if name}
        return next(verdict for verdict in _BEST_FIRST if verdict in verdicts)

    async def set_card_lock(self, customer: CustomerId, card: CardId, locked: bool) -> Card:
        """Lock or unlock; idempotent. Raises NotFound."""
        mine = (t.cards.c.customer_id == customer) & (t.cards.c.id == card)

        def locking(connection: sa.Connection) -> Row | None:
            connection.execute(sa.update(t.cards).where(mine).values(locked=locked))
            return connection.execute(sa.select(t.cards).where(mine)).first()

        row = await self._store.transact("bank.card", locking)
        if row is None:
            raise NotFound("no such card")
        return _card(row)


def person(customer: CustomerId, connection: sa.Connection) -> Row:
    """The customer's own row: name, locale, zone, route. Raises NotFound."""
    row = connection.execute(sa.select(t.customers).where(t.customers.c.id == customer)).first()
    if row is None:
        raise NotFound("no such customer")
    return row


def profile(
    customer: CustomerId, connection: sa.Connection, accounts: Sequence[Account], now: datetime
) -> CustomerProfile:
    """All that is known of a customer whose accounts are these, as of now. Raises NotFound."""
    own = person(customer, connection)
    return CustomerProfile(
        name=own.name,
        accounts=tuple(accounts),
        cards=tuple(cards(customer, connection)),
        bills=tuple(bills(customer, connection)),
        limits=tuple(limits(customer, connection)),
        as_of=now,
        zone=own.zone,
        locale=Locale(own.locale),
    )


def cards(customer: CustomerId, connection: sa.Connection) -> Sequence[Card]:
    """The customer's cards, in the bank's order."""
    wanted = sa.select(t.cards).where(t.cards.c.customer_id == customer).order_by(t.cards.c.position, t.cards.c.id)
    return [_card(row) for row in connection.execute(wanted)]


def bills(customer: CustomerId, connection: sa.Connection) -> Sequence[Bill]:
    """The customer's open bills, in the bank's order."""
    mine = (t.bills.c.customer_id == customer) & (t.bills.c.due_minor > 0)
    rows = connection.execute(sa.select(t.bills).where(mine).order_by(t.bills.c.position, t.bills.c.id))
    return [_bill(row) for row in rows]


def limits(customer: CustomerId, connection: sa.Connection) -> Sequence[Limits]:
    """The customer's limits, one a currency."""
    wanted = sa.select(t.limits).where(t.limits.c.customer_id == customer).order_by(t.limits.c.currency)
    rows = connection.execute(wanted)
    return [Limits(r.currency, r.per_transfer, r.per_day, r.step_up_above) for r in rows]


def settle_bill(customer: CustomerId, connection: sa.Connection, bill: BillId, paid: Money) -> bool:
    """Within a posting: take a payment off a bill; False when there is no such bill or less is due."""
    mine = (t.bills.c.customer_id == customer) & (t.bills.c.id == bill) & (t.bills.c.currency == paid.currency)
    left = t.bills.c.due_minor - paid.minor
    return changed(connection.execute(sa.update(t.bills).where(mine & (left >= 0)).values(due_minor=left))) == 1


def note_paid(customer: CustomerId, connection: sa.Connection, payee: PayeeId, on: date) -> None:
    """Within a posting: when, by the customer's own day, a payee was paid last; what is later already stays."""
    mine, last = (t.payees.c.customer_id == customer) & (t.payees.c.id == payee), t.payees.c.last_paid
    earlier = mine & (last.is_(None) | (last < on.isoformat()))
    connection.execute(sa.update(t.payees).where(earlier).values(last_paid=on.isoformat()))


def compare_names(name: str, holder: str | None) -> PayeeVerification:
    """The scheme's verdict: equal but for width, case, spacing, marks and forms of one kanji is a match."""
    ours, theirs = _compared(name), _compared(holder or "")
    if not ours or not theirs:
        return PayeeVerification.UNAVAILABLE
    if ours == theirs:
        return PayeeVerification.MATCH
    return PayeeVerification.CLOSE_MATCH if fuzz.ratio(ours, theirs) >= _CLOSE else PayeeVerification.NO_MATCH


def _compared(name: str) -> str:
    """What of a name counts: letters with their vowel signs, and figures, each in one form."""
    folded = unicodedata.normalize("NFKC", name).casefold().translate(kanji_variants())
    return "".join(c for c in folded if unicodedata.category(c)[0] in "LMN" and not _SELECTOR.match(c))


def _card(row: Row) -> Card:
    return Card(CardId(row.id), row.name, row.last4, bool(row.locked))


def _bill(row: Row) -> Bill:
    minimum = None if row.minimum_minor is None else Money(min(row.minimum_minor, row.due_minor), row.currency)
    due = Money(row.due_minor, row.currency)
    return Bill(BillId(row.id), row.name, PayeeId(row.payee_id), due, date.fromisoformat(row.due_on), minimum)


def _payee(row: Row) -> Payee:
    return Payee(
        id=PayeeId(row.id),
        name=row.name,
        kana=row.kana,
        aliases=tuple(row.aliases),
        relationship=row.relationship,
        bank=row.bank,
        account_last4=row.account_last4,
        currency=row.currency,
        version=row.version,
        last_paid=date.fromisoformat(row.last_paid) if row.last_paid else None,
        is_new=bool(row.is_new),
    )
