"""The audit's records are added to and never changed: the database itself refuses."""

from alembic import op

revision = "0003"
down_revision = "0002"

_SQLITE = """
CREATE TRIGGER audit_records_no_{deed} BEFORE {deed} ON audit_records
BEGIN SELECT RAISE(ABORT, 'audit records are only added'); END
"""
_POSTGRESQL = (
    """
    CREATE FUNCTION audit_records_refuse() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'audit records are only added'; END $$
    """,
    """
    CREATE TRIGGER audit_records_append_only BEFORE UPDATE OR DELETE ON audit_records
    FOR EACH ROW EXECUTE FUNCTION audit_records_refuse()
    """,
)


def upgrade() -> None:
    """Whoever may take a trigger away can still forge; the chain and its exported heads are for them."""
    if op.get_bind().dialect.name == "sqlite":
        for deed in ("UPDATE", "DELETE"):
            op.execute(_SQLITE.format(deed=deed))
    else:
        for statement in _POSTGRESQL:
            op.execute(statement)
