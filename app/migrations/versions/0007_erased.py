"""Customers who were forgotten, and until when: what they said before then loses its words wherever it still waits."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Those who were forgotten before stand in the chain alone; nothing of theirs waits any more."""
    op.create_table(
        "audit_erased",
        sa.Column("subject", sa.String(length=32), nullable=False),
        sa.Column("until", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("subject", name="pk_audit_erased"),
    )
