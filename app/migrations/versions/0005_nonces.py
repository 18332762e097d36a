"""Nonces of signed requests, each counted once by all gateways together."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Nothing was kept before: a process knew its own."""
    op.create_table(
        "guard_nonces",
        sa.Column("key_id", sa.String(length=128), nullable=False),
        sa.Column("nonce", sa.String(length=128), nullable=False),
        sa.Column("until", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("key_id", "nonce", name=op.f("pk_guard_nonces")),
    )
    op.create_index("ix_guard_nonces_until", "guard_nonces", ["until"])
