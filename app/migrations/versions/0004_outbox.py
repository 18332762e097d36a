"""Each transfer says which of its states is on record in the audit; what is not, waits in an index of its own."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

_UNRECORDED = (
    "CASE WHEN state IN ('confirmed', 'unknown', 'succeeded', 'failed') THEN coalesce(recorded, '') <> state"
    " ELSE false END"
)


def upgrade() -> None:
    """What settled before goes on record at the next start, as recovered: nothing says that it ever was."""
    op.add_column("ledger_transfers", sa.Column("recorded", sa.String(length=16), nullable=True))
    op.create_index(
        "ix_ledger_transfers_unrecorded",
        "ledger_transfers",
        ["updated_at"],
        sqlite_where=sa.text(_UNRECORDED),
        postgresql_where=sa.text(_UNRECORDED),
    )
