"""Calls that a bridge announced, so that they may come to any gateway."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    """A gateway of the version before knows what was announced to itself alone, until it is gone."""
    op.create_table(
        "guard_expected_calls",
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("customer_id", sa.String(length=128), nullable=True),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("outcome", sa.String(length=16), nullable=True),
        sa.PrimaryKeyConstraint("digest", name=op.f("pk_guard_expected_calls")),
    )
    op.create_index("ix_guard_expected_calls_at", "guard_expected_calls", ["at"])
