"""The ledger, step-up, the sandbox bank with its directory, and the audit chain."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Forward only: money tables are never dropped by a tool."""
    _ledger_transfers()
    _ledger_spending()
    _stepup_challenges()
    _bank_customers()
    _bank_accounts()
    _bank_postings()
    _bank_entries()
    _bank_payees()
    _bank_cards()
    _bank_bills()
    _bank_limits()
    _bank_wire_keys()
    _audit_records()
    _audit_head()
    _audit_seeds()


def _ledger_transfers() -> None:
    op.create_table(
        "ledger_transfers",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("customer_id", sa.String(length=128), nullable=False),
        sa.Column("call_id", sa.String(length=128), nullable=False),
        sa.Column("source", sa.String(length=128), nullable=False),
        sa.Column("payee_id", sa.String(length=128), nullable=True),
        sa.Column("payee_version", sa.Integer(), nullable=False),
        sa.Column("to_account", sa.String(length=128), nullable=True),
        sa.Column("amount_minor", sa.BigInteger(), nullable=False),
        sa.Column("currency", sa.String(length=3), nullable=False),
        sa.Column("on_date", sa.String(length=10), nullable=True),
        sa.Column("bill_id", sa.String(length=128), nullable=True),
        sa.Column("nonce", sa.String(length=64), nullable=False),
        sa.Column("seal", sa.String(length=64), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.Column("verification", sa.String(length=16), nullable=False),
        sa.Column("step_up_required", sa.Boolean(), nullable=False),
        sa.Column("delivered_at", sa.BigInteger(), nullable=True),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("reason", sa.String(length=64), server_default="", nullable=False),
        sa.Column("bank_key", sa.String(length=80), nullable=False),
        sa.Column("fingerprint", sa.String(length=64), nullable=False),
        sa.Column("reference", sa.String(length=128), server_default="", nullable=False),
        sa.Column("spend_day", sa.String(length=10), nullable=True),
        sa.Column("submitted_at", sa.BigInteger(), nullable=True),
        sa.Column("attempts", sa.Integer(), server_default="0", nullable=False),
        sa.Column("next_try_at", sa.BigInteger(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.CheckConstraint(
            "state IN ('proposed', 'confirmed', 'submitting', "
            "'succeeded', 'failed', 'unknown', 'expired', 'cancelled')",
            name=op.f("ck_ledger_transfers_state"),
        ),
        sa.CheckConstraint("(payee_id IS NULL) <> (to_account IS NULL)", name=op.f("ck_ledger_transfers_target")),
        sa.CheckConstraint("amount_minor > 0", name=op.f("ck_ledger_transfers_amount")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_ledger_transfers")),
        sa.UniqueConstraint("bank_key", name=op.f("uq_ledger_transfers_bank_key")),
    )
    op.create_index("ix_ledger_transfers_customer_id_state", "ledger_transfers", ["customer_id", "state"], unique=False)
    op.create_index("ix_ledger_transfers_state_next_try_at", "ledger_transfers", ["state", "next_try_at"], unique=False)
    op.create_index(
        "uq_ledger_transfers_open",
        "ledger_transfers",
        ["customer_id", "call_id"],
        unique=True,
        sqlite_where=sa.text("state = 'proposed'"),
        postgresql_where=sa.text("state = 'proposed'"),
    )


def _ledger_spending() -> None:
    op.create_table(
        "ledger_spending",
        sa.Column("customer_id", sa.String(length=128), nullable=False),
        sa.Column("currency", sa.String(length=3), nullable=False),
        sa.Column("day", sa.String(length=10), nullable=False),
        sa.Column("spent_minor", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("spent_minor >= 0", name=op.f("ck_ledger_spending_spent")),
        sa.PrimaryKeyConstraint("customer_id", "currency", "day", name=op.f("pk_ledger_spending")),
    )


def _stepup_challenges() -> None:
    op.create_table(
        "stepup_challenges",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("customer_id", sa.String(length=128), nullable=False),
        sa.Column("purpose", sa.String(length=200), nullable=False),
        sa.Column("code_mac", sa.String(length=64), nullable=False),
        sa.Column("attempts", sa.Integer(), server_default="0", nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.Column("passed_at", sa.BigInteger(), nullable=True),
        sa.Column("spent_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_stepup_challenges")),
    )
    op.create_index(
        "ix_stepup_challenges_customer_id_created_at", "stepup_challenges", ["customer_id", "created_at"], unique=False
    )
    op.create_index(
        "ix_stepup_challenges_customer_id_purpose", "stepup_challenges", ["customer_id", "purpose"], unique=False
    )


def _bank_customers() -> None:
    op.create_table(
        "bank_customers",
        sa.Column("id", sa.String(length=128), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("locale", sa.String(length=16), nullable=False),
        sa.Column("zone", sa.String(length=64), nullable=False),
        sa.Column("route", sa.String(length=128), server_default="", nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_bank_customers")),
    )


def _bank_accounts() -> None:
    op.create_table(
        "bank_accounts",
        sa.Column("customer_id", sa.String(length=128), nullable=False),
        sa.Column("id", sa.String(length=128), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("last4", sa.String(length=4), nullable=False),
        sa.Column("currency", sa.String(length=3), nullable=False),
        sa.Column("balance_minor", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("balance_minor >= 0", name=op.f("ck_bank_accounts_balance")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_bank_accounts")),
    )
    op.create_index("ix_bank_accounts_customer_id", "bank_accounts", ["customer_id"], unique=False)


def _bank_postings() -> None:
    op.create_table(
        "bank_postings",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("customer_id", sa.String(length=128), nullable=False),
        sa.Column("key", sa.String(length=80), nullable=False),
        sa.Column("fingerprint", sa.String(length=64), nullable=False),
        sa.Column("outcome", sa.String(length=16), nullable=False),
        sa.Column("reason", sa.String(length=64), server_default="", nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_bank_postings")),
        sa.UniqueConstraint("key", name=op.f("uq_bank_postings_key")),
    )


def _bank_entries() -> None:
    op.create_table(
        "bank_entries",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("posting_id", sa.String(length=64), nullable=False),
        sa.Column("account_id", sa.String(length=128), nullable=False),
        sa.Column("amount_minor", sa.BigInteger(), nullable=False),
        sa.Column("currency", sa.String(length=3), nullable=False),
        sa.Column("booked_on", sa.String(length=10), nullable=False),
        sa.Column("merchant", sa.String(length=200), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_bank_entries")),
    )
    op.create_index("ix_bank_entries_account_id_booked_on", "bank_entries", ["account_id", "booked_on"], unique=False)
    op.create_index("ix_bank_entries_posting_id", "bank_entries", ["posting_id"], unique=False)


def _bank_payees() -> None:
    op.create_table(
        "bank_payees",
        sa.Column("customer_id", sa.String(length=128), nullable=False),
        sa.Column("id", sa.String(length=128), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("kana", sa.String(length=200), nullable=False),
        sa.Column("aliases", sa.JSON(), nullable=False),
        sa.Column("relationship", sa.String(length=64), nullable=False),
        sa.Column("bank", sa.String(length=100), nullable=False),
        sa.Column("account_last4", sa.String(length=4), nullable=False),
        sa.Column("currency", sa.String(length=3), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("last_paid", sa.String(length=10), nullable=True),
        sa.Column("is_new", sa.Boolean(), nullable=False),
        sa.Column("holder", sa.String(length=200), nullable=True),
        sa.Column("route", sa.String(length=128), server_default="", nullable=False),
        sa.PrimaryKeyConstraint("customer_id", "id", name=op.f("pk_bank_payees")),
    )


def _bank_cards() -> None:
    op.create_table(
        "bank_cards",
        sa.Column("customer_id", sa.String(length=128), nullable=False),
        sa.Column("id", sa.String(length=128), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("last4", sa.String(length=4), nullable=False),
        sa.Column("locked", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("customer_id", "id", name=op.f("pk_bank_cards")),
    )


def _bank_bills() -> None:
    op.create_table(
        "bank_bills",
        sa.Column("customer_id", sa.String(length=128), nullable=False),
        sa.Column("id", sa.String(length=128), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("payee_id", sa.String(length=128), nullable=False),
        sa.Column("due_minor", sa.BigInteger(), nullable=False),
        sa.Column("minimum_minor", sa.BigInteger(), nullable=True),
        sa.Column("currency", sa.String(length=3), nullable=False),
        sa.Column("due_on", sa.String(length=10), nullable=False),
        sa.PrimaryKeyConstraint("customer_id", "id", name=op.f("pk_bank_bills")),
    )


def _bank_limits() -> None:
    op.create_table(
        "bank_limits",
        sa.Column("customer_id", sa.String(length=128), nullable=False),
        sa.Column("currency", sa.String(length=3), nullable=False),
        sa.Column("per_transfer", sa.BigInteger(), nullable=False),
        sa.Column("per_day", sa.BigInteger(), nullable=False),
        sa.Column("step_up_above", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("customer_id", "currency", name=op.f("pk_bank_limits")),
    )


def _bank_wire_keys() -> None:
    op.create_table(
        "bank_wire_keys",
        sa.Column("customer_id", sa.String(length=128), nullable=False),
        sa.Column("key", sa.String(length=80), nullable=False),
        sa.Column("fingerprint", sa.String(length=64), nullable=False),
        sa.Column("source", sa.String(length=128), nullable=False),
        sa.Column("bill_id", sa.String(length=128), nullable=True),
        sa.Column("amount_minor", sa.BigInteger(), nullable=False),
        sa.Column("currency", sa.String(length=3), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_bank_wire_keys")),
    )


def _audit_records() -> None:
    op.create_table(
        "audit_records",
        sa.Column("seq", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("previous", sa.String(length=64), nullable=False),
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("event", sa.String(length=100), nullable=False),
        sa.Column("call_id", sa.String(length=128), server_default="", nullable=False),
        sa.Column("subject", sa.String(length=32), nullable=False),
        sa.Column("facts", sa.Text(), nullable=False),
        sa.Column("personal", sa.LargeBinary(), nullable=True),
        sa.PrimaryKeyConstraint("seq", name=op.f("pk_audit_records")),
    )
    op.create_index("ix_audit_records_subject", "audit_records", ["subject"], unique=False)


def _audit_head() -> None:
    op.create_table(
        "audit_head",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit_head")),
    )


def _audit_seeds() -> None:
    op.create_table(
        "audit_seeds",
        sa.Column("subject", sa.String(length=32), nullable=False),
        sa.Column("seed", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("subject", name=op.f("pk_audit_seeds")),
    )
