"""${message}."""

import sqlalchemy as sa
from alembic import op

revision = ${repr(up_revision)}
down_revision = ${repr(down_revision)}


def upgrade() -> None:
    """Forward only: money tables are never dropped by a tool."""
    ${upgrades if upgrades else "pass"}
