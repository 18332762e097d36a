"""What a customer's confirmed transfers of a day come to: counted in the very write that spends the yes."""

import re
from datetime import date
from typing import Any, Final

import sqlalchemy as sa

from schemas.errors import LimitExceeded
from schemas.ids import CustomerId
from schemas.money import Money
from services.act import transfers
from services.act.tables import spending
from services.act.tables import transfers as rows
from services.act.transfers import Spending
from services.store import Store, changed

_c = spending.c
_day: Final = (
    (_c.customer_id == sa.bindparam("customer"))
    & (_c.currency == sa.bindparam("of_currency"))
    & (_c.day == sa.bindparam("of_day"))
)
_SPENT: Final = sa.select(_c.spent_minor).where(_day)
_RELEASE: Final = sa.update(spending).where(_day).values(spent_minor=_c.spent_minor - sa.bindparam("minor"))


_LARGE: Final = frozenset({"minor", "per_day"})


def _text(*parts: str) -> sa.TextClause:
    """A statement in SQL, with its parameters' types, which no column gives it."""
    statement = " ".join(parts)
    kinds: dict[str, Any] = {name: sa.BigInteger if name in _LARGE else sa.String for name in _names(statement)}
    return sa.text(statement).bindparams(*(sa.bindparam(name, type_=kind) for name, kind in kinds.items()))


def _names(statement: str) -> set[str]:
    return set(re.findall(r":(\w+)", statement))


# As text, since SQLAlchemy compiles its own form of ON CONFLICT anew each time. Both databases speak it.
_INTO: Final = "INSERT INTO ledger_spending (customer_id, currency, day, spent_minor)"
_COUNT: Final = (
    "ON CONFLICT (customer_id, currency, day)"
    " DO UPDATE SET spent_minor = ledger_spending.spent_minor + excluded.spent_minor"
    " WHERE ledger_spending.spent_minor + excluded.spent_minor <= :per_day"
)
_RESERVE: Final = _text(_INTO, "VALUES (:customer, :of_currency, :of_day, :minor)", _COUNT)

# PostgreSQL alone: lock the proposal if the yes counts, then count it if the day has room, then spend it if counted.
_heard: Final = sa.select(rows.c.id).where(transfers.YES_COUNTS).with_for_update().cte("heard")
_counted: Final = (
    _text(_INTO, "SELECT :customer, :of_currency, :of_day, :minor FROM heard", _COUNT, "RETURNING :transfer AS id")
    .columns(sa.column("id"))
    .cte("counted")
)
_AT_ONCE: Final = (
    sa.update(rows)
    .where((rows.c.customer_id == sa.bindparam("customer")) & (rows.c.id == _counted.c.id))
    .add_cte(_heard, _counted)
)


async def confirm_at_once(customer: CustomerId, store: Store, yes: Spending) -> bool:
    """Spend and count as one statement, where the database can; False: nothing happened, whatever the reason."""
    amount = yes.entry.proposal.order.amount
    if store.embedded or amount.minor > yes.per_day:
        return False
    values = yes.which(customer) | yes.change() | _of_day(customer, amount.currency, yes.day)
    values |= {"minor": amount.minor, "per_day": yes.per_day}
    return await store.execute("ledger.confirm", _AT_ONCE, values) == 1


def confirm(customer: CustomerId, connection: sa.Connection, yes: Spending) -> bool:
    """Within a transaction: spend and count. False when the yes does not count. Raises LimitExceeded."""
    if not transfers.spend(customer, connection, yes):
        return False
    reserve(customer, connection, yes.entry.proposal.order.amount, yes.day, yes.per_day)
    return True


def reserve(customer: CustomerId, connection: sa.Connection, amount: Money, day: date, per_day: int) -> None:
    """Count an amount against the day's limit, atomically. Raises LimitExceeded; nothing is counted then."""
    values = _of_day(customer, amount.currency, day) | {"minor": amount.minor, "per_day": per_day}
    if amount.minor > per_day or changed(connection.execute(_RESERVE, values)) != 1:
        raise LimitExceeded("above the limit per day")


def release(customer: CustomerId, connection: sa.Connection, amount: Money, day: date) -> None:
    """Take a failed transfer off its day's count."""
    connection.execute(_RELEASE, _of_day(customer, amount.currency, day) | {"minor": amount.minor})


def spent(customer: CustomerId, connection: sa.Connection, currency: str, day: date) -> int:
    """What the day's confirmed transfers come to, in minor units."""
    return connection.execute(_SPENT, _of_day(customer, currency, day)).scalar() or 0


def _of_day(customer: CustomerId, currency: str, day: date) -> dict[str, Any]:
    return {"customer": customer, "of_currency": currency, "of_day": day.isoformat()}
