"""A key seed for each customer and day, so that what is kept for some days can be forgotten by the day."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Nothing was ever sealed under the seeds of 0001: no setting turned transcripts on."""
    op.drop_table("audit_seeds")
    op.create_table(
        "audit_seeds",
        sa.Column("subject", sa.String(length=32), nullable=False),
        sa.Column("day", sa.String(length=10), nullable=False),
        sa.Column("seed", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("subject", "day", name=op.f("pk_audit_seeds")),
    )
