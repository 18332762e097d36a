"""Calls under way, so that a customer's are counted by all gateways together."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    """A gateway of the version before keeps no rows: its calls count there alone until it is gone."""
    op.create_table(
        "guard_calls",
        sa.Column("call_id", sa.String(length=64), nullable=False),
        sa.Column("customer_id", sa.String(length=128), nullable=False),
        sa.Column("until", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("call_id", name=op.f("pk_guard_calls")),
    )
    op.create_index("ix_guard_calls_customer", "guard_calls", ["customer_id"])
