"""The sandbox bank's own tables, and the directory (payees, cards, bills, limits) that every adapter shares.

The ledger never touches these. Each posting has two entries that sum to zero; a customer account's balance is kept
beside its entries and must equal their sum.
"""

from typing import Final

import sqlalchemy as sa

from services.store import metadata

customers: Final = sa.Table(
    "bank_customers",
    metadata,
    sa.Column("id", sa.String(128), primary_key=True),
    sa.Column("name", sa.String(200), nullable=False),
    sa.Column("locale", sa.String(16), nullable=False),
    sa.Column("zone", sa.String(64), nullable=False),
    sa.Column("route", sa.String(128), nullable=False, server_default=""),
)
"""`route` is the customer's id in a foreign core."""

accounts: Final = sa.Table(
    "bank_accounts",
    metadata,
    sa.Column("customer_id", sa.String(128), nullable=False),
    sa.Column("id", sa.String(128), primary_key=True),
    sa.Column("position", sa.Integer, nullable=False),
    sa.Column("name", sa.String(100), nullable=False),
    sa.Column("last4", sa.String(4), nullable=False),
    sa.Column("currency", sa.String(3), nullable=False),
    sa.Column("balance_minor", sa.BigInteger, nullable=False),
    sa.CheckConstraint("balance_minor >= 0", name="balance"),
    sa.Index("ix_bank_accounts_customer_id", "customer_id"),
)

postings: Final = sa.Table(
    "bank_postings",
    metadata,
    sa.Column("id", sa.String(64), primary_key=True),
    sa.Column("customer_id", sa.String(128), nullable=False),
    sa.Column("key", sa.String(80), nullable=False),
    sa.Column("fingerprint", sa.String(64), nullable=False),
    sa.Column("outcome", sa.String(16), nullable=False),
    sa.Column("reason", sa.String(64), nullable=False, server_default=""),
    sa.Column("at", sa.BigInteger, nullable=False),
    sa.UniqueConstraint("key"),
)
"""Every order the bank was given, by idempotency key, with what became of it."""

entries: Final = sa.Table(
    "bank_entries",
    metadata,
    sa.Column("id", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True, autoincrement=True),
    sa.Column("posting_id", sa.String(64), nullable=False),
    sa.Column("account_id", sa.String(128), nullable=False),
    sa.Column("amount_minor", sa.BigInteger, nullable=False),
    sa.Column("currency", sa.String(3), nullable=False),
    sa.Column("booked_on", sa.String(10), nullable=False),
    sa.Column("merchant", sa.String(200), nullable=False),
    sa.Index("ix_bank_entries_account_id_booked_on", "account_id", "booked_on"),
    sa.Index("ix_bank_entries_posting_id", "posting_id"),
)

payees: Final = sa.Table(
    "bank_payees",
    metadata,
    sa.Column("customer_id", sa.String(128), primary_key=True),
    sa.Column("id", sa.String(128), primary_key=True),
    sa.Column("name", sa.String(200), nullable=False),
    sa.Column("kana", sa.String(200), nullable=False),
    sa.Column("aliases", sa.JSON, nullable=False),
    sa.Column("relationship", sa.String(64), nullable=False),
    sa.Column("bank", sa.String(100), nullable=False),
    sa.Column("account_last4", sa.String(4), nullable=False),
    sa.Column("currency", sa.String(3), nullable=False),
    sa.Column("version", sa.Integer, nullable=False),
    sa.Column("last_paid", sa.String(10)),
    sa.Column("is_new", sa.Boolean, nullable=False),
    sa.Column("holder", sa.String(200)),
    sa.Column("route", sa.String(128), nullable=False, server_default=""),
)
"""`holder` is whom the payee's bank names as the account's owner (null: it does not say); `route` as above."""

gone_payees: Final = sa.Table(
    "bank_gone_payees",
    metadata,
    sa.Column("customer_id", sa.String(128), primary_key=True),
    sa.Column("id", sa.String(128), primary_key=True),
    sa.Column("version", sa.Integer, nullable=False),
)
"""The last version of each payee that was removed: one that comes back under its name has another."""

cards: Final = sa.Table(
    "bank_cards",
    metadata,
    sa.Column("customer_id", sa.String(128), primary_key=True),
    sa.Column("id", sa.String(128), primary_key=True),
    sa.Column("position", sa.Integer, nullable=False),
    sa.Column("name", sa.String(100), nullable=False),
    sa.Column("last4", sa.String(4), nullable=False),
    sa.Column("locked", sa.Boolean, nullable=False),
)

bills: Final = sa.Table(
    "bank_bills",
    metadata,
    sa.Column("customer_id", sa.String(128), primary_key=True),
    sa.Column("id", sa.String(128), primary_key=True),
    sa.Column("position", sa.Integer, nullable=False),
    sa.Column("name", sa.String(100), nullable=False),
    sa.Column("payee_id", sa.String(128), nullable=False),
    sa.Column("due_minor", sa.BigInteger, nullable=False),
    sa.Column("minimum_minor", sa.BigInteger),
    sa.Column("currency", sa.String(3), nullable=False),
    sa.Column("due_on", sa.String(10), nullable=False),
)

limits: Final = sa.Table(
    "bank_limits",
    metadata,
    sa.Column("customer_id", sa.String(128), primary_key=True),
    sa.Column("currency", sa.String(3), primary_key=True),
    sa.Column("per_transfer", sa.BigInteger, nullable=False),
    sa.Column("per_day", sa.BigInteger, nullable=False),
    sa.Column("step_up_above", sa.BigInteger, nullable=False),
)

wire_keys: Final = sa.Table(
    "bank_wire_keys",
    metadata,
    sa.Column("customer_id", sa.String(128), nullable=False),
    sa.Column("key", sa.String(80), primary_key=True),
    sa.Column("fingerprint", sa.String(64), nullable=False),
    sa.Column("source", sa.String(128), nullable=False),
    sa.Column("payee_id", sa.String(128)),
    sa.Column("bill_id", sa.String(128)),
    sa.Column("amount_minor", sa.BigInteger, nullable=False),
    sa.Column("currency", sa.String(3), nullable=False),
    sa.Column("merchant", sa.String(200), nullable=False, server_default=""),
    sa.Column("at", sa.BigInteger, nullable=False),
    sa.Index("ix_bank_wire_keys_customer_id", "customer_id"),
)
"""What was sent to a foreign core under which key: such a core replays by key without comparing the request.

`bill_id` is cleared once the payment was taken off the bill; `merchant` is what the customer's statement calls it.
"""
