"""The ledger's tables. Instants are microseconds since 1970 (UTC), days are ISO dates, amounts are minor units."""

from typing import Final

import sqlalchemy as sa

from schemas.banking import TransferState
from services.store import metadata

STATES: Final = tuple(state.value for state in TransferState)

UNRECORDED: Final = (
    "CASE WHEN state IN ('confirmed', 'unknown', 'succeeded', 'failed') THEN coalesce(recorded, '') <> state"
    " ELSE false END"
)
"""Where a transfer rests in a state that has yet to go on record; to the letter the condition of an index below.

One CASE, so that no database takes it for a search by state, which finds nearly every transfer there ever was.
"""

transfers: Final = sa.Table(
    "ledger_transfers",
    metadata,
    sa.Column("id", sa.String(64), primary_key=True),
    sa.Column("customer_id", sa.String(128), nullable=False),
    sa.Column("call_id", sa.String(128), nullable=False),
    sa.Column("source", sa.String(128), nullable=False),
    sa.Column("payee_id", sa.String(128)),
    sa.Column("payee_version", sa.Integer, nullable=False),
    sa.Column("to_account", sa.String(128)),
    sa.Column("amount_minor", sa.BigInteger, nullable=False),
    sa.Column("currency", sa.String(3), nullable=False),
    sa.Column("on_date", sa.String(10)),
    sa.Column("bill_id", sa.String(128)),
    sa.Column("nonce", sa.String(64), nullable=False),
    sa.Column("seal", sa.String(64), nullable=False),
    sa.Column("expires_at", sa.BigInteger, nullable=False),
    sa.Column("verification", sa.String(16), nullable=False),
    sa.Column("step_up_required", sa.Boolean, nullable=False),
    sa.Column("delivered_at", sa.BigInteger),
    sa.Column("state", sa.String(16), nullable=False),
    sa.Column("reason", sa.String(64), nullable=False, server_default=""),
    sa.Column("bank_key", sa.String(80), nullable=False),
    sa.Column("fingerprint", sa.String(64), nullable=False),
    sa.Column("reference", sa.String(128), nullable=False, server_default=""),
    sa.Column("spend_day", sa.String(10)),
    sa.Column("submitted_at", sa.BigInteger),
    sa.Column("attempts", sa.Integer, nullable=False, server_default="0"),
    sa.Column("next_try_at", sa.BigInteger),
    sa.Column("recorded", sa.String(16)),
    sa.Column("owed_at", sa.BigInteger),
    sa.Column("created_at", sa.BigInteger, nullable=False),
    sa.Column("updated_at", sa.BigInteger, nullable=False),
    sa.UniqueConstraint("bank_key"),
    sa.CheckConstraint("amount_minor > 0", name="amount"),
    sa.CheckConstraint("(payee_id IS NULL) <> (to_account IS NULL)", name="target"),
    sa.CheckConstraint(sa.column("state").in_(STATES), name="state"),
    sa.Index("ix_ledger_transfers_customer_id_state", "customer_id", "state"),
    sa.Index("ix_ledger_transfers_state_next_try_at", "state", "next_try_at"),
    sa.Index(
        "ix_ledger_transfers_unrecorded",
        "updated_at",
        sqlite_where=sa.text(UNRECORDED),
        postgresql_where=sa.text(UNRECORDED),
    ),
    # Since when the customer is owed a word on how it ended; null once that was heard.
    sa.Index(
        "ix_ledger_transfers_owed",
        "customer_id",
        sqlite_where=sa.text("owed_at IS NOT NULL"),
        postgresql_where=sa.text("owed_at IS NOT NULL"),
    ),
    # A call has at most one open proposal: the database itself lets a new one in only after the old one is void.
    sa.Index(
        "uq_ledger_transfers_open",
        "customer_id",
        "call_id",
        unique=True,
        sqlite_where=sa.text("state = 'proposed'"),
        postgresql_where=sa.text("state = 'proposed'"),
    ),
)

spending: Final = sa.Table(
    "ledger_spending",
    metadata,
    sa.Column("customer_id", sa.String(128), primary_key=True),
    sa.Column("currency", sa.String(3), primary_key=True),
    sa.Column("day", sa.String(10), primary_key=True),
    sa.Column("spent_minor", sa.BigInteger, nullable=False),
    sa.CheckConstraint("spent_minor >= 0", name="spent"),
)
"""What a customer's confirmed transfers of a day come to; raised by conditional update, so two can't pass a limit."""

challenges: Final = sa.Table(
    "stepup_challenges",
    metadata,
    sa.Column("id", sa.String(64), primary_key=True),
    sa.Column("customer_id", sa.String(128), nullable=False),
    sa.Column("purpose", sa.String(200), nullable=False),
    sa.Column("code_mac", sa.String(64), nullable=False),
    sa.Column("attempts", sa.Integer, nullable=False, server_default="0"),
    sa.Column("created_at", sa.BigInteger, nullable=False),
    sa.Column("expires_at", sa.BigInteger, nullable=False),
    sa.Column("passed_at", sa.BigInteger),
    sa.Column("spent_at", sa.BigInteger),
    sa.Index("ix_stepup_challenges_customer_id_purpose", "customer_id", "purpose"),
    sa.Index("ix_stepup_challenges_customer_id_created_at", "customer_id", "created_at"),
)
