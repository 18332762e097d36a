"""What a customer's confirmed transfers of a day come to: counted in the very write that spends the yes."""

from datetime import date
from typing import Any, Final

import sqlalchemy as sa

from schemas.errors import LimitExceeded
from schemas.ids import CustomerId
from schemas.money import Money
from services.banking import transfers
from services.banking.entries import Spending
from services.banking.tables import spending
from services.store import changed, insert_new

_c = spending.c
_day: Final = (
    (_c.customer_id == sa.bindparam("customer"))
    & (_c.currency == sa.bindparam("of_currency"))
    & (_c.day == sa.bindparam("of_day"))
)
_minor: Final = sa.bindparam("minor", type_=sa.BigInteger)
_SPENT: Final = sa.select(_c.spent_minor).where(_day)
_RESERVE: Final = (
    sa.update(spending)
    .where(_day & (_c.spent_minor + _minor <= sa.bindparam("per_day", type_=sa.BigInteger)))
    .values(spent_minor=_c.spent_minor + _minor)
)
_RELEASE: Final = sa.update(spending).where(_day).values(spent_minor=_c.spent_minor - _minor)


def confirm(customer: CustomerId, connection: sa.Connection, yes: Spending) -> bool:
    """Within a transaction: spend and count. False when the yes does not count. Raises LimitExceeded."""
    if not transfers.spend(customer, connection, yes):
        return False
    reserve(customer, connection, yes.entry.proposal.order.amount, yes.day, yes.per_day)
    return True


def reserve(customer: CustomerId, connection: sa.Connection, amount: Money, day: date, per_day: int) -> None:
    """Count an amount against the day's limit, atomically. Raises LimitExceeded; nothing is counted then."""
    values = _of_day(customer, amount.currency, day) | {"minor": amount.minor, "per_day": per_day}
    if changed(connection.execute(_RESERVE, values)) == 1:
        return
    first = {"customer_id": customer, "currency": amount.currency, "day": day.isoformat(), "spent_minor": 0}
    insert_new(connection, spending, first)
    if changed(connection.execute(_RESERVE, values)) != 1:
        raise LimitExceeded("above the limit per day")


def release(customer: CustomerId, connection: sa.Connection, amount: Money, day: date) -> None:
    """Take a failed transfer off its day's count."""
    connection.execute(_RELEASE, _of_day(customer, amount.currency, day) | {"minor": amount.minor})


def spent(customer: CustomerId, connection: sa.Connection, currency: str, day: date) -> int:
    """What the day's confirmed transfers come to, in minor units."""
    return connection.execute(_SPENT, _of_day(customer, currency, day)).scalar() or 0


def _of_day(customer: CustomerId, currency: str, day: date) -> dict[str, Any]:
    return {"customer": customer, "of_currency": currency, "of_day": day.isoformat()}
