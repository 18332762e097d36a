"""What customers are owed a word on, how far each spool of a gateway has been taken in, and a row to try writing."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"

_OWED = "owed_at IS NOT NULL"


def upgrade() -> None:
    """Of what was settled before, nothing is owed: nobody knows any more what was said."""
    op.add_column("ledger_transfers", sa.Column("owed_at", sa.BigInteger(), nullable=True))
    op.create_index(
        "ix_ledger_transfers_owed",
        "ledger_transfers",
        ["customer_id"],
        sqlite_where=sa.text(_OWED),
        postgresql_where=sa.text(_OWED),
    )
    op.create_table(
        "audit_spools",
        sa.Column("name", sa.String(length=32), nullable=False),
        sa.Column("through", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_audit_spools"),
    )
    op.create_table(
        "store_probe",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_store_probe"),
    )
