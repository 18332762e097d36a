"""What each customer began and asked lately, so that all gateways together keep to one rate."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    """A gateway of the version before counts for itself alone until it is gone."""
    op.create_table(
        "guard_rates",
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("customer_id", sa.String(length=128), nullable=False),
        sa.Column("full_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("kind", "customer_id", name=op.f("pk_guard_rates")),
    )
    op.create_index("ix_guard_rates_full_at", "guard_rates", ["full_at"])
